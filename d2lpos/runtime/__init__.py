"""What the package asks of a machine: threads, Ctrl-C, other packages, and where records lie."""

from . import extras as extras
from . import interrupt as interrupt  # before PyTorch loads
