"""What models use: the families of language models in transformers, as `python -m tests.parity.census` found them."""

import csv

from ..runtime.published import published

__all__ = ["families"]

COLUMNS = (
    "family",
    "year",
    "year by hand",
    "kind",
    "kind by default",
    "encoding",
    "base",
    "turns",
    "layout",
    "scaling",
    "window",
    "without",
    "attend",
    "temperature",
    "sinks",
    "besides",
    "release",
    "source",
    "default",
)


def families() -> list[dict[str, str]]:
    """A row for each family with attention and layers of its own, by year and name: words, "" for nothing.

    `year by hand` says that the year is not that of the copyright line. `kind` sorts the encodings: turn (RoPE in every
    layer that attends), some (in some of them, and no position in others), none, bias, table, sinusoids. `base`, `turns` (how many features of a
    head), `layout` and `scaling` speak of RoPE; `without` of layers without a position, among those that attend;
    `attend` of the layers that attend, where others have a recurrence. `kind by default` is the kind of the class's default,
    "" where no layer of it attends.

    A row tells of the `release` that it names, where one is known, with its `source`; `default` is what the family's class
    has otherwise. Other rows tell of the class's default.

    >>> [llama] = [row for row in families() if row["family"] == "llama"]
    >>> llama["year"], llama["encoding"], llama["turns"], llama["layout"]
    ('2023', 'RoPE', '128 of 128', 'halves')
    """
    with (published("models") / "models.csv").open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))
