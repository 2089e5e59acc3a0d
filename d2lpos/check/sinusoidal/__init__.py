"""The checks of chapter 2: clocks, what turns them, where they look alike, and what numbers can hold."""

# ruff: noqa: I001 (in the order of the chapter)
from .encode import encode as encode
from .turn import turn as turn
from .collision import collision as collision
from .first_rise import first_rise as first_rise
from .first_lost import first_lost as first_lost
