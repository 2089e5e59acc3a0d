"""The text as its own ruler: distances that are read from the words."""

from .cope import CoPE
from .distance import gated_distance
from .fox import FoX
from .inkling import Inkling
from .path import PaTH, householder_scores

__all__ = ["CoPE", "FoX", "Inkling", "PaTH", "gated_distance", "householder_scores"]
