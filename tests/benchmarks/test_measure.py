"""The benchmarks' own arithmetic; their times are never tested."""

import csv
import importlib
import shutil
import sys

import pytest
import torch
from torch.nn.attention.flex_attention import flex_attention

from benchmarks import attention, fused, measure, skew
from benchmarks.__main__ import SUBJECTS, TABLES
from benchmarks.measure import Contest, forward_and_backward, megabytes, run
from benchmarks.rope import turn_functions


def test_speed_is_measured_against_the_first_and_the_copy(monkeypatch):
    times = {"slow": 0.4, "fast": 0.1, "copy": 0.05}
    monkeypatch.setattr(measure, "seconds", lambda function, device: times[function()])
    contenders = {name: lambda name=name: name for name in ("slow", "fast")}
    slow, fast = run(Contest("toy", "Toy", contenders, lambda: "copy"), rounds=3, device="cpu")
    assert slow == {
        "Contender": "slow", "ms": "400.00", "Speed": "1.00 ×", "Spread": "1.00–1.00", "Of a copy": "0.12"
    }  # fmt: skip
    assert fast == {
        "Contender": "fast", "ms": "100.00", "Speed": "4.00 ×", "Spread": "4.00–4.00", "Of a copy": "0.50"
    }  # fmt: skip


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells the memory of a process at its peak")
def test_memory_is_counted_at_the_worst_moment():
    def wasteful() -> torch.Tensor:
        return torch.ones(25_000_000).exp().sum()  # twice 100 MB

    assert 180 < megabytes(wasteful, "cpu") < 260


def test_memory_is_a_dash_where_the_system_does_not_tell_it(monkeypatch):
    for name in "peak_bytes", "held_bytes":
        monkeypatch.setattr(measure, name, lambda device: None)
    (row,) = run(Contest("toy", "Toy", {"one": int}, memory=True), rounds=1, device="cpu")
    assert row["Memory, MB"] == "–"


def test_backward_computes_the_gradient():
    (gradient,) = forward_and_backward(lambda x: x**2, torch.tensor([1.0, 3.0]))()
    assert gradient.tolist() == [2, 6]


@pytest.mark.parametrize(("subject", "state"), [*((subject, "") for subject in SUBJECTS), ("rope", "-kept")])
def test_the_tables_of_the_book_name_the_contenders(subject, state, monkeypatch):
    monkeypatch.setattr(shutil, "which", str)  # the tables come from a machine with a compiler; none runs here
    for contest in importlib.import_module(f"benchmarks.{subject}").contests("cpu"):
        with (TABLES / f"{contest.name}{state}-cpu.csv").open(newline="") as file:
            rows = list(csv.DictReader(file))
        assert [row["Contender"] for row in rows] == list(contest.contenders)


def test_rotations_agree():
    x = torch.randn(2, 3, 7, 8)
    turned = {
        name: turn(x) for name, turn in turn_functions(x.shape, "cpu").items() if "compiled" not in name
    }
    for layout in "half", "interleaved":
        first, *others = [y for name, y in turned.items() if name.endswith(layout)]
        for other in others:
            torch.testing.assert_close(other, first)


def test_ways_to_the_key_term_agree():
    (contest,) = skew.contests("cpu", length=7, heads=2, features=4)
    first, *others = [way().tril() for way in contest.contenders.values()]
    for other in others:
        torch.testing.assert_close(other, first)


def test_layers_of_attention_agree(monkeypatch):
    """Ours has the weights of theirs, so all contenders compute the same, step after step."""
    monkeypatch.setattr(attention, "forward_and_backward", lambda layer, x: lambda: layer(x).detach())
    contests = attention.contests("cpu", lengths=(64,), steps=(24,))
    assert [contest.name for contest in contests] == ["causal-64", "packed-64", "attention-alibi-64", "step-24"]
    for contest in contests:
        for _ in range(3):
            first, *others = [call() for call in contest.contenders.values()]
            for other in others:
                torch.testing.assert_close(other, first, atol=1e-5, rtol=1e-5)


@pytest.mark.filterwarnings("ignore:flex_attention called without torch.compile")
def test_fused_and_readable_programs_agree(monkeypatch):
    monkeypatch.setattr(fused, "compiled", lambda: flex_attention)
    contests = fused.contests("cpu", lengths=(64, 128))
    assert [contest.name for contest in contests] == [
        "fused-causal-64", "fused-causal-128", "fused-window-128", "fused-texts-128"
    ]  # fmt: skip
    for contest in contests:
        first, *others = [call() for call in contest.contenders.values()]
        for other in others:
            torch.testing.assert_close(other, first, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize(("arguments", "message"), [
    (["speed"], "subjects are rope, bias, skew, sinusoidal, training, attention, fused, rulers; got speed"),
    (["--rounds", "0"], "--rounds must be positive; got 0"),
    (
        ["rope", "--write"],
        "--write measures every subject, so that all tables are from one run; name none, or attention or fused or rulers",
    ),
])
def test_bad_arguments_get_one_sentence(python, arguments, message):
    done = python("-m", "benchmarks", *arguments)
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1] == f"python -m benchmarks: error: {message}"
