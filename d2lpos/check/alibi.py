"""The checks of chapter 6: slopes, two-sided and one-row biases, and how far a head sees."""

import math
from collections.abc import Callable

import torch
from torch import Tensor

from ..bias import alibi as package
from ..bias.kerple import logarithmic
from .cases import by_hand, either, several
from .verdict import Answer, Case, Check, Misconduct, call, nothing

# Slopes for any head count ----------------------------------------------------------------------------------


def geometric(count: int) -> list[float]:
    return [2 ** (-8 * h / count) for h in range(1, count + 1)]


def fill_up(heads: int) -> Tensor:
    below = 2 ** (heads.bit_length() - 1)
    return torch.tensor(geometric(below) + geometric(2 * below)[::2][: heads - below])


def filled_with(others: slice) -> Callable:
    """Fills up with other slopes of the larger sequence."""

    def answer(heads: int) -> Tensor:
        below = 2 ** (heads.bit_length() - 1)
        return torch.tensor(geometric(below) + geometric(2 * below)[others][: heads - below])

    return answer


def fill_up_from_above(heads: int) -> Tensor:
    """As many slopes as there are heads, from the sequence for the next larger power of two."""
    above = 2 ** (heads - 1).bit_length()
    return torch.tensor(geometric(above)[:heads])


def sorted_slopes(heads: int) -> Tensor:
    return fill_up(heads).sort(descending=True).values


def fill_up_always(heads: int) -> Tensor:
    """Fills up from the power of two below, also where heads is a power of two."""
    below = max(1, 2 ** ((heads - 1).bit_length() - 1) if heads > 1 else 1)
    return torch.tensor(geometric(below) + geometric(2 * below)[0::2][: heads - below])


def extra_first(heads: int) -> Tensor:
    below = 2 ** (heads.bit_length() - 1)
    return fill_up(heads).roll(heads - below)


def heads_case(heads: int) -> Case:
    return call(f"heads = {heads}", heads=heads)


released = Check(
    "released",
    reference=fill_up,
    properties={
        "powers of two": [heads_case(2), heads_case(1), heads_case(8), heads_case(16)],
        "other head counts": [heads_case(3), heads_case(12), heads_case(6), heads_case(71), heads_case(112)],
        "written by hand": [by_hand("heads = 12", package, "check_positive", "slopes", (12,))],
    },
    mistakes={
        "This is the paper's rule (6.2) for every head count. The released one fills up a power of two.": (
            lambda heads: torch.tensor(geometric(heads))
        ),
        "The extra slopes begin with the second of the larger sequence, which are those that you have. Begin "
        "with the first.": filled_with(slice(1, None, 2)),
        "The extra slopes are consecutive. Take every other one: [0::2].": filled_with(slice(None)),
        "This cuts off the sequence for the next larger power of two.": fill_up_from_above,
        "The slopes are right, but sorted. Head 1 keeps the first of the smaller sequence.": sorted_slopes,
        "The extra slopes come first. They belong behind the others.": extra_first,
        "A power of two is filled up here, too. It has a sequence of its own.": fill_up_always,
        "The sequence begins with 1. Heads count from 1: h = 1 … H.": (
            lambda heads: fill_up(heads) * 2 ** (8 / 2 ** (heads.bit_length() - 1))
        ),
        "The exponent lost its minus: slopes are below 1.": lambda heads: 1 / fill_up(heads),
        "The ratio is always 1/2. It is 2^(−8/H): only with eight heads is that a half.": (
            lambda heads: 0.5 ** torch.arange(1.0, heads + 1)
        ),
        "These are the biases' signs: return positive slopes.": lambda heads: -fill_up(heads),
        "The order is turned around: head 1 has the steepest slope.": lambda heads: fill_up(heads).flip(0),
        "float64 is not asked for. torch.tensor of Python floats gives float32.": (
            lambda heads: fill_up(heads).double()
        ),
    },
)


# A slope for each side --------------------------------------------------------------------------------------


def sided(q_positions: Tensor, k_positions: Tensor, left: Tensor, right: Tensor) -> Tensor:
    offset = k_positions - q_positions[:, None]
    return left[:, None, None] * offset.clamp(max=0) - right[:, None, None] * offset.clamp(min=0)


