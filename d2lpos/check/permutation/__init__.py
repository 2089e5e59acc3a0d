"""The checks of chapter 1: which layers, masks and biases commute with a change of order."""

# ruff: noqa: I001 (in the order of the chapter)
from .layers import layers as layers
from .attention import attention as attention
from .is_equivariant import is_equivariant as is_equivariant
from .permute_mask import permute_mask as permute_mask
from .symmetries import symmetries as symmetries
from .recover_positions import recover_positions as recover_positions
