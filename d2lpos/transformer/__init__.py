"""Attention, its masks and caches, and the small Transformer of the book."""

from .attention import Attention, attend, attention_weights
from .cache import Cache
from .dropout import PLACEMENTS, Dropped, combine, drop, segment_ends, special_tokens
from .masks import Mask, causal_mask, segment_mask, window_mask
from .model import Transformer
from .prefix import resume_at

__all__ = [
    "PLACEMENTS", "Attention", "Cache", "Dropped", "Mask", "Transformer", "attend", "attention_weights",
    "causal_mask", "combine", "drop", "resume_at", "segment_ends", "segment_mask", "special_tokens", "window_mask",
]
