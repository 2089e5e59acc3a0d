"""Where the records and the tables that the book publishes are."""

from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

RESULTS = Path(__file__).parents[2] / "book" / "results"


def published(name: str) -> Traversable:
    """The folder "results", "benchmarks" or "models": the book's or, where there is no book, the package's own."""
    folder = RESULTS.parent / name
    return folder if RESULTS.parent.is_dir() else files(f"d2lpos.{name}")
