"""A story: a drawing in steps, which plays by itself and goes from step to step by hand.

Python draws it once, as it stands at the last step; that is what paper and pages without scripts show. What
changes on the way is written at each part, and `story.js` moves between the steps.
"""

import json
import re
from dataclasses import dataclass
from hashlib import sha256
from html import escape
from pathlib import Path

from d2lpos.figures.hero import module
from d2lpos.figures.show import picture

# Unlike a hero, a story stands in pages alone: it may leave its program there for the next one.
SCRIPT = Path(__file__).with_suffix("")  # of `story.js`, which stands beside this file
PROGRAM = """"use strict"; {{
{0}globalThis.story = render;
}}
"""
PAGE = """\
<div data-hero="{key}">{drawing}</div>
<script>
{program}story(document.currentScript.previousElementSibling, {arguments});
</script>
"""
REST, GLIDE = 2.0, 1.0  # seconds at a step, and to the next


def part(tag: str, *inside: str | list[str], **attributes: object) -> str:
    """One element of a drawing. A list has a value for each step, and its last one for all that follow.

    The words of an element may be a list, too; `_` in a name stands for a hyphen.

    >>> print(part("circle", r=4, cx=[10, 20]))
    <circle r="4" cx="20" data-steps='{"cx":[10,20]}'/>
    """
    steps = {name.replace("_", "-"): value for name, value in attributes.items() if isinstance(value, list)}
    if inside and isinstance(inside[0], list):
        steps["text"], inside = inside[0], (escape(inside[0][-1]),)
    values = {
        name.replace("_", "-"): value[-1] if isinstance(value, list) else value
        for name, value in attributes.items()
    }
    names = "".join(f' {name}="{escape(str(value))}"' for name, value in values.items())
    if steps:
        data = json.dumps(steps, ensure_ascii=False, separators=(",", ":"))
        names += f" data-steps='{escape(data, quote=False).replace(chr(39), '&#39;')}'"
    return f"<{tag}{names}>{''.join(inside)}</{tag}>" if inside else f"<{tag}{names}/>"


def plain(style: re.Match) -> str:
    """A style, and its declarations as attributes."""
    pairs = (declared.split(":") for declared in style[1].split(";") if declared)
    return style[0] + "".join(f' {name.strip()}="{value.strip()}"' for name, value in pairs)


@dataclass(frozen=True)
class Story:
    """A drawing of `size`, what it says at each of its steps, and words for those who cannot see it."""

    alt: str
    says: tuple[str, ...]
    size: tuple[int, int]
    parts: tuple[str, ...]
    rhythm: tuple[float, float] = (REST, GLIDE)

    def html(self, first: bool = True) -> str:
        """The figure for a page. The `first` one brings the program of all. Raises ValueError for an empty alt."""
        # The page makes classes of styles, and the figure's shadow root does not know them.
        parts = re.sub(r' style="([^"]*)"', plain, "\n".join(self.parts))
        drawing = picture(parts, self.alt, self.size, self.size).svg
        program = PROGRAM.format(re.sub("^export ", "", module(str(SCRIPT)), flags=re.MULTILINE)) if first else ""
        arguments = json.dumps({"play": True, "rhythm": self.rhythm, "says": self.says}, ensure_ascii=False)
        key = sha256((drawing + arguments).encode()).hexdigest()[:12]
        return PAGE.format(key=key, drawing=drawing, program=program, arguments=arguments)
