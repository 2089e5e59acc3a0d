"""The window."""

import math

from ..cases import exact_dtype
from ..verdict import Answer, Case, Check, call


def effective_window(slope: float, eps: float, spread: float) -> int:
    return max(1, math.ceil((spread - math.log(eps)) / slope))


def window_case(slope: float, eps: float, spread: float) -> Case:
    return exact_dtype(call(f"slope = {slope:g}, eps = {eps:g}, spread = {spread:g}", slope=slope, eps=eps, spread=spread))


def rounded(slope, eps, spread):
    return max(1, round((spread + math.log(1 / eps)) / slope))


def cut_off_and_one(slope, eps, spread):
    return max(1, int((spread + math.log(1 / eps)) / slope) + 1)


window = Check(
    "window",
    reference=effective_window,
    properties={
        "equal scores": [
            window_case(0.5, 0.01, 0.0), window_case(0.25, 0.05, 0.0), window_case(1 / 4096, 0.01, 0.0),
        ],
        "scores that differ by spread": [
            window_case(0.5, 0.01, 2.8), window_case(1 / 64, 0.25, 10.0), window_case(0.25, 1.0, 2.0),
            window_case(1 / 256, 0.05, 30.0),
        ],
        "at least one key": [window_case(2.0, 1.0, 0.0)],
    },
    mistakes={
        "Rounded down: the share beyond is still more than eps.":
            lambda slope, eps, spread: max(1, math.floor((spread - math.log(eps)) / slope)),
        "Rounded to the nearest, which may be too small. Round up.": rounded,
        "One too large where the quotient is whole. Round up with math.ceil.": cut_off_and_one,
        "This is the distance at which one key falls below eps of all. Far keys add up: use (6.4).":
            lambda slope, eps, spread: max(1, math.ceil(math.log((1 - math.exp(-slope)) / eps) / slope)),
        "This is 1 for small eps. ln(eps) is negative, and you need ln(1/eps); and take max(1, …).":
            lambda slope, eps, spread: max(1, math.ceil((spread + math.log(eps)) / slope)),
        "Multiplied by the slope. A steep head has a short window: divide.":
            lambda slope, eps, spread: max(1, math.ceil((spread - math.log(eps)) * slope)),
        "The spread is left out. Content widens the window by c/m.":
            lambda slope, eps, spread: effective_window(slope, eps, 0.0),
        "Where eps is 1 this is 0. The smallest window is one key.":
            lambda slope, eps, spread: math.ceil((spread - math.log(eps)) / slope),
    },
    answers=(Answer("wide", 6299, {
        "Rounded down: the share beyond is still more than eps.": 6298,
        "eps is left out: ln(1/0.01) is 4.6.": 5120,
        "The spread is left out. Content widens the window by c/m.": 1179,
        "ln(0.01) is negative, and you need ln(1/0.01).": 3942,
    }),),
    cards=(rounded, cut_off_and_one),
    as_good={
        "max(1, math.ceil((spread - math.log(eps)) / slope)) → max(math.ceil((spread - math.log(eps)) / slope), 1)": "A maximum has no order.",
    },
)
