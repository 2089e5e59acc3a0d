"""The weights of trained models, for the tests that need them.

    def test_it(smollm2):  # a fixture that begins with need("smollm2")

Set D2LPOS_REQUIRE_WEIGHTS=1 where missing weights are a failure, as in CI.
"""

import os

import pytest

from d2lpos.pretrained import WEIGHTS, WeightsMissing, find


def lack(name: str) -> str | None:
    """Why a model's weights are not on this machine; None where they are."""
    try:
        find(name)
    except WeightsMissing as error:
        return str(error)
    return None


def need(name: str) -> None:
    """Where a model's weights are not on this machine, skip; with D2LPOS_REQUIRE_WEIGHTS=1, fail if `fetch` brings them."""
    if reason := lack(name):
        (pytest.fail if required() and name in WEIGHTS else pytest.skip)(reason)


def required() -> bool:
    return os.environ.get("D2LPOS_REQUIRE_WEIGHTS") == "1"
