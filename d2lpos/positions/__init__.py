"""What a position is: a number in a tensor, made by counting, checked once, compared by offsets."""

from .checks import offsets, real, whole
from .grid import cells, coordinates
from .packing import cu_seqlens, segments_from_cu_seqlens, segments_from_positions
from .position_ids import following, from_padding, from_segments, interpolate, random_positions, shift

__all__ = [
    "cells",
    "coordinates",
    "cu_seqlens",
    "following",
    "from_padding",
    "from_segments",
    "interpolate",
    "offsets",
    "random_positions",
    "real",
    "segments_from_cu_seqlens",
    "segments_from_positions",
    "shift",
    "whole",
]