def by_index(q_positions: Tensor, k_positions: Tensor, left: Tensor, right: Tensor) -> Tensor:
    return sided(torch.arange(len(q_positions)), torch.arange(len(k_positions)), left, right)


def side_case(label: str, q: list, k: list, left: list, right: list) -> Case:
    """float64 is as right as float32 here."""
    case = call(
        f"{label}left {left}, right {right}",
        q_positions=torch.tensor(q),
        k_positions=torch.tensor(k),
        left=torch.tensor(left),
        right=torch.tensor(right),
    )
    return either(case)


HEAD = ([0.5], [0.25])
two_sided = Check(
    "two_sided",
    reference=sided,
    properties={
        "each head loses left · distance before the query, right · distance after it": [
            side_case("positions 0, 1, 2; ", [0, 1, 2], [0, 1, 2], *HEAD),
            side_case("positions 0, 1, 2; ", [0, 1, 2], [0, 1, 2], [0.5, 0.25, 1.0], [0.25, 1.0, 0.125]),
            side_case("queries 0, 1; keys 0, 1, 2; ", [0, 1], [0, 1, 2], *HEAD),
        ],
        "positions as they come": [
            side_case("queries 5, 7; keys 6, 3, 9; ", [5, 7], [6, 3, 9], *HEAD),
            side_case("queries 2, 0, 1; keys 2, 0, 1; ", [2, 0, 1], [2, 0, 1], *HEAD),
            side_case("queries 1, 4, 4; keys 3, 0, 4; ", [1, 4, 4], [3, 0, 4], *HEAD),
            side_case("queries 5, 3007; keys 6, 4001, 3; ", [5, 3007], [6, 4001, 3], *HEAD),
        ],
    },
    mistakes={
        "Left and right are exchanged: left belongs to keys before the query.": (
            lambda q, k, left, right: sided(q, k, right, left)
        ),
        "The sign is wrong: far keys must lose.": lambda q, k, left, right: -sided(q, k, left, right),
        "Keys after the query gain. Both sides must lose.": (
            lambda q, k, left, right: sided(q, k, left, -right)
        ),
        "Keys before the query gain. Both sides must lose.": (
            lambda q, k, left, right: sided(q, k, -left, right)
        ),
        "Only the left slope is used. That is the symmetric bias again.": (
            lambda q, k, left, right: sided(q, k, left, left)
        ),
        "Only the right slope is used. That is the symmetric bias again.": (
            lambda q, k, left, right: sided(q, k, right, right)
        ),
        "Rows are keys here. Rows are queries: (H, T, N).": (
            lambda q, k, left, right: sided(q, k, left, right).mT
        ),
        "Both slopes are added. Each side has its own.": (
            lambda q, k, left, right: sided(q, k, left + right, left + right)
        ),
        "Keys after the query get 0. Subtract right · distance there.": (
            lambda q, k, left, right: sided(q, k, left, 0 * right)
        ),
        "Keys after the query are hidden. That is the causal mask; here they have a slope.": (
            lambda q, k, left, right: sided(q, k, left, 0 * right).masked_fill(k > q[:, None], -torch.inf)
        ),
        "The axis of heads is missing: (H, T, N).": (
            lambda q, k, left, right: sided(q, k, left[:1], right[:1])[0]
        ),
        "Only the first head's slopes are used.": (
            lambda q, k, left, right: sided(q, k, left[:1].expand_as(left), right[:1].expand_as(right))
        ),
        "Positions are taken to be 0, 1, 2, … They are data.": by_index,
    },
    answers=(
        Answer(
            "enough",
            1,
            {
                "With equal slopes on both sides of every head, the output turns around as before.": 0,
                "Heads whose sides are equal do no harm. What does one that knows the direction do?": 8,
                "Not half of them: what does one that knows the direction do?": 4,
            },
        ),
    ),
)


# One row for all queries ------------------------------------------------------------------------------------


def key_row(slopes: Tensor, k_positions: Tensor) -> Tensor:
    return slopes[:, None, None] * k_positions


