"""What the comparisons with transformers share."""

import logging

import pytest


@pytest.fixture
def quiet():
    """Classes that warn of configurations which a test changes on purpose are not heard."""
    logging.disable(logging.WARNING)
    yield
    logging.disable(logging.NOTSET)
