"""What a position is: a number in a tensor, made by counting, checked once, compared by offsets."""

from .checks import as_float, as_index, offsets
from .grid import cells, coordinates
from .packing import cu_seqlens, segments_from_cu_seqlens, segments_from_positions
from .position_ids import from_padding, from_segments, interpolate, next_positions, random_positions, shift
from .ranks import contiguous, zigzag

__all__ = [
    "as_float", "as_index", "cells", "contiguous", "coordinates", "cu_seqlens", "from_padding", "from_segments",
    "interpolate", "next_positions", "offsets", "random_positions", "segments_from_cu_seqlens",
    "segments_from_positions", "shift", "zigzag",
]