def row_case(label: str, slopes: list, k: list) -> Case:
    """The attention weights of equal scores under a causal mask, for a query at each key and one at the end."""
    slopes, k = torch.tensor(slopes), torch.tensor(k)
    queries = torch.cat([k, k.max()[None] + 3])
    case = call(f"slopes {slopes.tolist()}, {label}", slopes=slopes, k_positions=k)

    def ask(answer: Callable) -> object:
        row = case.ask(answer)
        if not isinstance(row, Tensor):
            return row
        if row.shape != (wanted := (len(slopes), 1, len(k))):
            raise Misconduct(f"Returns shape {tuple(row.shape)}; (H, 1, N) is {wanted} here")
        if not row.is_floating_point():
            raise Misconduct("Returns whole numbers; slopes are fractions")
        return row.double().masked_fill(k > queries[:, None], -torch.inf).softmax(dim=-1)

    return Case(case.text, ask)


one_row = Check(
    "one_row",
    reference=key_row,
    properties={
        "the weights of the full bias": [
            row_case("keys 0, 1, 2", [0.5], [0, 1, 2]),
            row_case("keys 0 to 4", [0.5, 0.25], [0, 1, 2, 3, 4]),
        ],
        "positions as they come": [
            row_case("keys 3, 4, 9", [0.5], [3, 4, 9]),
            row_case("keys 7, 5, 6", [0.5], [7, 5, 6]),
            row_case("keys 3001, 2998, 3004", [0.5], [3001, 2998, 3004]),
        ],
    },
    mistakes={
        "The sign is wrong: this favors the first keys. Step 2 leaves + m·j.": (
            lambda slopes, k: -key_row(slopes, k)
        ),
        "Every head has the first slope.": lambda slopes, k: key_row(slopes[:1].expand_as(slopes), k),
        "The slopes are missing: each head multiplies the positions by its own.": (
            lambda slopes, k: key_row(torch.ones_like(slopes), k)
        ),
        "This row is constant, and the softmax does not see it.": lambda slopes, k: key_row(slopes, 0 * k),
        "The squared distance is no line.": lambda slopes, k: key_row(slopes, k**2),
        "This is (H, N). The axis of queries has length 1: (H, 1, N).": (
            lambda slopes, k: key_row(slopes, k)[:, 0]
        ),
        "This is the full bias. One row is enough.": (lambda slopes, k: package.bias(k, k, slopes)),
        "The axes are exchanged: heads, one query, keys.": lambda slopes, k: key_row(slopes, k).movedim(0, 1),
        "The keys stand on the axis of the queries. They belong to the last one: (H, 1, N).": (
            lambda slopes, k: key_row(slopes, k).mT
        ),
        "Positions are taken to be 0, 1, 2, … They are data: use k_positions.": (
            lambda slopes, k: key_row(slopes, torch.arange(len(k)))
        ),
        "The distance to the last key in the list. The last in the list need not be the last in the text.": (
            lambda slopes, k: -key_row(slopes, (k[-1] - k).abs())
        ),
    },
)


# The window -------------------------------------------------------------------------------------------------


def effective_window(slope: float, eps: float, spread: float) -> int:
    return max(1, math.ceil((spread - math.log(eps)) / slope))


def window_case(slope: float, eps: float, spread: float) -> Case:
    return call(f"slope = {slope:g}, eps = {eps:g}, spread = {spread:g}", slope=slope, eps=eps, spread=spread)


