"""Doors 3 and 4: a vector for each offset, which queries, keys or values meet."""

from .deberta import DeBERTa
from .shaw import Shaw, ShawKeys, clipped_index
from .transformer_xl import TransformerXL

__all__ = ["DeBERTa", "Shaw", "ShawKeys", "TransformerXL", "clipped_index"]
