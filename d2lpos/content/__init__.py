"""The text as its own ruler: distances that are read from the words."""

from .cope import CoPE
from .distance import since
from .fox import FoX
from .inkling import Inkling
from .path import PaTH, walk

__all__ = [
    "CoPE",
    "FoX",
    "Inkling",
    "PaTH",
    "since",
    "walk",
]
