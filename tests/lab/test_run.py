"""What a run may be, and what names its record."""

from dataclasses import fields, replace

import numpy as np
import pytest
import torch

from d2lpos.lab import STUDIES, Run, accuracy, train
from d2lpos.lab.models import ENCODINGS, EVAL_MODES, build
from d2lpos.lab.plot import UNITS
from d2lpos.lab.tasks import TASKS, Task

RUN = Run("language", "rope", length=64, tested=(64, 128), eval_modes=("as trained", "ntk"))
SQUARED = {"task": "digits", "encoding": "axial", "tested": (64,), "eval_modes": (), "causal": False}
FURTHER = {"continue_training": ("ntk",), "further_length": 256, "further_steps": 9}


def test_a_key_is_for_good():
    """Published records are found by it: where this fails, they are lost."""
    assert RUN.key == "c144f86f3b9df4aa"
    assert Run("order").key == "69dfaf80e5ed662d"


def test_defaults_are_part_of_the_published_keys():
    """A key leaves out what is at its default, so no default may change."""
    assert Run("order").fields() == {
        "task": "order", "encoding": "none", "seed": 0, "length": 64, "shortest": None, "tested": [64],
        "readings": ["as trained"], "steps": 200, "size": 64, "rate": 3e-3, "checks": 10, "dim": 64, "heads": 4,
        "layers": 2, "causal": False, "precision": "float32", "scale": 1.0, "again": False, "probe": False,
        "dropout": "none", "drop": 0.0, "keep": False, "stack": [], "further": [], "further_length": 0,
        "further_steps": 0, "places": "counted", "limit": 0,
    }  # fmt: skip


def test_one_experiment_has_one_key():
    again = replace(RUN, lr=3e-3, causal=True, tested=[64, 128], eval_modes=["as trained", "ntk"])
    assert again == RUN and again.key == RUN.key
    assert replace(RUN, lr=1).key == replace(RUN, lr=1.0).key
    plain = {"steps": 300, "seed": 2, "probe": True, "add_every_layer": True, "causal": True, "tested": (64, 128)}
    from_numpy = {name: np.array(value)[()] for name, value in plain.items()}
    assert replace(RUN, **from_numpy).key == replace(RUN, **plain).key
    on = FURTHER | {name: np.array(FURTHER[name])[()] for name in ("further_length", "further_steps")}
    assert replace(RUN, **on).key == replace(RUN, **FURTHER).key
    drawn = {"places": "drawn", "limit": 128}
    assert replace(RUN, **drawn | {"limit": np.array(128)[()]}).key == replace(RUN, **drawn).key


def test_each_field_counts():
    alone = {
        "task": "copy", "seed": 1, "length": 32, "shortest": 8, "tested": (64,), "eval_modes": ("ntk",), "steps": 201,
        "batch_size": 65, "lr": 1e-3, "checks": 9, "dim": 128, "heads": 2, "layers": 3, "causal": False,
        "precision": "bfloat16", "add_every_layer": True, "probe": True, "keep": True, "scale": 2,
    }  # fmt: skip
    changes = [{name: value} for name, value in alone.items()] + [{"encoding": "none", "eval_modes": ()}]
    changes += [{"dropout": name, "drop": rate} for name, rate in (("sum", 0.1), ("sum", 0.2), ("token", 0.2))]
    changes += [{"stack": stack} for stack in (("full", "none"), ("none", "full"))]
    changes += [FURTHER | other for other in ({}, {"continue_training": ("yarn",)}, {"further_steps": 5}, {"further_length": 512})]
    changes += [{"places": name, "limit": limit} for name, limit in (("begun", 128), ("begun", 129), ("drawn", 128))]
    assert {field.name for field in fields(Run)} == {name for change in changes for name in change}
    assert len({run.key for run in [RUN, *(replace(RUN, **change) for change in changes)]}) == 33
    assert len(changes) == 32


def test_a_new_version_of_the_task_is_another_run(monkeypatch):
    old = TASKS["order"]
    key = Run("order").key
    new = Task(old.train, old.tests, old.vocabulary, old.outputs, old.causal, version=old.version + 1)
    monkeypatch.setitem(TASKS, "order", new)
    assert Run("order").key != key


def test_what_is_not_said():
    assert Run("order", length=9).tested == (9,)
    assert not Run("order").causal and Run("copy").causal and Run("order", causal=True).causal
    assert replace(RUN, **FURTHER).stretch == 4
    assert RUN.stretch == 2 and Run("order", length=8, tested=(4,)).stretch == 1


