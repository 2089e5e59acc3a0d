"""Experiments that are data: a run is a frozen value, its record is kept, and a chapter plots from records."""

from .tasks import order
from .training import accuracy, train

__all__ = ["accuracy", "order", "train"]
