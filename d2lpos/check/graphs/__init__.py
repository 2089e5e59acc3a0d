"""The checks of chapter 13B: rings, eigenvectors, and times."""

# ruff: noqa: I001 (in the order of the chapter)
from .around import around as around
from .heat import heat as heat
from .time_ids import time_ids as time_ids
