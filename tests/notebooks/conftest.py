"""The tests of the notebooks import the book's Sphinx extension from where Sphinx loads it."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "book" / "_ext"))
