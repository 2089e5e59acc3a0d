"""The checks of the project that reads heads: their weights, two scores, a fair null, and what a head is worth."""

# ruff: noqa: I001 (in the order of the chapter)
from .all_weights import all_weights as all_weights
from .score import score as score
from .induction import induction as induction
from .standing_out import standing_out as standing_out
from .worth import worth as worth
