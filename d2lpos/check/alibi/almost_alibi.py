"""ALiBi inside KERPLE."""

import math

import torch

from ...bias.kerple import logarithmic
from ..cases import several
from ..verdict import Case, Check, call, is_empty


def nearly_a_line(slope: float, far: float, gap: float) -> tuple[float, float]:
    r2 = 2 * gap / (slope * far**2)
    return slope / r2, r2


def verdict_on(parameters: object, slope: float, far: int, gap: float) -> object:
    """In words, how far the curve is from the line; nothing comes back as nothing."""
    if is_empty(parameters):
        return parameters
    pair = several(parameters, "r1", "r2")
    for name, value in zip(("r1", "r2"), pair, strict=True):
        if not 0 < value < math.inf:
            return f"{name} = {value:.4g}, which is not positive"
    r1, r2 = (torch.tensor(value, dtype=torch.float64) for value in pair)
    distance = torch.linspace(0, far, 10_001, dtype=torch.float64).round()
    apart = (logarithmic(distance, r1, r2) + slope * distance).abs().max()
    if apart <= gap * 1.001:  # r1 and r2 may be rounded to float32
        return "within the gap"
    side = "above" if slope * far > r1 * math.log1p(r2 * far) else "below"
    return f"{apart / gap:.4g} times the gap away, at far {side} the line"


def line_case(slope: float, far: int, gap: float) -> Case:
    case = call(f"slope = {slope:g}, far = {far}, gap = {gap:g}", slope=slope, far=far, gap=gap)
    return Case(case.text, lambda answer: verdict_on(case.ask(answer), slope, far, gap))


almost_alibi = Check(
    "almost_alibi",
    reference=nearly_a_line,
    properties={
        "within the gap of the line, up to far": [
            line_case(2.0, 4, 0.1), line_case(0.25, 100, 2.0), line_case(4.0, 2, 0.5),
        ],
        "small gaps, far distances": [
            line_case(0.5, 1000, 0.01), line_case(1 / 256, 2000, 0.001), line_case(0.001, 1_000_000, 0.1),
            line_case(0.001, 10, 0.00001), line_case(0.001, 10**10, 10_000),
        ],
    },
    mistakes={
        "With r2 = 1 this is far from a line. Only the power form is ALiBi at r2 = 1.":
            lambda slope, far, gap: (slope, 1.0),
        "The curve is too flat by the factor r2: at 0 its slope is r1 · r2, not r1.":
            lambda slope, far, gap: (slope, nearly_a_line(slope, far, gap)[1]),
        "r1 and r2 are exchanged.": lambda slope, far, gap: nearly_a_line(slope, far, gap)[::-1],
        "The error is m · r2 · far² / 2: it grows with the square of far.":
            lambda slope, far, gap: (slope**2 * far / (2 * gap), 2 * gap / (slope * far)),
        "The slope is missing in r2: the error is m · r2 · far² / 2.":
            lambda slope, far, gap: (slope * far**2 / (2 * gap), 2 * gap / far**2),
        "The bias is −r1 ln(…), so r1 is positive.":
            lambda slope, far, gap: (-nearly_a_line(slope, far, gap)[0], nearly_a_line(slope, far, gap)[1]),
    },
    as_good={
        "2 * gap → gap": "A smaller r2 comes nearer to the line.",
        "2 * gap → 1 * gap": "A smaller r2 comes nearer to the line.",
        "far ** 2 → far ** 3": "A smaller r2 comes nearer to the line.",
    },
)
