"""The checks of the project that settles a claim: an interval, a verdict, seeds, Holm's correction, and peeking."""

# ruff: noqa: I001 (in the order of the chapter)
from .interval import interval as interval
from .decide import decide as decide
from .seeds import seeds as seeds
from .holm import holm as holm
from .peeking import peeking as peeking
