"""What models use: the families of language models in transformers, as `python -m tests.parity.census` found them."""

import csv

from .published import published

__all__ = ["KINDS", "families"]

COLUMNS = (
    "family",
    "year",
    "year by hand",
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
)
AUTHORED = {"half": "halves", "interleaved": "neighbors"}  # what the book calls the layouts
# What reaches attention, by the word of the column `encoding`.
KINDS = {
    "RoPE": "turn",
    "RoPE in some layers": "some",
    "none": "none",
    "ALiBi": "bias",
    "buckets": "bias",
    "Transformer-XL": "bias",
    "bias from the text": "bias",
    "learned table": "table",
    "sinusoids": "sinusoids",
}


def families() -> list[dict[str, str]]:
    """A row for each family with attention and layers of its own, by year and name: words, "" for nothing.

    `year by hand` says that the year is not that of the copyright line. `base`, `turns` (how many features of a
    head), `layout` and `scaling` speak of RoPE; `without` of layers without a position, among those that attend;
    `attend` of the layers that attend, where others have a recurrence.

    >>> [llama] = [row for row in families() if row["family"] == "llama"]
    >>> llama["year"], llama["encoding"], llama["turns"], llama["layout"]
    ('2023', 'RoPE', '128 of 128', 'halves')
    """
    with (published("models") / "models.csv").open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))
