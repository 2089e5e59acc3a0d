"""Rows added."""

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn.functional import embedding

from ..cases import quarters
from ..verdict import Case, Check, Misconduct, call


def add_rows(x: Tensor, table: Tensor, positions: Tensor) -> Tensor:
    return x + embedding(positions, table)


def trained_rows(answer: Callable) -> list[int]:
    """The rows that get a gradient when two of five are used."""
    table = quarters(5, 4).requires_grad_()
    answer(quarters(1, 2, 4, seed=1), table, torch.tensor([3, 1])).sum().backward()
    if table.grad is None:
        raise Misconduct("No gradient reaches the table")
    return table.grad.any(dim=1).nonzero().flatten().tolist()


def refuses(positions: list, rows: int = 5) -> Case:
    """Whether a position without a row is an IndexError; else, what the tokens get."""
    shape = torch.tensor([positions]).shape[-2:]

    def ask(answer: Callable) -> str:
        x, table = quarters(*shape, 4, seed=1), quarters(rows, 4)
        try:
            added = (answer(x, table, torch.tensor(positions)) - x).flatten(0, 1)
        except IndexError:
            return "an IndexError"
        matches = (added[:, None] == table).all(dim=-1)
        return f"rows {[row.nonzero().flatten().tolist() for row in matches]}"

    return Case(f"positions {positions} of a table of {rows} rows", ask)


def add_case(positions: list, batch: int = 2, more: int = 0, rows: int = 5, d: int = 4) -> Case:
    positions = torch.tensor(positions)
    x, table = more + quarters(batch, positions.shape[-1], d, seed=1), quarters(rows, d)
    return call(x=x, table=table, positions=positions)


def plain_indexing(x, table, positions):
    return x + table[positions]


add_positions = Check(
    "add_positions",
    reference=add_rows,
    properties={
        "x plus the row of each position": [
            add_case([0, 1, 2]), add_case([4, 0, 2]), add_case([3], batch=1),
            add_case([2, 2, 1, 4], more=1000), add_case([1, 0, 1], rows=2, d=3), add_case([6, 5], rows=7, d=2),
            add_case([*range(299, 280, -1)], rows=300),
        ],
        "positions of each sentence": [add_case([[0, 1, 2], [2, 3, 4]])],
        "gradients for the rows in use": [Case("positions [3, 1]", trained_rows)],
        "positions past the table are an IndexError": [refuses([4, 5]), refuses([1, 3], rows=3), refuses([[0, 1], [5, 4]])],
        "negative positions are an IndexError": [refuses([0, -1]), refuses([-1, 4]), refuses([[4, 3], [4, -5]])],
    },
    mistakes={
        "The rows are counted from 0. Take those that positions name.":
            lambda x, table, positions: x + table[: x.shape[1]],
        "These are the rows alone. Add them to x.": lambda x, table, positions: embedding(positions, table),
        "The first sentence's positions serve all.":
            lambda x, table, positions: x + embedding(positions, table).reshape(-1, *x.shape[1:])[:1],
        "A table that is detached, or read through .data, gets no gradient.":
            lambda x, table, positions: x + embedding(positions, table.detach()),
        "Positions past the table get its last row. Here they are to be refused.":
            lambda x, table, positions: x + embedding(positions.clamp(max=len(table) - 1), table),
        "An index of −1 counts from the end: table[positions] gives the last row. Refuse it, or use embedding.": plain_indexing,
    },
    cards=(plain_indexing,),
)
