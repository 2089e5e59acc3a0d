"""The checks of chapter 9: a head that looks one back, a layout found in weights, padding, held pairs, cut texts."""

# ruff: noqa: I001 (in the order of the chapter)
from .previous_head import previous_head as previous_head
from .layout import layout as layout
from .padded import padded as padded
from .frozen import frozen as frozen
from .cuts import cuts as cuts
