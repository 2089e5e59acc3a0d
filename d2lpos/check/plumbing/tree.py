"""A tree in one pass."""

from collections.abc import Callable

import torch
from torch import Tensor

from ..verdict import Case, Check, call
from .material import both, the_positions


def along_branches(parents: Tensor) -> tuple[Tensor, Tensor]:
    mask = torch.eye(len(parents)).bool()
    for token, parent in enumerate(parents):
        if parent >= 0:
            mask[token] |= mask[parent]
    return mask.sum(dim=1) - 1, mask


def index_of_no_parent(parents: Tensor) -> tuple[Tensor, Tensor]:
    """At −1 stands the last token."""
    mask = torch.eye(len(parents)).bool()
    for token, parent in enumerate(parents):
        mask[token] |= mask[parent]
    return along_branches(parents)[0], mask


TREES = [[-1, 0, 0, 1, 1, 2], [-1, 0, 1, 2, 1, 0, 5], [*range(-1, 19)]]
WOODS = [[-1, -1, 0, 1, 1], [-1, 0, -1, 2, 3, 1, -1], [-1, -1, -1]]


def tree_cases(look: Callable, trees: list[list[int]] = TREES) -> list[Case]:
    return [both(call(parents=torch.tensor(one)), len(one), look) for one in trees]


def the_mask(positions: Tensor, mask: Tensor) -> Tensor:
    return mask


def begins_behind_the_root(parents):
    depth = torch.zeros(len(parents), dtype=torch.int64)
    mask = torch.eye(len(parents), dtype=torch.bool)
    for token in range(1, len(parents)):
        parent = parents[token]
        depth[token] = depth[parent] + 1
        mask[token] |= mask[parent]
    return depth, mask


tree = Check(
    "tree",
    reference=along_branches,
    properties={
        "positions are depths, from 0": tree_cases(the_positions),
        "a token sees itself and its ancestors alone": tree_cases(the_mask),
        "several roots": [*tree_cases(the_positions, WOODS), *tree_cases(the_mask, WOODS)],
    },
    mistakes={
        "These are places in the row. Tokens of two branches may stand at one position.":
            "return mask.sum(dim=1) - 1, → return torch.arange(len(parents)),",
        "A root stands at 0, not at 1.": "sum(dim=1) - 1 → sum(dim=1)",
        "A token stands one behind its parent's position, not behind the parent's index.":
            "return mask.sum(dim=1) - 1, → return parents + 1,",
        "The mask is causal: a token sees its siblings and other branches.":
            "- 1, mask → - 1, torch.ones_like(mask).tril()",
        "Rows of the mask are queries, columns are keys: a token sees who came before it.":
            "- 1, mask → - 1, mask.mT",
        "Parents are seen, their own parents are not.":
            "- 1, mask → - 1, mask & (mask.sum(dim=1)[:, None] - mask.sum(dim=1) < 2)",
        "A token sees itself, too.": "- 1, mask → - 1, mask & ~torch.eye(len(mask)).bool()",
        "−1 is no parent. As an index it names the last token.": (index_of_no_parent, begins_behind_the_root),
    },
    cards=(begins_behind_the_root,),
    as_good={"mask.sum(dim=1) → mask.sum(dim=-1)": "Of two axes, 1 is the last."},
)
