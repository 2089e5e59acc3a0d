"""The reach of a lead."""

import math

from ..cases import exact_dtype
from ..verdict import Answer, Case, Check, call


def count_wins(lead: float, slope: float) -> int:
    bound = (math.log1p(math.exp(lead)) + math.log1p(-math.exp(-slope))) / slope
    return max(0, math.ceil(bound))


def reach_case(lead: float, slope: float) -> Case:
    return exact_dtype(call(f"lead = {lead:g}, slope = {slope:g}", lead=lead, slope=slope))


reach = Check(
    "reach",
    reference=count_wins,
    properties={
        "the distances at which it holds more than half": [
            reach_case(3.0, 0.5), reach_case(2.0, 0.25), reach_case(1.0, 0.5), reach_case(7.5, 1 / 1024),
            reach_case(2.5, 0.25), reach_case(13.5, 1.5),
        ],
        "none, where near keys are too many": [
            reach_case(3.0, 1 / 64), reach_case(0.0, 1 / 256), reach_case(0.25, 0.5), reach_case(0.0, math.log(2)),
        ],
    },
    mistakes={
        "The needle is counted among its rivals. It takes the place of one.":
            "math.log1p(math.exp(lead)) → lead",
        "The needle is compared with the nearest key alone. All others add up.":
            lambda lead, slope: math.ceil(lead / slope),
        "One too small: distance 0 counts as well.": lambda lead, slope: max(0, count_wins(lead, slope) - 1),
        "One too large: this is the first distance that is lost, counted as won.":
            lambda lead, slope: count_wins(lead, slope) + 1,
        "(g + ln m)/m is an estimate for small slopes and large leads. Use (6.8).":
            lambda lead, slope: max(0, math.ceil((lead + math.log(slope)) / slope)),
        "Where the bound is negative, no distance is won: return 0.":
            "max(0, math.ceil(bound)) → math.ceil(bound)",
        "The bound is not divided by the slope.":
            lambda lead, slope: max(0, math.ceil(math.log1p(math.exp(lead)) + math.log1p(-math.exp(-slope)))),
    },
    answers=(Answer("best", (1 / 8, 1 / 64, 1 / 256), within=1e-4, mistakes={
        "These are the distances. Which slopes reach them?": (8, 54, 1140),
        "Slopes are below 1. These are one divided by them.": (8, 64, 256),
        "These are exponents. The slopes are 2 to the power of minus them.": (3, 6, 8),
        "The steepest is best at no lead of these: try the others.": (1 / 2, 1 / 2, 1 / 2),
    }),),
    as_good={"max(0, math.ceil(bound)) → max(math.ceil(bound), 0)": "A maximum has no order."},
)
