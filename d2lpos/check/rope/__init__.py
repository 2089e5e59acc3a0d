"""The checks of chapter 4: turning pairs, undoing a distance, two layouts, a cache, open circles, a ramp."""

# ruff: noqa: I001 (in the order of the chapter)
from .turn_pairs import turn_pairs as turn_pairs
from .best_key import best_key as best_key
from .to_half import to_half as to_half
from .step import step as step
from .first_open import first_open as first_open
from .ramp import ramp as ramp
