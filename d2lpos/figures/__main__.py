"""`python -m d2lpos.figures book/_static` writes the pictures that are files of the book."""

import sys
from pathlib import Path

from .doors import write

write(Path(sys.argv[1]))