window = Check(
    "window",
    reference=effective_window,
    properties={
        "equal scores": [
            window_case(0.5, 0.01, 0.0),
            window_case(0.25, 0.05, 0.0),
            window_case(1 / 256, 0.01, 0.0),
        ],
        "scores that differ by spread": [
            window_case(0.5, 0.01, 2.8),
            window_case(1 / 64, 0.25, 10.0),
            window_case(0.25, 1.0, 2.0),
            window_case(1 / 256, 0.05, 30.0),
        ],
        "at least one key": [window_case(2.0, 1.0, 0.0)],
    },
    mistakes={
        "Rounded down: the share beyond is still more than eps.": (
            lambda slope, eps, spread: max(1, math.floor((spread - math.log(eps)) / slope))
        ),
        "Rounded to the nearest, which may be too small. Round up.": (
            lambda slope, eps, spread: max(1, round((spread - math.log(eps)) / slope))
        ),
        "One too large: keys at distance w or more are beyond, and w itself counts among them.": (
            lambda slope, eps, spread: effective_window(slope, eps, spread) + 1
        ),
        "One too large where the quotient is whole. Round up with math.ceil.": (
            lambda slope, eps, spread: max(1, math.floor((spread - math.log(eps)) / slope) + 1)
        ),
        "This is a logarithm of base 2. The weights are powers of e: math.log.": (
            lambda slope, eps, spread: max(1, math.ceil((spread - math.log2(eps)) / slope))
        ),
        "This is a logarithm of base 10. The weights are powers of e: math.log.": (
            lambda slope, eps, spread: max(1, math.ceil((spread - math.log10(eps)) / slope))
        ),
        "This is the distance at which the bias is −1, whatever eps is.": (
            lambda slope, eps, spread: math.ceil(1 / slope)
        ),
        "This is the distance at which one key falls below eps of all. Far keys add up: use (6.4).": (
            lambda slope, eps, spread: max(1, math.ceil(math.log((1 - math.exp(-slope)) / eps) / slope))
        ),
        "This is 1 for small eps. ln(eps) is negative, and you need ln(1/eps); and take max(1, …).": (
            lambda slope, eps, spread: max(1, math.ceil((spread + math.log(eps)) / slope))
        ),
        "Multiplied by the slope. A steep head has a short window: divide.": (
            lambda slope, eps, spread: max(1, math.ceil((spread - math.log(eps)) * slope))
        ),
        "The spread is left out. Content widens the window by c/m.": (
            lambda slope, eps, spread: effective_window(slope, eps, 0.0)
        ),
        "The spread is subtracted. Content can only widen the window.": (
            lambda slope, eps, spread: effective_window(slope, eps, -spread)
        ),
        "The spread is not divided by the slope.": (
            lambda slope, eps, spread: max(1, math.ceil(spread - math.log(eps) / slope))
        ),
        "Where eps is 1 this is 0. The smallest window is one key.": (
            lambda slope, eps, spread: math.ceil((spread - math.log(eps)) / slope)
        ),
        "This is a float. Return an int: math.ceil gives one.": (
            lambda slope, eps, spread: float(effective_window(slope, eps, spread))
        ),
    },
    answers=(
        Answer(
            "wide",
            6299,
            {
                "Rounded down: the share beyond is still more than eps.": 6298,
                "eps is left out: ln(1/0.01) is 4.6.": 5120,
                "The spread is left out. Content widens the window by c/m.": 1179,
                "ln(0.01) is negative, and you need ln(1/0.01).": 3942,
            },
        ),
    ),
)


# The reach of a lead ----------------------------------------------------------------------------------------


def count_wins(lead: float, slope: float) -> int:
    bound = (math.log1p(math.exp(lead)) + math.log1p(-math.exp(-slope))) / slope
    return max(0, math.ceil(bound))


def wins(condition: Callable[[float], bool]) -> int:
    """The number of distances, from 0 on, until the condition fails."""
    distance = 0
    while distance < 5000 and condition(distance):
        distance += 1
    return distance


def rival(slope: float) -> float:
    """What all keys of equal score add up to."""
    return 1 / (1 - math.exp(-slope))


def reach_case(lead: float, slope: float) -> Case:
    return call(f"lead = {lead:g}, slope = {slope:g}", lead=lead, slope=slope)


