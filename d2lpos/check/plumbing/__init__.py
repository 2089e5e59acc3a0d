"""The checks of chapter 11 and its notebooks in depth: a text on several processors, packed texts, drafts, axes, digits, keys that are kept, moved and rounded, prefixes."""

# ruff: noqa: I001 (in the order of the chapter)
from .zigzag import zigzag as zigzag
from .packed import packed as packed
from .tree import tree as tree
from .turns import turns as turns
from .couple import couple as couple
from .shared import shared as shared
from .joined import joined as joined
from .turned import turned as turned
from .levels import levels as levels
from .next_round import next_round as next_round
from .stands_still import stands_still as stands_still
from .read_again import read_again as read_again
from .hit import hit as hit
from .rolled_back import rolled_back as rolled_back
from .checkpoints import checkpoints as checkpoints
