"""The checks of chapter 10: a lead in a crowd, keys that move up, blocks, a wrong setting, a base, what layers carry."""

# ruff: noqa: I001 (in the order of the chapter)
from .weight import weight as weight
from .rebase import rebase as rebase
from .blocks import blocks as blocks
from .diagnose import diagnose as diagnose
from .smallest_base import smallest_base as smallest_base
from .shares import shares as shares
