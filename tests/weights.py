"""The weights of trained models, for the tests that need them.

    def test_it(smollm2):  # a fixture that begins with need("smollm2")

Set D2LPOS_REQUIRE_WEIGHTS=1 where missing weights are a failure, as in CI.
"""

import os

import pytest

from d2lpos.pretrained import WeightsMissing, find


def need(name: str) -> None:
    """Where a model's weights are not on this machine, skip; with D2LPOS_REQUIRE_WEIGHTS=1, fail."""
    try:
        find(name)
    except WeightsMissing as error:
        stop = pytest.fail if os.environ.get("D2LPOS_REQUIRE_WEIGHTS") == "1" else pytest.skip
        stop(str(error))
