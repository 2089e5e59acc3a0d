"""One emblem for each encoding: its matrix, always in the same frame.

Rows are queries, columns are keys, 16 positions each. The shade says what position alone adds to a score:
full color for the largest entry of a matrix, none for the smallest.
"""

from itertools import groupby

import torch
from torch import Tensor

from ..bias.alibi import bias, slopes
from ..bias.t5 import bucket
from ..input.sinusoids import sinusoidal
from ..rotary.rope import RoPE
from .show import Picture, picture
from .style import PAGE, STYLE

SIZE = 16
LEVELS = 9  # about as many shades as an eye tells apart

ALT = {
    "none": "an empty frame, because position adds nothing",
    "sinusoidal": "a strong diagonal that fades to both sides",
    "learned": "a strong diagonal in noise: a table of random numbers, as it is before training",
    "rope": "stripes along the diagonal, because the rotation of two pairs comes round again",
    "relative": "stripes along the diagonal, wider where they are farther from it and different on its two "
    "sides: one number for each bucket of offsets, random as before training",
    "alibi": "a diagonal that fades evenly to both sides",
}


def matrix(key: str) -> Tensor:
    """What position alone adds to the score of each query and key; (16, 16)."""
    positions = torch.arange(SIZE)
    generator = torch.Generator().manual_seed(1)
    if key == "none":
        return torch.zeros(SIZE, SIZE)
    if key == "sinusoidal":
        table = sinusoidal(positions, 64)
        return table @ table.T
    if key == "learned":
        table = torch.randn(SIZE, 32, generator=generator)
        return table @ table.T
    if key == "rope":
        same = torch.ones(1, SIZE, 4)
        q, k = RoPE(4, base=100).rotate(same, same, positions, positions)
        return (q @ k.mT)[0]
    if key == "relative":
        offsets = positions - positions[:, None]
        return torch.randn(16, generator=generator)[bucket(offsets, buckets=16, max_distance=16)]
    if key == "alibi":
        return bias(positions, positions, slopes(1))[0]
    raise ValueError(f"key is {key!r}; the encodings are {', '.join(STYLE)}")


def emblem(key: str) -> Picture:
    """The emblem of one encoding, by its key in `STYLE`.

    >>> emblem("alibi").alt[:27]
    'Emblem of ALiBi: a diagonal'
    """
    body = _draw(key)
    return picture(body, f"Emblem of {STYLE[key].label}: {ALT[key]}.", (96, 96), (SIZE + 2, SIZE + 2))


def emblems() -> Picture:
    """The emblems of all encodings, with their names.

    >>> emblems().alt[:28]
    'The emblems of six encodings'
    """
    parts = []
    for index, (key, style) in enumerate(STYLE.items()):
        x, y = 122 * (index % 3), 142 * (index // 3)
        parts.append(f'<g transform="translate({x} {y}) scale(6.4)">{_draw(key)}</g>')
        parts.append(
            f'<text x="{x + 58}" y="{y + 129}" font-size="13" text-anchor="middle">{style.label}</text>'
        )
    alt = " ".join(f"{style.label}: {ALT[key]}." for key, style in STYLE.items())
    return picture("\n".join(parts), f"The emblems of six encodings. {alt}", (432, 333.6), (360, 278))


def _draw(key: str) -> str:
    values = matrix(key)
    values = values - values.min()
    levels = (LEVELS * values / values.max().clamp(min=1e-9)).round().int().tolist()
    runs = {level: "" for level in range(1, LEVELS + 1)}
    for y, row in enumerate(levels, start=1):
        x = 1
        for level, cells in groupby(row):
            width = len(list(cells))
            if level:
                runs[level] += f"M{x} {y}h{width}v1h-{width}z"
            x += width
    shades = "".join(f'<path d="{d}" fill-opacity="{level / LEVELS:.2f}"/>' for level, d in runs.items() if d)
    ink = f"var(--ink-2, {PAGE['ink-2']})"
    frame = f'<path d="M.9 .9h16.2v16.2h-16.2z" fill="none" stroke="{ink}" stroke-width=".15"/>'
    return f'<g fill="{STYLE[key].css}" shape-rendering="crispEdges">{shades}</g>{frame}'
