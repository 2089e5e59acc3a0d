"""Where were the texts cut?"""

import math

import torch
from torch import Tensor
from torch.nn.functional import cosine_similarity, pad

from ..verdict import Answer, Case, Check, call


def last_of_cut(table: Tensor, below: float) -> list[int]:
    unlike = cosine_similarity(table[:-1], table[1:], dim=-1) < below
    unlike = torch.cat([unlike, torch.ones(1).bool()])
    return [row + 1 for row in range(1, len(table)) if unlike[row - 1] and unlike[row]]


def runs_of_gaps(table: Tensor, below: float) -> list[int]:
    """Behind the first of gaps in a row; one alone before row 1 is that of row 0."""
    unlike = [False, *(cosine_similarity(table[:-1], table[1:], dim=-1) < below).tolist()]
    begins = [row for row in range(1, len(unlike)) if unlike[row] and not unlike[row - 1]]
    return [row + 1 for row in begins if row > 1 or unlike[2]]


def as_numbers(outcome: object) -> object:
    """A list of whole numbers, in whatever it came."""
    return (
        outcome.tolist() if isinstance(outcome, Tensor) else [*outcome] if isinstance(outcome, tuple | set) else outcome
    )


def table_case(rows: str, below: float = 0.7, d: int = 2) -> Case:
    """A table (rows, d): a, b, c and d are directions 30° apart, y and z are far from them; capitals are longer rows.

    All rows lie in the plane of the last two features.
    """
    turns = {"a": 0.0, "b": 30.0, "c": 60.0, "d": 90.0, "y": 300.0, "z": 225.0}
    degrees = torch.tensor([turns[row.lower()] for row in rows], dtype=torch.float64)
    lengths = torch.tensor([10.0 if row.isupper() else 1.0 for row in rows], dtype=torch.float64)
    angles = degrees * math.pi / 180
    table = pad((lengths * torch.stack([angles.cos(), angles.sin()])).mT.float(), (d - 2, 0))
    turned = ", ".join(f"{turn:g}" for turn in degrees.tolist())
    plane = f" of the last two of {d} features" * (d > 2)
    label = f"rows in the directions {turned} degrees{plane}, below = {below:g}"
    case = call(label, table=table, below=below)
    return Case(case.text, lambda answer: as_numbers(case.ask(answer)))


cuts = Check(
    "cuts",
    reference=last_of_cut,
    properties={
        "rows unlike both their neighbors": [
            table_case("aabzdd"), table_case("aabzbaayabzabyab"), table_case("aacazaa", 0.4),
            table_case("aaabaaa", 0.9), table_case("AAcAACaab"), table_case("AAABzBAA"),
            table_case("aabzcd", d=5),
        ],
        "the last row, unlike its one neighbor": [table_case("aabbcz"), table_case("abzccby"), table_case("abcda")],
        "not the first row": [table_case("zaabybb"), table_case("zabbycc"), table_case("azabbcc")],
        "not where rows change for good": [table_case("aabzydd"), table_case("aaayyyayy"), table_case("abbbyyyzyy")],
    },
    mistakes={
        "These are rows. A text that ends with row r has r + 1 tokens.":
            lambda table, below: [n - 1 for n in last_of_cut(table, below)],
        "One neighbor is enough here. A row is asked for that is unlike both.": (
            "unlike[row - 1] and → unlike[row - 1] or",
            "unlike[row - 1] and unlike[row] → unlike[row - 1]",
            "unlike[row - 1] and unlike[row] → unlike[row]",
        ),
        "Where rows change for good there is one gap. A row that is unlike both neighbors makes two.": runs_of_gaps,
        "The last row has one neighbor, and is unlike it.":
            lambda table, below: [n for n in last_of_cut(table, below) if n < len(table)],
        "Row 0 is unlike all others because every text begins there. No text was cut to one token.":
            "range(1, len(table)) → range(len(table))",
        "A product of rows grows with their lengths. Take cosines.":
            "cosine_similarity(table[:-1], table[1:], dim=-1) → (table[:-1] * table[1:]).sum(dim=-1)",
    },
    answers=(Answer("lengths", {128, 512}, {
        "These are rows. A text that ends with row r has r + 1 tokens.": {127, 511},
        "Row 0 is [CLS]'s in every text. No text was cut to one token.": {1, 128, 512},
        "The last row has one neighbor. What of it?": {128},
        "Row 510 is rather like row 509.": {128, 511, 512},
    }),),
    as_good={
        "returned backward": "The text asks for all lengths, in no order.",
        "cosine_similarity(table[:-1], table[1:], dim=-1) < below → cosine_similarity(table[:-1], table[1:], dim=-1) <= below": "No cosine is exactly the limit.",
        "cosine_similarity(table[:-1], table[1:], dim=-1) → cosine_similarity(table[1:], table[:-1], dim=-1)": "A cosine has no order.",
        "cosine_similarity(table[:-1], table[1:], dim=-1) → cosine_similarity(table[:-1], table[1:])": "Of two axes, 1 is the last.",
        "cosine_similarity(table[:-1], table[1:], dim=-1) → cosine_similarity(table[:-1], table[1:], dim=1)": "Of two axes, 1 is the last.",
        "torch.ones(1).bool() → torch.ones(1)": "Joined to truth values, 1 is as true as True in an if.",
        "torch.ones(1) → torch.ones(2)": "Nobody looks past the last row.",
    },
)