@pytest.mark.parametrize(("arguments", "message"), [
    ({"task": "sorting"}, f"task must be one of {', '.join(TASKS)}; got 'sorting'"),
    ({"encoding": "RoPE"}, f"encoding must be one of {', '.join(ENCODINGS)}; got 'RoPE'"),
    ({"eval_modes": ("twice",)}, f"eval_modes must be one of {', '.join(EVAL_MODES)}; got 'twice'"),
    ({"encoding": "alibi"}, 'eval mode "ntk" needs encoding "rope"; got "alibi"'),
    ({"dropout": "sum"}, 'drop must be above 0 and below 1 for dropout "sum"; got 0.0'),
    ({"drop": 0.1}, 'drop must be 0 for dropout "none"; got 0.1'),
    (
        {"dropout": "protected", "drop": 0.1},
        'dropout "protected" needs a task with special tokens; got "language"',
    ),
    ({"precision": "float16"}, "precision must be one of float32, bfloat16; got 'float16'"),
    ({"tested": (64, -1)}, "tested must be positive; got -1"),
    ({"shortest": 65}, "shortest must be at most length, 64; got 65"),
    ({"lr": 0.0}, "lr must be finite and positive; got 0.0"),
    ({"steps": 0}, "steps must be positive; got 0"),
    ({"dim": 30}, "dim must be a multiple of heads; got dim=30, heads=4"),
    ({"stack": ("full",)}, "stack must have a member for each of 2 layers; got 1"),
    (FURTHER | {"further_length": 0}, "further_length must be positive; got 0"),
    (FURTHER | {"continue_training": ("last row",)}, 'eval mode "last row" needs encoding "learned"; got "rope"'),
    ({"places": "drawn"}, "limit must be positive; got 0"),
    ({"limit": 128}, 'limit must be 0 for places "counted"; got 128'),
    ({"places": "drawn", "limit": 127}, "limit must be at least 128, the longest row; got 127"),
    ({"places": "coupled", "limit": 9}, 'places "coupled" needs a task of addition; got "language"'),
    (
        {"places": "jittered"},
        'places of "rope" must be one of counted, begun, drawn, coupled, timed; got "jittered"',
    ),
    (
        SQUARED | {"places": "drawn", "limit": 128},
        'places of "axial" must be one of counted, jittered; got "drawn"',
    ),
    (SQUARED | {"tested": (128,)}, "length must be a square, for as many rows as columns; got 128"),
    (SQUARED | {"probe": True}, 'probe needs positions of one axis; "axial" has two'),
    (SQUARED | {"eval_modes": ("window",)}, 'eval mode "window" needs positions of one axis; "axial" has two'),
    ({"eval_modes": ("to scale",)}, 'eval mode "to scale" needs encoding "axial" or "mixed"; got "rope"'),
    (
        FURTHER | {"continue_training": ()},
        "continue_training must name an eval mode where there are steps or a length; got "
        + str({"further_length": 256, "further_steps": 9}),
    ),
])
def test_bad_runs_are_refused(arguments, message):
    with pytest.raises(ValueError) as error:
        replace(RUN, **arguments)
    assert str(error.value) == message


@pytest.mark.parametrize("seed", [2**31, 2**32, 12345678901234567890])
def test_a_seed_that_is_another_to_pytorch_is_refused(seed):
    numbers = [torch.rand(3, generator=torch.Generator().manual_seed(s)) for s in (7, 2**32 + 7)]
    assert torch.equal(*numbers), "PyTorch counts more than 32 bits now"
    with pytest.raises(ValueError, match=f"^seed must be below 2147483648, because .*; got {seed}$"):
        replace(RUN, seed=seed)
    with pytest.raises(ValueError, match=f"got {seed}$"):
        train(build(RUN), TASKS["order"].train, 8, steps=1, seed=seed)
    with pytest.raises(ValueError, match=f"got {seed}$"):
        accuracy(build(RUN), TASKS["order"].train, 8, seed=seed)
    assert replace(RUN, seed=2**31 - 1).key


@pytest.mark.parametrize("name", STUDIES)
def test_a_study_asks_one_question_of_many_runs(name):
    study = STUDIES[name]
    runs = study.runs(range(3))
    assert study.question.endswith("?") and study.value in UNITS
    assert len({run.key for run in runs}) == len(runs) == 3 * len(study.full)
    assert [run.seed for run in runs] == sorted(run.seed for run in runs)
    assert len({(run.task, run.length, run.batch_size, run.lr, run.tested) for run in runs}) == 1
    assert (len({run.steps for run in runs}) > 1) == (name in ("shorter", "gates"))
    assert {run.seed for run in study.runs([7], smoke=True)} == {7}
