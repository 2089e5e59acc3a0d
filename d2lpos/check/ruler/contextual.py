"""Count, and look between."""

import math

import torch
from torch import Tensor

from ..cases import quarters
from ..verdict import Case, Check, call


def counted_words(q: Tensor, k: Tensor, table: Tensor) -> Tensor:
    gates = torch.sigmoid(q @ k.mT / math.sqrt(q.shape[-1])).tril()
    p = gates.flip(-1).cumsum(dim=-1).flip(-1).clamp(max=len(table) - 1)
    terms = q @ table.mT
    below, above = (terms.gather(-1, row.long()) for row in (p.floor(), p.ceil()))
    return torch.lerp(below, above, p - p.floor()).tril()


def words_case(tokens: int, d: int, rows: int) -> Case:
    seed = 10 * tokens + d
    q, k = quarters(2, tokens, d, seed=seed)
    return call(q=q, k=k, table=quarters(rows, d, seed=seed + 1))


def whole_case(counts: list[int], rows: int) -> Case:
    """Gates of 1 where `counts` says so, and of 0 elsewhere, to within 10⁻³⁰."""
    q = torch.stack([torch.full((len(counts),), 64.0), quarters(len(counts), seed=rows)], dim=-1)
    k = torch.tensor([[4.0 * count - 2, 0] for count in counts])
    label = f"keys that count {counts} for all queries, table ({rows}, 2)"
    return call(label, q=q, k=k, table=quarters(rows, 2, seed=len(counts)))


contextual = Check(
    "contextual",
    reference=counted_words,
    properties={
        "counts between two rows of the table": [
            words_case(3, 4, 6), words_case(5, 2, 8), words_case(6, 8, 9), words_case(1, 4, 3), words_case(20, 4, 24),
        ],
        "whole counts, and counts beyond the last row": [
            whole_case([1, 0, 1, 1], 6), whole_case([1, 1, 1, 0, 1], 3), whole_case([1, 1], 1),
        ],
    },
    mistakes={
        "The row below is taken alone. Mix it with the row above.":
            "torch.lerp(below, above, p - p.floor()) → below",
        "The two rows have each other's weights. A count just above 3 is nearly row 3.":
            "lerp(below, above → lerp(above, below",
        "The key itself counts, too.": "flip(-1).clamp → flip(-1).sub(gates).clamp",
        "This counts from the first token up to the key. Count from the key up to the query.":
            "gates.flip(-1).cumsum(dim=-1).flip(-1) → gates.cumsum(dim=-1)",
        "The gate is sigmoid(q · k / √d). The √d is missing.": "k.mT / math.sqrt(q.shape[-1]) → k.mT",
        "The term is the query's product with a row, and is not divided by √d.":
            "q @ table.mT → q @ table.mT / math.sqrt(q.shape[-1])",
        "To a later key nothing is added: 0.": "p - p.floor()).tril() → p - p.floor())",
        "A count may be beyond the last row, which has the number rows − 1. Clamp it there.":
            ("flip(-1).clamp(max=len(table) - 1) → flip(-1)", "len(table) - 1 → len(table)"),
    },
    as_good={
        "q.shape[-1] → k.shape[-1]": "Queries and keys have as many features.",
        "q.shape[-1] → table.shape[-1]": "A row has as many features as a query.",
        "q.shape[-1] → q.shape[1]": "Of two axes, 1 is the last.",
        "gates.flip(-1) → gates.flip(1)": "Of two axes, 1 is the last.",
        "gates.flip(-1).cumsum(dim=-1) → gates.flip(-1).cumsum(dim=1)": "Of two axes, 1 is the last.",
        "gates.flip(-1).cumsum(dim=-1).flip(-1) → gates.flip(-1).cumsum(dim=-1).flip(1)": "Of two axes, 1 is the last.",
        "terms.gather(-1, row.long()) → terms.gather(1, row.long())": "Of two axes, 1 is the last.",
        "p.floor() → p": "A whole number is made of it, which cuts its fraction off.",
    },
)
