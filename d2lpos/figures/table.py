"""A table of results as a page sets it, and as text where there is no page."""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pandas import DataFrame


@dataclass(frozen=True)
class Table:
    """A frame whose numbers are words already."""

    words: "DataFrame"

    def _repr_mimebundle_(self, include=None, exclude=None):
        html = self.words.to_html(index=False, border=0, classes="results", justify="right")
        return {"text/html": html, "text/plain": self.words.to_string(index=False)}


def table(frame: "DataFrame", digits: int = 2) -> Table:
    """Return `frame` as a `Table`, with `digits` behind the point of its fractions.

    Write `table(frame)` as the last line of a cell, and its caption below, `**Table 2.1.** …`. The index
    becomes the first column if it has a name, and is left out if it has none. A missing value shows a dash.

    >>> import pandas as pd
    >>> losses = pd.DataFrame({"change": [0.0, -0.471]})
    >>> table(losses, digits=1).words["change"].tolist()
    ['0.0', '−0.5']
    """

    def say(value: object) -> str:
        if isinstance(value, float):
            return "–" if math.isnan(value) else f"{value:.{digits}f}".replace("-", "−")
        return str(value)

    frame = frame.rename_axis(columns=None)
    named = frame.reset_index() if any(frame.index.names) else frame
    return Table(named.map(say))
