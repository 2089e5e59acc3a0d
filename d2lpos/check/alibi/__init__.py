"""The checks of chapter 6: slopes, two-sided and one-row biases, and how far a head sees."""

# ruff: noqa: I001 (in the order of the chapter)
from .released import released as released
from .two_sided import two_sided as two_sided
from .one_row import one_row as one_row
from .window import window as window
from .reach import reach as reach
from .almost_alibi import almost_alibi as almost_alibi
