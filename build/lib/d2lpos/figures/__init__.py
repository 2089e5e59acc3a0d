"""The figures of the book. `import d2lpos` leaves this package alone, because matplotlib takes its time."""

from .doors import doors
from .emblem import emblem, emblems
from .explore import explore
from .hero import hero
from .machine import machine
from .show import show
from .style import STYLE, figure, label_line
from .table import table

__all__ = ["STYLE", "doors", "emblem", "emblems", "explore", "figure", "hero", "label_line", "machine", "show", "table"]
