"""`python -m d2lpos.figures book` writes the pictures that are files of the book."""

import sys
from pathlib import Path

from . import essay
from .doors import write

book = Path(sys.argv[1])
write(book / "_static")
essay.write(book / "figures")
