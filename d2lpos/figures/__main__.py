"""`python -m d2lpos.figures book` writes the pictures that are files of the book."""

import sys
from pathlib import Path

from . import essay

essay.write(Path(sys.argv[1], "figures"))
