"""Every reference answer, changed a little, is refused, or its check says in `as_good` why it is as good.

No property is there in vain, either: a wrong answer, by hand or by rule, fails it and no other.
"""

from itertools import chain

import pytest

from d2lpos.check import learned, longer, model, plumbing
from d2lpos.runtime.threads import one_thread
from tests.check.exercises import CHECKS, EXERCISES
from tests.check.mutants import fails_alone, mutants, survivors
from tests.check.test_wrong_answers import against, name


@pytest.mark.parametrize(("module", "check"), EXERCISES, ids=name)
def test_every_mutant_is_refused_or_explained(module, check):
    with one_thread():
        accepted = set(survivors(check, module))
    assert not accepted - check.as_good.keys(), "add a case that refuses these, or say why each is as good as the reference"
    assert not check.as_good.keys() - accepted, "these are refused, or are no mutants any more: take them off the list"


@pytest.mark.parametrize(("module", "check"), EXERCISES, ids=name)
def test_without_any_property_a_wrong_answer_passes(module, check):
    left = set(check.properties)
    by_rule = (mutant.answer for mutant in mutants(check, module))
    with one_thread():
        for answer in chain(against(check), by_rule):
            left.discard(fails_alone(check, answer))
            if not left:
                break
    assert not left, "add a wrong answer that fails these and no other property, or leave them out"


@pytest.mark.parametrize(("check", "mistakes"), [
    (learned.row_of, {"T <= L → T <= 3"}),
    (longer.blocks, {"k < first → k < 0", "pairs(length, window, first) → pairs(length, 6, first)"}),
    (plumbing.shared, {"a == b → a is b", "argument 0 without what comes again", "argument 1 spoiled"}),
    (model.offsets_alone, {"argument 0 giving its first row for all"}),
    (plumbing.turned, {"returned backward"}),
    (plumbing.levels, {"argument 0 with its first row for all", "returned with the first of each row for all"}),
], ids=name)
def test_some_go_by_the_first_case_or_by_other_arguments(check, mistakes):
    (module,) = (module for module, one in EXERCISES if one is check)
    assert mistakes <= {mutant.name for mutant in mutants(check, module)}


@pytest.mark.parametrize("check", CHECKS, ids=name)
def test_each_has_a_reason(check):
    assert all(check.as_good.values())
