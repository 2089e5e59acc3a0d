"""What layers of a stack could give to a needle, and what trained stacks found: the numbers of the figure "stack" in words.

The records are read from a file that is written where they are published.
"""

import json
import math
from collections.abc import Sequence
from functools import cache
from itertools import accumulate, groupby
from statistics import fmean

from ..runtime.published import published
from .board import fixed

TRAINED, WINDOW, LEAD = 32, 16, 7  # tokens of training and of a window; nats by which the needle leads


@cache
def numbers() -> dict:
    """The accuracy of each trained stack, as `d2lpos.lab.stacks` says."""
    return json.loads((published("results") / "stacks-needle.json").read_text("utf-8"))


def weight(kind: str, length: int, sharper: bool) -> float | None:
    """The weight that a layer gives to the far end of a text; None where theory does not say."""
    if kind == "full" and length > TRAINED:
        return None
    if kind == "window" and length > WINDOW:
        return 0.0
    scale = max(1.0, math.log(length) / math.log(TRAINED)) if sharper and kind != "window" else 1.0
    return 1 / (1 + (length - 1) * math.exp(-scale * LEAD))


def reach(layers: Sequence[str], length: int) -> list[int]:
    """How many tokens back the last token has heard of, after each layer: windows add up."""
    steps = (WINDOW - 1 if kind == "window" else length - 1 for kind in layers)
    return [min(length - 1, far) for far in accumulate(steps)]


def recorded(layers: Sequence[str], sharper: bool) -> list[list[float]] | None:
    """The shares of needles that trained stacks found, by length and seed; None where no such stack is on record."""
    cells = next((one["found"] for one in numbers()["stacks"] if one["layers"] == list(layers)), None)
    return cells and [
        [share / 1000 for share in row] for row in cells["sharper" if sharper else "as trained"]
    ]


def name(layers: Sequence[str]) -> str:
    """
    >>> name(["window", "window", "window", "none"])
    '3 window, 1 none'
    """
    return ", ".join(f"{len(list(group))} {kind}" for kind, group in groupby(layers))


def beside(length: int) -> int:
    """The place of the recorded length that a length is nearest to, by ratio."""
    lengths = numbers()["lengths"]
    return min(range(len(lengths)), key=lambda i: abs(math.log(lengths[i] / length)))


def describe_state(layers: Sequence[str], sharper: bool, length: int, record: bool) -> str:
    data, far = numbers(), reach(layers, length)[-1]
    possible = [weight(kind, length, sharper) for kind in layers]
    most = max(possible, key=lambda share: share or 0)
    text = (
        f"A stack of four layers, {', '.join(layers)}, reads a text of {length} tokens"
        f"{', with logits that are sharper, the longer it is' if sharper else ''}. Texts of training have at most "
        f"{data['trained']}. In theory, a needle at the far end leads all other scores by {LEAD} nats. "
    )
    if most:
        text += f"Then {listed(possible, most)} could give it {percent(most)} of its weight. "
    if None in possible:
        text += f"What {listed(possible, None)} would give it, theory does not say: training never showed these angles. "
    if 0 in possible:
        text += f"A window of {WINDOW} tokens does not hold it: {listed(possible, 0)} cannot see it. "
    if all(share == 0 for share in possible):
        text += f"Windows pass things on, in all over {far} tokens. "
    if not record:
        return text.rstrip()
    shares = recorded(layers, sharper)
    if shares is None:
        return f"{text}No such stack was trained."
    at = beside(length)
    seeds = shares[at]
    ends, models = [percent(end(seeds)) for end in (min, max)], "models" if len(seeds) > 1 else "model"
    spread = f" in the mean, from {ends[0]} to {ends[1]}" if ends[0] != ends[1] else ""
    return (
        f"{text}Of needles anywhere in {data['lengths'][at]} tokens, {len(seeds)} trained {models} found "
        f"{percent(fmean(seeds))}{spread}; in {data['lengths'][0]} tokens, {percent(fmean(shares[0]))}."
    )


def listed(possible: list[float | None], share: float | None) -> str:
    """The layers that give a share, in words."""
    *first, last = [str(n) for n, other in enumerate(possible, 1) if other == share]
    return f"layers {', '.join(first)} and {last}" if first else f"layer {last}"


def percent(share: float) -> str:
    return "over 99 %" if 0.995 < share < 1 else f"{fixed(100 * share, 0)} %"
