"""The checks of the project that builds a language model: its attention, its loss, its test rows, a law, a comparison."""

# ruff: noqa: I001 (in the order of the chapter)
from .attend import attend as attend
from .next_loss import next_loss as next_loss
from .fair_rows import fair_rows as fair_rows
from .offsets_alone import offsets_alone as offsets_alone
from .beside import beside as beside
