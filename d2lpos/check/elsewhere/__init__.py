"""The checks of chapter 13: uneven axes, ids that merge, a film with sound, a mask of chunks."""

# ruff: noqa: I001 (in the order of the chapter)
from .axis_angles import axis_angles as axis_angles
from .merged import merged as merged
from .film_ids import film_ids as film_ids
from .chunk_mask import chunk_mask as chunk_mask
