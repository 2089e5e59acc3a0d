"""A slider over a figure: live where there is a kernel, over stored pictures where there is none."""

from collections.abc import Callable, Sequence
from hashlib import sha256
from html import escape
from typing import TYPE_CHECKING, Any

from matplotlib.figure import Figure

from .image import image
from .show import Picture, show

if TYPE_CHECKING:
    import ipywidgets

# JupyterLab takes arrow keys from a slider unless told not to.
PAGE = """\
<div data-explore="{key}" style="max-width:5.4in;margin:0 auto">
<div style="display:flex;align-items:center;gap:.75em;font:15px/1.4 var(--sans, sans-serif)">
<label style="flex:1;display:flex;align-items:center;gap:.75em">{name}
<input type="range" min="0" max="{last}" value="0" aria-valuetext="{text}" autocomplete="off" disabled
data-lm-suppress-shortcuts
style="flex:1;min-width:0;height:44px;margin:0;accent-color:var(--link, #0a5c9c)"></label>
<output style="min-width:{width}ch;font-weight:600;font-variant-numeric:tabular-nums">{text}</output>
</div>
<div>{first}</div>
{others}</div>
<script type="module">
for (const root of document.querySelectorAll('[data-explore="{key}"]')) {{
  const [input, output, first] = ['input', 'output', 'svg'].map(name => root.querySelector(name));
  if (!input.disabled) continue; // this one runs already
  const view = first.parentNode, frames = [[output.value, view.innerHTML]];
  for (const other of root.querySelectorAll('script')) frames.push([other.dataset.value, other.textContent]);
  (input.oninput = () => {{
    const [text, picture] = frames[input.value];
    view.innerHTML = picture;
    output.value = text;
    input.setAttribute('aria-valuetext', text);
  }})();
  input.disabled = false;
}}
</script>
"""


class Explorer:
    """What `explore` returns: the notebook shows it live, the page as a slider over stored pictures."""

    def __init__(
        self,
        draw: Callable[[Any], Figure],
        values: Sequence[Any],
        name: str,
        alt: str | Callable[[Any], str],
        frames: int,
    ):
        if len(values) < 2 or frames < 2:
            raise ValueError(
                f"a slider needs two values and frames, but there are {len(values)} and {frames}"
            )
        texts = [_text(value) for value in values]
        if len(set(texts)) < len(texts):
            raise ValueError(f"values must read differently; got {', '.join(texts)}")
        self.draw, self.values, self.name, self.alt = draw, values, name, alt
        last = min(frames, len(values)) - 1
        stored = [values[round(index * (len(values) - 1) / last)] for index in range(last + 1)]
        self.pictures = {_text(value): self.picture(value) for value in stored}
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
    frames: int = 12,
) -> Explorer:
    """Let the reader move a slider through `values` and see `draw(value)`, a matplotlib figure, change.

    `name` labels the slider. `alt` says in words what is seen: one text for all values, or a function from a
    value to its text. The page without a kernel stores at most `frames` pictures, evenly spaced in `values`,
    first and last among them; a kernel draws every value. Raises ValueError for fewer than two of either,
    and for values that read alike: of a float, six digits are shown.

    >>> def draw(slope):
    ...     fig, ax = figure()
    ...     ax.plot([0, 1], [0, slope])
    ...     return fig
    >>> view = explore(draw, [1, 2, 3], "slope", alt="A line.")
    """
    return Explorer(draw, values, name, alt, frames)


def _text(value: Any) -> str:
    return (f"{value:g}" if isinstance(value, float) else str(value)).replace("-", "−")
