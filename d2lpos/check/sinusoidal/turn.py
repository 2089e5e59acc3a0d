"""From PE(p) to PE(p + k)."""

import torch
from torch import Tensor

from ...input.sinusoids import frequencies, sinusoidal
from ..verdict import Case, Check, call


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


def look_up(code: Tensor, k: int, base: float) -> Tensor:
    """Finds the whole position whose code is nearest, and goes on from there."""
    table = sinusoidal(torch.arange(3000).double(), code.shape[-1], base).to(code)
    return sinusoidal((code @ table.T).argmax(dim=-1) + k, code.shape[-1], base)


def turn_case(position: float | list, d: int, k: int, base: float) -> Case:
    """In float64, so that any matrix fits."""
    code = sinusoidal(torch.tensor(position).double(), d, base)
    return call(f"code = PE({position}), d = {d}, k = {k}, base = {base:g}", code=code, k=k, base=base)


def speeds(code, base):
    d = code.shape[-1]
    return base ** (-torch.arange(0, d, 2) / d)


def tick_by_tick(code, k, base):
    for _ in range(k):
        code = turned(code, speeds(code, base))
    return code


def first_axis(code, k, base):
    angles = k * base ** (-torch.arange(0, len(code), 2) / len(code))
    angles = angles.reshape(-1, *[1] * (code.dim() - 1))
    out = code.clone()
    out[::2] = code[::2] * angles.cos() + code[1::2] * angles.sin()
    out[1::2] = code[1::2] * angles.cos() - code[::2] * angles.sin()
    return out


def position_recovered(code, k, base):
    p = torch.atan2(code[..., -2], code[..., -1]) / frequencies(code.shape[-1], base)[-1]
    return sinusoidal(p + k, code.shape[-1], base)


turn = Check(
    "turn",
    reference=turn_clocks,
    properties={
        "PE(p + k) from PE(p)": [
            turn_case(2.0, 2, 1, 10000.0), turn_case(0.0, 4, 3, 10000.0), turn_case(7.0, 8, 500, 10000.0),
            turn_case(7.0, 6, 2, 99.5),
        ],
        "backwards, where k is negative": [turn_case(9.0, 4, -300, 10000.0)],
        "any position, whole or not": [turn_case(0.25, 8, 2, 10000.0), turn_case(30.75, 8, 2, 10000.0)],
        "positions past a turn of the slowest hand": [turn_case(2000.0, 6, 2, 10000.0)],
        "dimensions in front": [turn_case([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], 4, 2, 10000.0)],
    },
    mistakes={
        "The hands turn the other way: this is PE(p − k).": lambda code, k, base: turn_clocks(code, -k, base),
        "Codes do not add: PE(p) + PE(k) is not PE(p + k), because sin(a) + sin(b) is not sin(a + b).":
            lambda code, k, base: code + sinusoidal(torch.tensor(float(k)), code.shape[-1], base).to(code),
        "The slowest hand does not know how often it went around. Turn what you are given.": position_recovered,
        "All hands turn by the same angle k. Each has its own frequency: kω.":
            lambda code, k, base: turned(code, torch.tensor(float(k))),
        "The base is always 10000 here. It is an argument.":
            lambda code, k, base: turn_clocks(code, k, 10000.0),
        "Nothing turns where k is negative, as with range(k). Turn once, by kω.": tick_by_tick,
        "The position is looked up among whole numbers. It is not needed: turn what you are given.": look_up,
        "The features are the last axis: code[..., 0::2], not code[0::2].": first_axis,
    },
    fixed={"rows of code have one norm": "A code is d/2 points on the unit circle."},
    cards=(tick_by_tick, first_axis, position_recovered),
)
