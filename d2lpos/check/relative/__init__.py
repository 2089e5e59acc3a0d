"""The checks of chapter 5: vectors of offsets, the skew for both sides, buckets, and biases that see offsets."""

# ruff: noqa: I001 (in the order of the chapter)
from .relative_scores import relative_scores as relative_scores
from .skew_both import skew_both as skew_both
from .to_bucket import to_bucket as to_bucket
from .widest import widest as widest
from .offsets_only import offsets_only as offsets_only
