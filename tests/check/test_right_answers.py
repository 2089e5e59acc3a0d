"""In which form an answer comes counts where its exercise names a form, and nowhere else."""

from inspect import isfunction

import numpy as np
import pytest
import torch
from torch import Tensor

from d2lpos.check import rope, trained
from tests.check.exercises import CHECKS
from tests.check.mutants import altered, survives

OTHER = {
    torch.float32: torch.float64,
    torch.float64: torch.float32,
    torch.int64: torch.int32,
    torch.int32: torch.int64,
}


def in_another_form(value):
    """The same numbers in another dtype, a number or a truth value as a tensor of no axes, a list for a tuple; also from a function."""
    if isinstance(value, Tensor):
        return value.to(OTHER.get(value.dtype, value.dtype))
    if type(value) in (bool, int, float):
        return torch.tensor(value)
    if isinstance(value, tuple | list):
        return [*map(in_another_form, value)]
    return altered(value, in_another_form) if isfunction(value) else value


@pytest.mark.parametrize("check", [check for check in CHECKS if callable(check.reference)], ids=lambda check: check.name)
def test_the_form_counts_where_the_exercise_names_one(check):
    exact = any(case.exact_dtype for cases in check.properties.values() for case in cases)
    if check is rope.step:
        pytest.skip("its caches come back to it, so they must be of the dtype of what it computes")
    assert survives(check, altered(check.reference, in_another_form)) is not exact


@pytest.mark.parametrize("check", [check for check in CHECKS if callable(check.reference)], ids=lambda check: check.name)
def test_a_mask_is_boolean(check):
    masks = []

    def in_numbers(value):
        if isinstance(value, Tensor) and value.dtype == torch.bool:
            masks.append(value)
            return value.float()
        return [*map(in_numbers, value)] if isinstance(value, tuple | list) else value

    assert not (survives(check, altered(check.reference, in_numbers)) and masks)


def test_numpys_integers_are_whole_numbers():
    assert trained.frozen(lambda *arguments: np.int64(trained.frozen.reference(*arguments)))
