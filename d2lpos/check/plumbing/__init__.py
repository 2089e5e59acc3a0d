"""The checks of chapter 11: who holds which part of a text, packed texts, a tree of drafts, turns in two axes, digits."""

# ruff: noqa: I001 (in the order of the chapter)
from .zigzag import zigzag as zigzag
from .packed import packed as packed
from .tree import tree as tree
from .turns import turns as turns
from .couple import couple as couple
