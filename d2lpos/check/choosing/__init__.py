"""The checks of chapter 8: a configuration, a choice under a constraint, memory, and a fair comparison."""

# ruff: noqa: I001 (in the order of the chapter)
from .rope_from import rope_from as rope_from
from .choose import choose as choose
from .memory import memory as memory
from .compare import compare as compare
