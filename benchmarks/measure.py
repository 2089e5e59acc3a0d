"""Time contenders in turns, so that whatever slows the machine slows all of them.

`torch.utils.benchmark` measures one contender after the other: on a busy machine, a function then is as far from itself as
from its peers.
"""

import ctypes
import importlib
import platform
import statistics
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

import torch
from torch import Tensor

from d2lpos.lab.machine import forget_peak, held_bytes, peak_bytes


@dataclass(frozen=True)
class Contest:
    """Contenders by name, each a function without arguments; the first is the one that others are measured by.

    name is that of the table's file. copy, where there is one, moves as many bytes as any contender must.
    memory: measure also the memory that a call needs at its worst moment. rounds: at most so many, where one takes
    long. bound: how fast, beside the first, the fastest of ours must be on a GPU; ours have names in backquotes.
    """

    name: str
    title: str
    contenders: dict[str, Callable[[], object]]
    copy: Callable[[], object] | None = None
    memory: bool = False
    rounds: int | None = None
    bound: float | None = None


def seconds(function: Callable[[], object], device: str) -> float:
    """The time of one call, to the end of its work on the device; on a CPU, the processor's own."""
    clock = time.process_time if device == "cpu" else time.perf_counter
    synchronize(device)
    start = clock()
    function()
    synchronize(device)
    return clock() - start


def synchronize(device: str) -> None:
    if device == "cuda":
        torch.cuda.synchronize()


def megabytes(function: Callable[[], object], device: str) -> float | None:
    """How much more memory than before the call is held at its worst moment; None where not told."""
    if platform.libc_ver()[0] == "glibc":
        ctypes.CDLL(None).malloc_trim(0)  # what is free already would not show
    forget_peak(device)
    before = held_bytes(device)
    function()
    return None if before is None else (peak_bytes(device) - before) / 1e6


def run(contest: Contest, rounds: int, device: str) -> list[dict[str, str]]:
    """One row a contender: median time, and the median and spread of its speed against the first, round by round."""
    entries = contest.contenders | ({"copy": contest.copy} if contest.copy else {})
    rounds = min(rounds, contest.rounds or rounds)
    for _ in range(3 if contest.rounds is None else 1):
        for function in entries.values():
            function()  # compile, and fill the allocator
    times = {name: [] for name in entries}
    for _ in range(rounds):
        for name, function in entries.items():
            times[name].append(seconds(function, device))
    baseline = times[next(iter(contest.contenders))]
    rows = []
    for name, function in contest.contenders.items():
        ratios = sorted(b / t for b, t in zip(baseline, times[name], strict=True))
        low, high = ratios[len(ratios) // 10], ratios[-1 - len(ratios) // 10]
        row = {
            "Contender": name,
            "ms": f"{1000 * statistics.median(times[name]):.2f}",
            "Speed": f"{statistics.median(ratios):.2f} ×",
            "Spread": f"{low:.2f}–{high:.2f}",
        }
        if contest.copy:
            share = statistics.median(c / t for c, t in zip(times["copy"], times[name], strict=True))
            row["Of a copy"] = f"{share:.2f}"
        if contest.memory:
            held = megabytes(function, device)
            row["Memory, MB"] = "–" if held is None else f"{held:.0f}"
        rows.append(row)
    return rows


def markdown(rows: list[dict[str, str]]) -> list[str]:
    """The lines of a table."""
    lines = [rows[0], *(row.values() for row in rows)]
    head, *body = ("| " + " | ".join(line) + " |" for line in lines)
    return [head, "|:--|" + "--:|" * (len(rows[0]) - 1), *body]


def peers(module: str, name: str) -> Callable | None:
    """A library's function, or None where the library is not installed."""
    with suppress(ImportError):
        return getattr(importlib.import_module(module), name)
    return None


def forward_and_backward(function: Callable[[Tensor], Tensor], x: Tensor) -> Callable[[], object]:
    """A contender that also computes the gradient with respect to x."""
    leaf = x.detach().clone().requires_grad_()
    upstream = torch.ones_like(x)
    return lambda: torch.autograd.grad(function(leaf), leaf, upstream)
