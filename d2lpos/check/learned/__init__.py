"""The checks of chapter 3: rows added and counted, texts past the table, knots, and a probe."""

# ruff: noqa: I001 (in the order of the chapter)
from .add_positions import add_positions as add_positions
from .count_rows import count_rows as count_rows
from .row_of import row_of as row_of
from .knots_at import knots_at as knots_at
from .probe import probe as probe
