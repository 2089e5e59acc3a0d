"""What the figure "stack" shows of the study of stacked layers, written down where its records are published."""

from .run import Run
from .tasks import TASKS

EVAL_MODES = ("as trained", "sharper")


def stacks(records: list[dict]) -> dict:
    """Return, fit for JSON, the accuracy of each stack at each tested length, for every seed, in thousandths.

    A stack has found[reading][length][seed], in the order of `lengths` and of the seeds that are finished. Lengths of
    training, windows and tests and the share that guessing finds stand once, as they are the same in all runs.
    """
    by_stack: dict[tuple[str, ...], dict] = {}
    for record in sorted(records, key=lambda record: record["run"]["seed"]):
        run = Run.from_fields(record["run"])
        kinds = ("none" if run.encoding == "none" else "full",) * run.layers
        cells = by_stack.setdefault(run.stack or kinds, {name: [[] for _ in run.tested] for name in EVAL_MODES})
        for row in record["metrics"]:
            cells[row["reading"]][run.tested.index(row["length"])].append(round(1000 * row["accuracy"]))
    return {
        "trained": run.length,
        "window": run.length // 2,
        "lengths": list(run.tested),
        "guess": round(1000 / TASKS[run.task].outputs),
        "stacks": [{"layers": list(layers), "found": cells} for layers, cells in by_stack.items()],
    }
