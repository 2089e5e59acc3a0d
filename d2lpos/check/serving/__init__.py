"""The checks of 11A: what requests share, documents that are joined, how often a key turns."""

# ruff: noqa: I001 (in the order of the notebook)
from .shared import shared as shared
from .joined import joined as joined
from .turned import turned as turned
