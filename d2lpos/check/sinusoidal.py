"""The checks of chapter 2: clocks, what turns them, where they look alike, and what numbers can hold."""

import torch
from torch import Tensor

from ..input import sinusoids as package
from ..input.sinusoids import sinusoidal
from .cases import by_hand, either, no_loop
from .verdict import Answer, Case, Check, call

# The encoding ----------------------------------------------------------------------------------------------


def encode_clocks(positions: Tensor, d: int, base: float) -> Tensor:
    return clocks(positions, base, torch.arange(0, d, 2) / d).flatten(-2)


def clocks(positions: Tensor, base: float, exponents: Tensor) -> Tensor:
    """Sines and cosines side by side, (…, d/2, 2); the angle is the position over base^exponent."""
    angles = positions[..., None] * base**-exponents
    return torch.stack([angles.sin(), angles.cos()], dim=-1)


def own_frequencies(positions: Tensor, d: int, base: float) -> Tensor:
    """Every feature turns at its own pace, so that no sine has the cosine that belongs to it."""
    angles = positions[..., None] * base ** -(torch.arange(d) / d)
    return torch.where(torch.arange(d) % 2 == 0, angles.sin(), angles.cos())


def one_axis_only(positions: Tensor, d: int, base: float) -> Tensor:
    angles = torch.outer(positions, base ** -(torch.arange(0, d, 2) / d))
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)


def encode_case(positions: list, d: int, base: float) -> Case:
    return call(
        f"positions {positions}, d = {d}, base = {base:g}", positions=torch.tensor(positions), d=d, base=base
    )


