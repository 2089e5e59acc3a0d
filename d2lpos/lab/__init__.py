"""Experiments small enough to run while you read."""

from .tasks import order
from .training import accuracy, train

__all__ = ["accuracy", "order", "train"]
