"""Where one head looks in a picture when content says nothing: the fits of the figure "patch".

All patches have the same query and the same key, so a score is a sum over pairs of a · cos θ + b · sin θ, where θ is
the turn between two places. `write` fits a and b to each target, and puts them into patch.json in this folder.
"""

import json
import math
from pathlib import Path

import torch
from torch import Tensor

from ..input.sinusoids import frequencies
from ..positions.grid import cells
from .hero import TARGETS

FITTED, PAIRS, BASE, SMALL = 8, 16, 10.0, 1e-4  # patches a side; of the head; how much a² + b² costs
HEADINGS = {"axial": 2, "mixed": 4}  # directions in which pairs turn, evenly around
FILE = Path(__file__).with_name("patch.json")


def omega(kind: str) -> Tensor:
    """Radians per row and per column, (2, pairs): each direction has the same frequencies, from 1 down.

    >>> omega("axial")[:, [0, 8]].tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    if kind == "axial":
        speeds, still = frequencies(PAIRS, BASE), torch.zeros(PAIRS // 2)
        return torch.stack([torch.cat([speeds, still]), torch.cat([still, speeds])]).double()
    speeds = frequencies(2 * PAIRS // HEADINGS[kind], BASE).double()
    heading = torch.arange(HEADINGS[kind]) * (math.pi / HEADINGS[kind])
    return torch.stack([torch.outer(heading.cos(), speeds), torch.outer(heading.sin(), speeds)]).flatten(1)


def aimed(target: str, offsets: Tensor) -> Tensor:
    """Whether an offset (…, 2) from query to key is in the target, half a step to each side included."""
    down, right = offsets.unbind(-1)
    off = {
        "row": down.abs(),
        "right": torch.maximum(down.abs(), (right - 1).abs()),
        "diagonal": (down - right).abs(),
        "ring": (down.hypot(right) - 3).abs(),
    }
    return off[target] <= 0.5


def waves(kind: str, offsets: Tensor) -> Tensor:
    """cos θ and sin θ of each pair at each offset; (…, 2 · pairs)."""
    turns = offsets @ omega(kind)
    return torch.cat([turns.cos(), turns.sin()], dim=-1)


def table(offsets: Tensor) -> Tensor:
    """What any function of rows plus any function of columns is made of: a number for each offset of both."""
    return torch.nn.functional.one_hot(offsets.long() + FITTED - 1, 2 * FITTED - 1).flatten(-2).double()


def problem(target: str) -> tuple[Tensor, Tensor]:
    """Offsets (queries, patches, 2) of all queries that see the target, and the weights that they should give."""
    at = cells(FITTED, FITTED).double()
    offsets = at - at[:, None]
    hits = aimed(target, offsets).double()
    sees = hits.any(1)
    return offsets[sees], hits[sees] / hits[sees].sum(1, keepdim=True)


def fit(features: Tensor, wanted: Tensor) -> Tensor:
    """The coefficients of features (queries, patches, n) whose softmax is nearest to `wanted`, by cross-entropy.

    The loss is convex, with a small price on squares: there is one best answer, and Newton's steps find it.
    """

    def loss(a: Tensor) -> Tensor:
        return SMALL * a.square().sum() - (wanted * (features @ a).log_softmax(1)).sum(1).mean()

    amplitudes = torch.zeros(features.shape[-1], dtype=torch.float64)
    for _ in range(100):
        now = (features @ amplitudes).softmax(1)
        mean = (now[:, None] @ features).squeeze(1)
        slope = ((now - wanted)[:, None] @ features).mean((0, 1)) + 2 * SMALL * amplitudes
        bend = (features.mT @ (now[..., None] * features)).mean(0) - mean.mT @ mean / len(mean)
        step = torch.linalg.solve(bend + 2 * SMALL * torch.eye(len(amplitudes)), slope)
        while loss(amplitudes - step) > loss(amplitudes) + 1e-12:
            step = step / 2
        amplitudes = amplitudes - step
        if slope.abs().max() < 1e-9:
            break
    return amplitudes


def left(features: Tensor, amplitudes: Tensor, wanted: Tensor) -> float:
    """The share of the target's variance that is left, where even weights leave all of it."""
    errors = (features @ amplitudes).softmax(1) - wanted
    return (errors.square().sum() / (wanted - 1 / wanted.shape[1]).square().sum()).item()


def fits() -> dict:
    """All that patch.json holds; `sum` is what the best function of rows plus one of columns leaves."""
    made: dict[str, dict] = {}
    for target in TARGETS:
        offsets, wanted = problem(target)
        of: dict = {"left": {}}
        for kind in HEADINGS:
            features = waves(kind, offsets)
            amplitudes = torch.round(fit(features, wanted), decimals=3)
            of[kind] = (amplitudes + 0.0).view(2, PAIRS).tolist()
            of["left"][kind] = round(left(features, amplitudes, wanted), 3)
        any_sum = table(offsets)
        of["left"]["sum"] = round(left(any_sum, fit(any_sum, wanted), wanted), 3)
        made[target] = of
    return made


def write() -> None:
    FILE.write_text(json.dumps(fits(), separators=(",", ":")) + "\n", "utf-8")
