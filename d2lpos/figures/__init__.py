"""The figures of the book. `import d2lpos` leaves this package alone, because matplotlib takes its time."""

from d2lpos.figures.doors import doors
from d2lpos.figures.explore import explore
from d2lpos.figures.show import show
from d2lpos.figures.style import STYLE, figure, label_line

__all__ = ["STYLE", "doors", "explore", "figure", "label_line", "show"]
