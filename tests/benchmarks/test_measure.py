"""The benchmarks' own arithmetic; their times are never tested."""

import subprocess
import sys

import pytest
import torch

from benchmarks import measure
from benchmarks.measure import Contest, forward_and_backward, run


def test_speed_is_measured_against_the_first_and_the_copy(monkeypatch):
    times = {"slow": 0.4, "fast": 0.1, "copy": 0.05}
    monkeypatch.setattr(measure, "seconds", lambda function, device: times[function()])
    contenders = {name: lambda name=name: name for name in ("slow", "fast")}
    slow, fast = run(Contest("toy", contenders, lambda: "copy"), rounds=3, device="cpu")
    assert slow == {"": "slow", "ms": "400.00", "speed": "1.00 ×", "spread": "1.00–1.00", "of a copy": "0.12"}
    assert fast == {"": "fast", "ms": "100.00", "speed": "4.00 ×", "spread": "4.00–4.00", "of a copy": "0.50"}


def test_backward_computes_the_gradient():
    (gradient,) = forward_and_backward(lambda x: x**2, torch.tensor([1.0, 3.0]))()
    assert gradient.tolist() == [2, 6]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["speed"], "subjects are rope, bias; got speed"),
        (["--rounds", "0"], "--rounds must be positive; got 0"),
    ],
)
def test_bad_arguments_get_one_sentence(arguments, message):
    command = [sys.executable, "-m", "benchmarks", *arguments]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1] == f"python -m benchmarks: error: {message}"
