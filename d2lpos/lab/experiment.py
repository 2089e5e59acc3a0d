"""Do one run and write down all of it."""

import copy
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from itertools import product
from typing import Any

import torch

from ..runtime.threads import one_thread
from ..transformer.model import Transformer
from .char_models import char_model
from .inside import first_token, learned_table, probes, similarity
from .machine import forget_peak, machine, peak_bytes
from .models import build, eval_mode, places, reads
from .run import Run
from .tasks import TASKS
from .training import test, train

__all__ = ["execute"]


def execute(run: Run, device: str = "cpu", compiled: bool = False) -> dict[str, Any]:
    """Train and test the model of a run, and return the record, fit for JSON. compiled: train with torch.compile.

    Runs of the same versions give the same metrics and the same curve to the last digit, on one thread of machines of one
    kind; `alike` of `d2lpos.lab.machine` says which machines these are. A row of the curve has the mean training loss
    since the row before and, for each split of the task, the loss at the training length. The validation split is for
    choices along the curve, so metrics leave it out. loss_last is the loss on the last tokens of a sequence, as many as a
    training sequence has.

    If the run has probe, the record also contains the `probes` of `d2lpos.lab.inside`; for a learned table, the
    `similarity` of its rows and of their changes in training; and for a causal model, `first_token`. If the run has keep,
    the record contains the `char_model` of `d2lpos.lab.char_models`.

    >>> record = execute(Run("order", "rope", length=4, steps=20))
    >>> [row["step"] for row in record["curve"]]
    [2, 4, 6, 8, 10, 12, 14, 16, 18, 20]
    """
    started, clock = datetime.now(UTC), time.perf_counter()
    task = TASKS[run.task]
    longest = max(*run.tested, run.length)
    many = min(1024, 2**18 // longest)
    rows, within = (128, longest) if task.windows else (many, None)
    forget_peak(device)
    with one_thread(), deterministic():
        about = machine(device) | {"compiled": compiled}  # now: a commit may come while the run is on
        for sampler, length in product((task.train, *task.tests.values()), (run.length, *run.tested)):
            sampler(1, length, torch.Generator())  # a length that the task does not have fails here
        model = build(run).to(device)
        table = learned_table(model)
        curve, losses = [], []
        every = max(1, run.steps // run.checks)

        def watch(step: int, loss: float) -> None:
            losses.append(loss)
            if step % every and step != run.steps:
                return
            row = {"step": step, "train": sum(losses) / len(losses)}
            curve.append(row | by_split(model, run, run.length, rows))
            losses.clear()

        train(
            torch.compile(model) if compiled else model, task.train, run.length, run.steps, run.batch_size, run.lr,
            seed=run.seed, shortest=run.shortest, precision=run.precision, watch=watch,
            places=places(run, training=True),
        )  # fmt: skip
        metrics, inside = [], {}

        def measure(model: Transformer, name: str, length: int) -> None:
            for split, sampler in task.tests.items():
                if split != "validation":
                    row = {"reading": name, "length": length, "split": split}
                    more = {"places": places(run), "whole": task.whole}
                    drawn = (many, run.length, None) if split in task.needles else (rows, run.length, within)
                    metrics.append(row | test(model, sampler, length, *drawn, **more))

        for name, length in product(run.eval_modes, run.tested):
            if reads(run, name, length):
                with eval_mode(model, run, name, length):
                    measure(model, name, length)
        for name in run.continue_training:
            with eval_mode(copy.deepcopy(model), run, name, run.further_length) as other:
                inside.setdefault("further", []).extend(train_on(other, run, name, rows))
                for length in run.tested:
                    measure(other, f"{name}, trained on", length)
        if run.probe:
            inside |= {"probes": probes(model, task, run.length), "similarity": None, "change": None}
            inside["first"] = first_token(model, task, run.length) if run.causal else None
            if table is not None:
                trained = learned_table(model)
                inside |= {"similarity": similarity(trained), "change": similarity(trained - table)}
        if run.keep:
            inside["reader"] = char_model(model, run)
    return inside | {
        "key": run.key,
        "run": run.fields(),
        "versions": run.versions,
        "metrics": metrics,
        "curve": curve,
        "started": started.isoformat(timespec="seconds"),
        "seconds": round(time.perf_counter() - clock, 2),
        "peak_bytes": peak_bytes(device),
        "parameters": sum(p.numel() for p in model.parameters()),
        "machine": about,
    }


def by_split(model: Transformer, run: Run, length: int, rows: int) -> dict[str, float]:
    """The loss of a model that is being trained, on each split of its task."""
    model.eval()
    losses = {
        split: test(model, sampler, length, rows, places=places(run))["loss"]
        for split, sampler in TASKS[run.task].tests.items()
    }
    model.train()
    return losses


def train_on(model: Transformer, run: Run, name: str, rows: int) -> list[dict[str, Any]]:
    """Train a model on, at a fifth of its rate; the loss at the new length along the way, after so many tokens."""
    task, length, curve = TASKS[run.task], run.further_length, []
    size = max(1, run.batch_size * run.length // length)
    every = max(1, run.further_steps // run.checks)

    def watch(step: int, loss: float) -> None:
        if step % every == 0 or step == run.further_steps:
            row = {"reading": name, "step": step, "tokens": step * size * length}
            curve.append(row | by_split(model, run, length, rows))

    seed = (run.seed + 2**30) % 2**31  # other batches than before
    train(
        model, task.train, length, run.further_steps, size, run.lr / 5, seed=seed, shortest=run.shortest,
        precision=run.precision, watch=watch, places=places(run, training=True),
    )  # fmt: skip
    return curve


@contextmanager
def deterministic() -> Iterator[None]:
    """Refuse what would give other digits the second time, and leave the caller's random numbers alone."""
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    before = torch.are_deterministic_algorithms_enabled()
    torch.use_deterministic_algorithms(True)
    try:
        with torch.random.fork_rng():
            yield
    finally:
        torch.use_deterministic_algorithms(before)
