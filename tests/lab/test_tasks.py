"""What holds of the samples of every task."""

import doctest
from importlib import import_module

import pytest
import torch

from d2lpos.lab import source
from d2lpos.lab.tasks import TASKS
from d2lpos.lab.text import characters, decode

SAMPLERS = [
    pytest.param(task, sampler, id=f"{name}-{split}")
    for name, task in TASKS.items()
    if name != "source"  # whose text is packed by a command: tests/lab/test_source.py
    for split, sampler in {"train": task.train, **task.tests}.items()
]
SIZE = 32


def sample(sampler, length, seed=0, size=SIZE):
    return sampler(size, length, torch.Generator().manual_seed(seed))


def lengths(task):
    if task.needles:
        return [63, 512]
    if task is TASKS["digits"]:
        return [16, 576]
    longest = {TASKS["lookup"].train: 257, TASKS["back"].train: 64}.get(task.train, 512)
    return [5, 6, 63, longest]


@pytest.mark.parametrize(("task", "sampler"), SAMPLERS)
def test_tokens_and_targets_fit_the_model_and_have_the_length_that_was_asked_for(task, sampler):
    for length in lengths(task):
        tokens, targets = sample(sampler, length, size=64)
        assert tokens.dtype == targets.dtype == torch.int64 and tokens.shape == (64, length)
        assert targets.shape in [(64,), (64, length)]
        asked = targets[targets != -100]
        assert 0 <= tokens.min() and tokens.max() < task.vocabulary
        assert 0 <= asked.min() and asked.max() < task.outputs
        if getattr(sampler, "keywords", None) != {"asked": "echo"}:  # a short row may have no mark
            assert (targets.reshape(64, -1) != -100).any(dim=1).all(), "a row asks nothing"


def test_behind_marks_alone_is_asked_in_the_test_of_echoes():
    (tokens, asked), (_, all_asked) = (sample(TASKS["echo"].tests[split], 64) for split in ("echo", "test"))
    assert torch.equal(asked >= 0, tokens == 16) and (all_asked >= 0).all()


def test_rows_that_validate_come_after_those_that_test():
    task, draw = TASKS["lookup"], torch.Generator().manual_seed(0)
    first, second = (torch.cat([t.flatten() for t in task.train(SIZE, 8, draw)]) for _ in range(2))
    validation, test = (torch.cat([t.flatten() for t in sample(task.tests[split], 8)]) for split in ("validation", "test"))
    assert torch.equal(test, first) and torch.equal(validation, second) and not torch.equal(first, second)


def test_each_task_draws_as_its_name_says():
    assert TASKS["source"].tests["test"].keywords == TASKS["needle in a novel"].tests["test"].keywords == {"split": "test"}
    assert TASKS["source"].tests["needle"] is source.needle_in_source
    assert [name for name, task in TASKS.items() if task.whole] == ["sums"]
    reads_in_windows = {"language", "flowing language", "language small", "source", "needle in a novel"}
    assert {name for name, task in TASKS.items() if task.windows} == reads_in_windows
    assert TASKS["flowing language"].train.keywords == {"flowing": True, "split": "train"}


@pytest.mark.parametrize("name", ["language", "flowing language", "language small", "masked", "masked small"])
def test_each_split_draws_from_chapters_of_its_own(name):
    task, own = TASKS[name], "small" if name.endswith("small") else "train"
    assert task.tests.keys() == {"validation", "test", "seen" if own == "small" else "unseen"}
    for split, sampler in {"train": task.train, **task.tests}.items():
        text = decode(characters({"train": own, "seen": "small"}.get(split, split), name.startswith("flowing")))
        tokens, targets = sample(sampler, 80)
        for row, wanted in zip(tokens, targets, strict=True):
            whole = row if name.startswith(("language", "flowing")) else wanted.where(wanted >= 0, row)
            assert max(decode(whole).replace("[CLS]", "").split("[SEP]"), key=len) in text


@pytest.mark.parametrize(("task", "sampler"), SAMPLERS)
def test_the_generator_alone_decides(task, sampler):
    before = torch.get_rng_state()
    torch.manual_seed(1)
    one = torch.cat([t.flatten() for t in sample(sampler, 64)])
    torch.manual_seed(2)
    assert torch.equal(one, torch.cat([t.flatten() for t in sample(sampler, 64)]))
    assert not torch.equal(one, torch.cat([t.flatten() for t in sample(sampler, 64, seed=1)]))
    torch.set_rng_state(before)


def test_a_guess_is_right_by_chance():
    assert TASKS["order"].chance(8) == 1 / 2 and TASKS["digits"].chance(64) == 1 / 10
    _, targets = sample(TASKS["back"].train, 32, size=4096)
    assert TASKS["back"].chance(32) == 1 / len(targets[targets != -100].unique()) == 1 / 31


@pytest.mark.parametrize("name", ["synthetic", "text", "digits", "tasks", "places"])
def test_examples(name):
    result = doctest.testmod(import_module(f"d2lpos.lab.{name}"))
    assert result.attempted and not result.failed
