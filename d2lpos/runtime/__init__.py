"""What the package asks of a machine: threads, Ctrl-C, and where records lie."""

from . import interrupt as interrupt  # before PyTorch loads
