"""The checks of the project of a fused program: rules for one pair, the blocks that it skips, and a fair stopwatch."""

# ruff: noqa: I001 (in the order of the chapter)
from .alibi_mod import alibi_mod as alibi_mod
from .sight import sight as sight
from .t5_mod import t5_mod as t5_mod
from .block_states import block_states as block_states
from .measure import measure as measure
from .measure import Machine as Machine
