"""A slider over a figure: live where there is a kernel, over stored pictures where there is none."""

from collections.abc import Callable, Sequence
from hashlib import sha256
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from matplotlib.figure import Figure

from .image import image
from .show import Picture, show

if TYPE_CHECKING:
    import ipywidgets

# JupyterLab takes arrow keys from a slider unless told not to.
PAGE = Path(__file__).with_name("explore.html").read_text("utf-8")


class Explorer:
    """What `explore` returns: the notebook shows it live, the page as a slider over stored pictures."""

    def __init__(
        self,
        draw: Callable[[Any], Figure],
        values: Sequence[Any],
        name: str,
        alt: str | Callable[[Any], str],
    ):
        if len(values) < 2:
            raise ValueError(f"a slider needs two values, but there are {len(values)}")
        texts = [_text(value) for value in values]
        if len(set(texts)) < len(texts):
            raise ValueError(f"values must read differently; got {', '.join(texts)}")
        self.draw, self.values, self.name, self.alt = draw, values, name, alt
        self.pictures = {text: self.picture(value) for text, value in zip(texts, values, strict=True)}
        self.html = self._html()

    def picture(self, value: Any) -> Picture:
        return show(self.draw(value), self.alt(value) if callable(self.alt) else self.alt)

    def live(self) -> "ipywidgets.VBox":
        """The slider over all values, which draws as it moves."""
        options = [(_text(value), value) for value in self.values]
        import ipywidgets

        slider = ipywidgets.SelectionSlider(options=options, description=self.name)
        view = ipywidgets.HTML(self.picture(self.values[0]).svg)
        slider.observe(lambda change: view.set_trait("value", self.picture(change["new"]).svg), names="value")
        return ipywidgets.VBox([slider, view])

    def _html(self) -> str:
        (text, first), *others = self.pictures.items()
        parts = {
            "name": escape(self.name),
            "last": len(others),
            "text": escape(text),
            "width": max(map(len, self.pictures)),
            "first": first.svg,
            "others": "".join(
                f'<script type="image/svg+xml" data-value="{escape(text)}">\n{picture.svg}</script>\n'
                for text, picture in others
            ),
        }
        words = [self.name, *((text, picture.alt) for text, picture in self.pictures.items())]
        key = sha256(repr(words).encode()).hexdigest()[:12]
        return PAGE.format(key=key, **parts)

    def _repr_mimebundle_(self, include=None, exclude=None):
        first, html, view = next(iter(self.pictures.values())), self.html, {}
        from IPython import get_ipython  # late: a script that draws no page has neither

        if getattr(get_ipython(), "kernel", None):
            try:
                import ipywidgets  # noqa: F401
            except ModuleNotFoundError:
                fewer = f"The slider steps through {len(self.pictures)} stored pictures, because ipywidgets is not installed."
                html += f"<p>{fewer}</p>\n"
            else:  # by hand, because ipywidgets 7 has no `_repr_mimebundle_`
                live = {"version_major": 2, "version_minor": 0, "model_id": self.live().model_id}
                view = {"application/vnd.jupyter.widget-view+json": live}
        return {"text/html": image(first.svg, first.alt, html), "text/plain": first.alt} | view


def explore(
    draw: Callable[[Any], Figure],
    values: Sequence[Any],
    name: str,
    alt: str | Callable[[Any], str],
) -> Explorer:
    """A slider for `values`, with the matplotlib figure `draw(value)` for the value that is chosen.

    `name` labels the slider. `alt` describes the figure in words: one text for all values, or a function from a
    value to its text. The output holds a picture for each value. Raises ValueError for fewer than two values,
    and for values that read alike: of a float, six digits are shown.

    >>> def draw(slope):
    ...     fig, ax = figure()
    ...     ax.plot([0, 1], [0, slope])
    ...     return fig
    >>> view = explore(draw, [1, 2, 3], "slope", alt="A line.")
    """
    return Explorer(draw, values, name, alt)


def _text(value: Any) -> str:
    return (f"{value:g}" if isinstance(value, float) else str(value)).replace("-", "−")