def hand_by_hand(positions: Tensor, d: int, base: float) -> Tensor:
    hands = [clocks(positions, base, torch.tensor([2 * i / d])) for i in range(d // 2)]
    return torch.cat(hands, dim=-2).flatten(-2)


encode = Check(
    "encode",
    reference=encode_clocks,
    properties={
        "sine and cosine of p · base^(−2i/d), in turn": [
            encode_case([0, 1, 2, 3], 4, 10000.0),
            encode_case([1, 5], 2, 10000.0),
            encode_case([3, 40], 8, 10000.0),
            encode_case([1, 7], 6, 100.0),
        ],
        "positions that are no whole numbers": [encode_case([0.5, 2.25, -3.75], 4, 10000.0)],
        "positions of any shape": [
            encode_case(3, 4, 10000.0),
            encode_case([[0, 1, 2], [5, 6, 7]], 4, 10000.0),
        ],
        "no loop over the hands": [
            no_loop("d = 4, then d = 64", "2 hands", *((torch.arange(3), d, 10000.0) for d in (4, 64)))
        ],
        "written by hand": [
            by_hand("three positions, d = 4", package, "angles", "sinusoidal", (torch.arange(3), 4, 10000.0))
        ],
    },
    mistakes={
        "The exponent has lost its minus: the hands must become slower, not faster.": (
            lambda p, d, base: clocks(p, base, -torch.arange(0, d, 2) / d).flatten(-2)
        ),
        "All sines come first. This layout has each sine next to its cosine.": (
            lambda p, d, base: encode_clocks(p, d, base).unflatten(-1, (-1, 2)).mT.flatten(-2)
        ),
        "The cosines stand at the even places. The sines belong there.": (
            lambda p, d, base: encode_clocks(p, d, base).unflatten(-1, (-1, 2)).flip(-1).flatten(-2)
        ),
        "Every feature has its own frequency. A sine and its cosine share one.": own_frequencies,
        "The exponent is −i/d. It is −2i/d.": (
            lambda p, d, base: clocks(p, base, torch.arange(d // 2) / d).flatten(-2)
        ),
        "The exponent is −4i/d: the step of arange is the 2 already.": (
            lambda p, d, base: clocks(p, base, torch.arange(0, d, 2) * 2 / d).flatten(-2)
        ),
        "−arange(0, d, 2) // d rounds down. Divide by /.": (
            lambda p, d, base: clocks(p, base, -(-torch.arange(0, d, 2) // d)).flatten(-2)
        ),
        "The exponents run from 0 to −1. The last of the formula is −(d − 2)/d.": (
            lambda p, d, base: clocks(p, base, torch.linspace(0, 1, d // 2)).flatten(-2)
        ),
        "The base is always 10000 here. It is an argument.": (
            lambda p, d, base: encode_clocks(p, d, 10000.0)
        ),
        "Positions count from 0, and are taken as they come.": (
            lambda p, d, base: encode_clocks(p + 1, d, base)
        ),
        "Positions are made whole. A clock can stand between two ticks.": (
            lambda p, d, base: encode_clocks(p.long(), d, base)
        ),
        "Exactly one axis of positions is expected. positions[..., None] serves any shape.": one_axis_only,
        "Hand by hand is slow. Let one tensor of speeds multiply the positions.": hand_by_hand,
    },
)


# From PE(p) to PE(p + k) ------------------------------------------------------------------------------------


def pairs(code: Tensor) -> tuple[Tensor, Tensor]:
    return code[..., 0::2], code[..., 1::2]


def interleave(sine: Tensor, cosine: Tensor) -> Tensor:
    return torch.stack([sine, cosine], dim=-1).flatten(-2)


def turned(code: Tensor, angles: Tensor) -> Tensor:
    sine, cosine = pairs(code)
    return interleave(
        sine * angles.cos() + cosine * angles.sin(), cosine * angles.cos() - sine * angles.sin()
    )


def offset_angles(code: Tensor, k: float, base: float) -> Tensor:
    d = code.shape[-1]
    return k * base ** -(torch.arange(0, d, 2) / d)


def turn_clocks(code: Tensor, k: float, base: float) -> Tensor:
    return turned(code, offset_angles(code, k, base))


def turn_halves(code: Tensor, k: float, base: float) -> Tensor:
    angles = offset_angles(code, k, base)
    sine, cosine = code.chunk(2, dim=-1)
    return torch.cat(
        [sine * angles.cos() + cosine * angles.sin(), cosine * angles.cos() - sine * angles.sin()], dim=-1
    )


def overwrite(code: Tensor, k: float, base: float) -> Tensor:
    angles = offset_angles(code, k, base)
    sine, cosine = pairs(code)
    sine = sine * angles.cos() + cosine * angles.sin()
    return interleave(sine, cosine * angles.cos() - sine * angles.sin())


def code_at(k: float, code: Tensor, base: float) -> Tensor:
    return sinusoidal(torch.tensor(float(k)), code.shape[-1], base).expand_as(code)


def step_by_step(code: Tensor, k: int, base: float) -> Tensor:
    for _ in range(k):
        code = turn_clocks(code, 1, base)
    return code


def look_up(code: Tensor, k: int, base: float) -> Tensor:
    """Finds the whole position whose code is nearest, and goes on from there."""
    table = sinusoidal(torch.arange(1000).double(), code.shape[-1], base).to(code)
    return sinusoidal((code @ table.T).argmax(dim=-1) + k, code.shape[-1], base)


def from_the_slowest_hand(code: Tensor, k: int, base: float) -> Tensor:
    """Reads the position off the slowest hand, as if that had never gone around."""
    d = code.shape[-1]
    angle = torch.atan2(code[..., -2], code[..., -1])
    return sinusoidal(angle * base ** ((d - 2) / d) + k, d, base)


def turn_case(position: float | list, d: int, k: int, base: float) -> Case:
    """In float64, so that any matrix fits; compared in float64 whatever comes back."""
    code = sinusoidal(torch.tensor(position).double(), d, base)
    return either(
        call(f"code = PE({position}), d = {d}, k = {k}, base = {base:g}", code=code, k=k, base=base)
    )


turn = Check(
    "turn",
    reference=turn_clocks,
    properties={
        "PE(p + k) from PE(p)": [
            turn_case(2.0, 2, 1, 10000.0),
            turn_case(0.0, 4, 3, 10000.0),
            turn_case(7.0, 8, 5, 10000.0),
            turn_case(7.0, 6, 2, 100.0),
        ],
        "backwards, where k is negative": [turn_case(9.0, 4, -3, 10000.0)],
        "any position, whole or not": [turn_case(0.25, 8, 2, 10000.0), turn_case(30.75, 8, 2, 10000.0)],
        "positions past a turn of the slowest hand": [turn_case(2000.0, 6, 2, 10000.0)],
        "dimensions in front": [turn_case([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], 4, 2, 10000.0)],
    },
    mistakes={
        "The hands turn the other way: this is PE(p − k).": lambda code, k, base: turn_clocks(code, -k, base),
        "This is PE(k). The position in code is lost.": lambda code, k, base: code_at(k, code, base),
        "Codes do not add: PE(p) + PE(k) is not PE(p + k), because sin(a) + sin(b) is not sin(a + b).": (
            lambda code, k, base: code + code_at(k, code, base)
        ),
        "The first half is paired with the second. Here each sine stands next to its cosine.": turn_halves,
        "The cosine turns with the new sine. Both sums need the old one.": overwrite,
        "sin(α + β) has a plus: sin α cos β + cos α sin β.": (
            lambda code, k, base: interleave(
                turn_clocks(code, -k, base)[..., 0::2], turn_clocks(code, k, base)[..., 1::2]
            )
        ),
        "cos(α + β) has a minus: cos α cos β − sin α sin β.": (
            lambda code, k, base: interleave(
                turn_clocks(code, k, base)[..., 0::2], turn_clocks(code, -k, base)[..., 1::2]
            )
        ),
        "All new sines come first. Put each cosine back next to its sine.": (
            lambda code, k, base: torch.cat(pairs(turn_clocks(code, k, base)), dim=-1)
        ),
        "The slowest hand does not know how often it went around. Turn what you are given.": (
            from_the_slowest_hand
        ),
        "All hands turn by the same angle k. Each has its own frequency: kω.": (
            lambda code, k, base: turned(code, torch.tensor(float(k)))
        ),
        "The base is always 10000 here. It is an argument.": (
            lambda code, k, base: turn_clocks(code, k, 10000.0)
        ),
        "Nothing turns where k is negative, as with range(k). Turn once, by kω.": step_by_step,
        "The sign of k is lost.": lambda code, k, base: turn_clocks(code, abs(k), base),
        "The position is looked up among whole numbers. It is not needed: turn what you are given.": look_up,
        "The features are the last axis: code[..., 0::2], not code[0::2].": (
            lambda code, k, base: turn_clocks(code.movedim(0, -1), k, base).movedim(-1, 0)
        ),
    },
)


# The offset that looks most like none -----------------------------------------------------------------------


def kernel(offsets: Tensor, d: int, base: float) -> Tensor:
    """PE(p) · PE(p + k) for each offset k, in float64."""
    return (offsets[:, None] * base ** -(torch.arange(0, d, 2).double() / d)).cos().sum(dim=-1)


def nearest_offset(d: int, base: float, length: int) -> int:
    return int(kernel(torch.arange(1, length), d, base).argmax()) + 1


def by_norm(d: int, base: float, length: int, p: float) -> int:
    """As nearest_offset, with another distance than the Euclidean."""
    table = sinusoidal(torch.arange(length).double(), d, base)
    return int((table[1:] - table[0]).norm(p, dim=-1).argmin()) + 1


def offset_case(d: int, base: float, length: int) -> Case:
    return call(f"d = {d}, base = {base:g}, length = {length}", d=d, base=base, length=length)


collision = Check(
    "collision",
    reference=nearest_offset,
    properties={
        "the offset whose two codes are most alike": [
            offset_case(2, 10000.0, 20),
            offset_case(4, 2.0, 200),
            offset_case(8, 1.01, 100),
            offset_case(64, 10000.0, 500),
            offset_case(8, 3.0, 200),
        ],
        "offsets up to length − 1": [offset_case(2, 10000.0, 45), offset_case(2, 10000.0, 44)],
        "far ones, too": [offset_case(2, 10000.0, 1000)],
    },
    mistakes={
        "Offset 0 is counted. Every position is most like itself.": (
            lambda d, base, length: int(kernel(torch.arange(length), d, base).argmax())
        ),
        "The answer is always 1 here. Does offset 0 win, which is not asked for?": lambda d, base, length: 1,
        "Absolute differences are added up. The Euclidean distance adds their squares.": (
            lambda d, base, length: by_norm(d, base, length, 1)
        ),
        "Only the largest difference counts. The Euclidean distance adds all squares.": (
            lambda d, base, length: by_norm(d, base, length, float("inf"))
        ),
        "This is the offset whose codes are least alike.": (
            lambda d, base, length: int(kernel(torch.arange(1, length), d, base).argmin()) + 1
        ),
        "One too small: the first entry belongs to offset 1.": (
            lambda d, base, length: nearest_offset(d, base, length) - 1
        ),
        "Only the fastest hand is compared. All d/2 of them must agree.": (
            lambda d, base, length: nearest_offset(2, base, length)
        ),
        "Opposite codes count as alike here. Drop the absolute value.": (
            lambda d, base, length: int(kernel(torch.arange(1, length), d, base).abs().argmax()) + 1
        ),
        "Offset length is counted, but positions end at length − 1.": (
            lambda d, base, length: nearest_offset(d, base, length + 1)
        ),
        "The largest offset, length − 1, is left out.": (
            lambda d, base, length: nearest_offset(d, base, length - 1)
        ),
        "The base is always 10000 here. It is an argument.": (
            lambda d, base, length: nearest_offset(d, 10000.0, length)
        ),
        "The search ends early. Try every offset below length.": (
            lambda d, base, length: nearest_offset(d, base, min(length, 500))
        ),
        "This is a tensor. Return an int: call .item().": (
            lambda d, base, length: torch.tensor(nearest_offset(d, base, length))
        ),
        "This is a pair of positions. Return their offset, an int.": (
            lambda d, base, length: (0, nearest_offset(d, base, length))
        ),
    },
    answers=(
        Answer(
            "nearest",
            44,
            {
                "That is the answer for large bases. With 1.001 all hands keep nearly the same time.": 1,
                "After 6 the hands lack 0.28 of a turn's 2π. Some offset below 500 comes nearer to whole turns.": 6,
                "That is 56 turns and a half: the codes are nearly opposite.": 355,
                "That is beyond the length.": lambda k: k >= 500,
            },
        ),
    ),
)


# Where the kernel rises -------------------------------------------------------------------------------------


def find_rise(d: int, base: float) -> int:
    return rise_below(1000, d, base)


def rise_below(length: int, d: int, base: float) -> int:
    values = kernel(torch.arange(length), d, base)
    return int((values[1:] > values[:-1]).nonzero()[0]) + 1


def rise_case(d: int, base: float) -> Case:
    return call(f"d = {d}, base = {base:g}", d=d, base=base)


first_rise = Check(
    "first_rise",
    reference=find_rise,
    properties={
        "the first offset that is more alike than the one before": [
            rise_case(2, 10000.0),
            rise_case(64, 10000.0),
            rise_case(64, 100.0),
            rise_case(48, 10.0),
            rise_case(48, 3.0),
        ],
        "however far it is": [rise_case(4096, 10000.0), rise_case(8192, 10000.0)],
    },
    mistakes={
        "This is the last offset of the fall. The next one is larger: return that.": (
            lambda d, base: find_rise(d, base) - 1
        ),
        "One too large: the difference between offsets k − 1 and k belongs to k.": (
            lambda d, base: find_rise(d, base) + 1
        ),
        "This is where the kernel is lowest. It may rise before that.": (
            lambda d, base: int(kernel(torch.arange(1000), d, base).argmin())
        ),
        "The kernel falls from offset 0 to 1. Sum cosines, not sines, and look for a rise, not a fall.": (
            lambda d, base: 1
        ),
        "Only the fastest hand is counted. Sum over all d/2 of them.": lambda d, base: find_rise(2, base),
        "The base is always 10000 here. It is an argument.": lambda d, base: find_rise(d, 10000.0),
        "The search ends early: with many hands the first rise is far away.": (
            lambda d, base: rise_below(100, d, base)
        ),
        "The search still ends too early. Walk on until the kernel rises.": (
            lambda d, base: rise_below(400, d, base)
        ),
    },
    answers=(
        Answer(
            "rise",
            245,
            {
                "That is for d = 64. Let d grow.": 6,
                "That is the last offset of the fall.": 244,
                "Count offsets from 0: κ(1) is the second value.": 246,
            },
        ),
    ),
)


# What a number format can count -----------------------------------------------------------------------------


def count_limit(dtype: torch.dtype) -> int:
    """1 + eps is the next number after 1, so the next after 2/eps is 2/eps + 2."""
    return int(2 / torch.finfo(dtype).eps) + 1


def first_unequal(dtype: torch.dtype) -> int:
    """Compares in the small format, where both sides are rounded alike."""
    n = torch.arange(1, 5000)
    return int(n[n.to(dtype) != n.to(dtype)][0])


first_lost = Check(
    "first_lost",
    reference=count_limit,
    properties={
        "the smallest positive whole number that the format cannot hold": [
            call(dtype=torch.bfloat16),
            call(dtype=torch.float16),
            call(dtype=torch.float32),
        ],
        "formats of eight bits, too": [call(dtype=torch.float8_e4m3fn), call(dtype=torch.float8_e5m2)],
    },
    mistakes={
        "The format holds this one. The next one is lost.": lambda dtype: count_limit(dtype) - 1,
        "One too large: the smaller neighbor is lost as well.": lambda dtype: count_limit(dtype) + 1,
        "The gap is 2 only past 2/eps. Between 1/eps and 2/eps it is 1, which is enough.": (
            lambda dtype: int(1 / torch.finfo(dtype).eps) + 1
        ),
        "This is the largest number of the format. Whole numbers are lost long before it.": (
            lambda dtype: int(torch.finfo(dtype).max)
        ),
        "Most of the bits are not for counting. Ask for the bits of the fraction, or for eps.": (
            lambda dtype: 2 ** torch.finfo(dtype).bits
        ),
        "The search ends early. float16 holds much larger numbers.": lambda dtype: min(
            count_limit(dtype), 256
        ),
        "The search ends before float32 does. Compute the number instead.": (
            lambda dtype: min(count_limit(dtype), 5000)
        ),
        "Nothing comes back for float32: a table or a search ends before it. Compute the number.": (
            lambda dtype: None if dtype == torch.float32 else count_limit(dtype)
        ),
        "Both sides are compared in the small format. Convert back first: n.to(dtype).long() != n.": (
            first_unequal
        ),
        "This holds for bfloat16 only. Compute it from the dtype.": lambda dtype: 257,
        "Not every format is known. Compute it from the dtype.": (
            lambda dtype: {torch.bfloat16: 257, torch.float16: 2049, torch.float32: 16777217}.get(dtype)
        ),
        "This is a float. Return an int.": lambda dtype: float(count_limit(dtype)),
        "This is a tensor. Return an int: call .item().": lambda dtype: torch.tensor(count_limit(dtype)),
    },
    answers=(
        Answer(
            "contexts",
            128,
            {
                "That is float16's number. float32's is larger.": 2049 / 131072,
                "That is bfloat16's number. float32's is larger.": 257 / 131072,
                "float32 holds 24 binary digits, the leading 1 with the 23 of its fraction.": 64,
                "That is the number itself. Divide it by 131,072.": 16777217,
            },
            within=0.01,
        ),
    ),
)