reach = Check(
    "reach",
    reference=count_wins,
    properties={
        "the distances at which it holds more than half": [
            reach_case(3.0, 0.5),
            reach_case(2.0, 0.25),
            reach_case(1.0, 0.5),
            reach_case(10.0, 1 / 256),
        ],
        "none, where near keys are too many": [
            reach_case(3.0, 1 / 64),
            reach_case(0.0, 1 / 256),
            reach_case(0.25, 0.5),
        ],
    },
    mistakes={
        "The needle is counted among its rivals. It takes the place of one.": (
            lambda lead, slope: wins(lambda d: math.exp(lead - slope * d) > rival(slope))
        ),
        "The needle is compared with the nearest key alone. All others add up.": (
            lambda lead, slope: math.ceil(lead / slope)
        ),
        "One too small: distance 0 counts as well.": lambda lead, slope: max(0, count_wins(lead, slope) - 1),
        "One too large: this is the first distance that is lost, counted as won.": (
            lambda lead, slope: count_wins(lead, slope) + 1
        ),
        "The needle pays nothing here. It loses slope · distance itself.": (
            lambda lead, slope: wins(lambda d: math.exp(lead) > rival(slope) - math.exp(-slope * d))
        ),
        "The others add up to 1/m only nearly: 1/(1 − e^(−m)) is exact.": (
            lambda lead, slope: max(0, math.ceil(math.log((1 + math.exp(lead)) * slope) / slope))
        ),
        "(g + ln m)/m is an estimate for small slopes and large leads. Use (6.8).": (
            lambda lead, slope: max(0, math.ceil((lead + math.log(slope)) / slope))
        ),
        "Where the bound is negative, no distance is won: return 0.": (
            lambda lead, slope: math.ceil(
                (math.log1p(math.exp(lead)) + math.log1p(-math.exp(-slope))) / slope
            )
        ),
        "The bound is not divided by the slope.": (
            lambda lead, slope: max(0, math.ceil(math.log1p(math.exp(lead)) + math.log1p(-math.exp(-slope))))
        ),
        "This is a float. Return an int.": lambda lead, slope: float(count_wins(lead, slope)),
    },
    answers=(
        Answer(
            "best",
            (1 / 8, 1 / 64, 1 / 256),
            {
                "These are the distances. Which slopes reach them?": (8, 54, 1140),
                "Slopes are below 1. These are one divided by them.": (8, 64, 256),
                "These are exponents. The slopes are 2 to the power of minus them.": (3, 6, 8),
                "The steepest is best at no lead of these: try the others.": (1 / 2, 1 / 2, 1 / 2),
            },
            within=1e-4,
        ),
    ),
)


# ALiBi inside KERPLE ----------------------------------------------------------------------------------------


def nearly_a_line(slope: float, far: float, gap: float) -> tuple[float, float]:
    r2 = 2 * gap / (slope * far**2)
    return slope / r2, r2


def verdict_on(parameters: object, slope: float, far: int, gap: float) -> object:
    """In words, how far the curve is from the line; nothing comes back as nothing."""
    if nothing(parameters):
        return parameters
    found = several(parameters, "r1", "r2")
    for name, value in zip(("r1", "r2"), found, strict=True):
        if not 0 < value < math.inf:
            return f"{name} = {value:.4g}, which is not positive"
    r1, r2 = (torch.tensor(value, dtype=torch.float64) for value in found)
    distance = torch.arange(far + 1).double()
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
            line_case(2.0, 4, 0.1),
            line_case(0.25, 100, 2.0),
            line_case(4.0, 2, 0.5),
        ],
        "small gaps, far distances": [
            line_case(0.5, 1000, 0.01),
            line_case(1 / 256, 2000, 0.001),
        ],
    },
    mistakes={
        "With r2 = 1 this is far from a line. Only the power form is ALiBi at r2 = 1.": (
            lambda slope, far, gap: (slope, 1.0)
        ),
        "The curve is too flat by the factor r2: at 0 its slope is r1 · r2, not r1.": (
            lambda slope, far, gap: (slope, nearly_a_line(slope, far, gap)[1])
        ),
        "r1 and r2 are exchanged.": lambda slope, far, gap: nearly_a_line(slope, far, gap)[::-1],
        "The error is m · r2 · far² / 2: it grows with the square of far.": (
            lambda slope, far, gap: (slope**2 * far / (2 * gap), 2 * gap / (slope * far))
        ),
        "The slope is missing in r2: the error is m · r2 · far² / 2.": (
            lambda slope, far, gap: (slope * far**2 / (2 * gap), 2 * gap / far**2)
        ),
        "One small r2 for all: for small gaps and far distances it is too large.": (
            lambda slope, far, gap: (slope / 1e-3, 1e-3)
        ),
        "The bias is −r1 ln(…), so r1 is positive.": (
            lambda slope, far, gap: (-nearly_a_line(slope, far, gap)[0], nearly_a_line(slope, far, gap)[1])
        ),
        "The ends agree, and in between the curve sags below the line.": (
            lambda slope, far, gap: (slope * far / math.log(2), 1 / far)
        ),
    },
)
