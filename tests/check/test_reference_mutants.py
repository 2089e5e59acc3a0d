"""Every reference answer, changed a little, is refused, or its check says in `as_good` why it is as good."""

import pytest

from tests.check.exercises import CHECKS, EXERCISES
from tests.check.mutants import survivors
from tests.check.test_wrong_answers import name


@pytest.mark.parametrize(("module", "check"), EXERCISES, ids=name)
def test_every_mutant_is_refused_or_explained(module, check):
    accepted = set(survivors(check, module))
    assert not accepted - check.as_good.keys(), "add a case that refuses these, or say why each is as good as the reference"
    assert not check.as_good.keys() - accepted, "these are refused, or are no mutants any more: take them off the list"


@pytest.mark.parametrize("check", CHECKS, ids=name)
def test_each_has_a_reason(check):
    assert all(check.as_good.values())
