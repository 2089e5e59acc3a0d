"""Door 2, queries and keys: turned by their positions, so that a score knows their offset."""

from .huggingface import replace_rotary
from .mixed import Mixed
from .mrope import MRoPE
from .normed import Normed
from .pope import PoPE
from .rope import RoPE, convert, permute_qk_rows, rotate, rotate_fast
from .rope_values import RoPEValues

__all__ = [
    "MRoPE", "Mixed", "Normed", "PoPE", "RoPE", "RoPEValues", "convert", "permute_qk_rows",
    "replace_rotary", "rotate", "rotate_fast",
]
