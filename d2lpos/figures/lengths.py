"""The losses that the figure "lengths" shows: means over seeds of the study of extrapolation, as its table is published."""

import csv

from ..runtime.published import published

MODELS = ("T5", "RoPE", "KERPLE", "ALiBi", "none")  # each as it was trained


def means() -> dict[str, list[float]]:
    """The mean loss of each row of the table in nats, at 64, 128, 256 and 512 characters, or as far as it has one."""
    with (published("results") / "extrapolation-test.csv").open(encoding="utf-8") as file:
        _, *rows = csv.reader(file)
    return {name: [float(cell.split()[0]) for cell in cells if cell != "–"] for name, *cells in rows}


def numbers() -> dict[str, list[float]]:
    """What the figure shows: the means of MODELS, in this order."""
    losses = means()
    return {name: losses[name] for name in MODELS}
