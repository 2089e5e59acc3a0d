"""Which setting is wrong?"""

from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor

from ...input.sinusoids import frequencies
from ...rotary.scaling import yarn
from ..verdict import Case, Check, call


def settings(dim: int, base: float, factor: int, length: int) -> dict[str, Tensor]:
    omega = frequencies(dim, base)
    once, _ = yarn(omega, factor, length)
    return {
        "right": once,
        "length": yarn(omega, factor, factor * length)[0],
        "twice": yarn(once, factor, length)[0],
        "base": yarn(frequencies(dim), factor, length)[0],
        "off": omega,
    }


def matching(found: Tensor, dim: int, base: float, factor: int, length: int) -> str:
    known = settings(dim, base, factor, length)
    return next(name for name, one in known.items() if torch.allclose(found, one, rtol=0.01))


def exactly(otherwise: str | None) -> Callable:
    """As the right answer, to the last digit; where no setting is so near, `otherwise`."""
    return lambda found, *arguments: next(
        (name for name, one in settings(*arguments).items() if torch.allclose(found, one)), otherwise
    )


def unknown(name: str) -> tuple[Callable, ...]:
    """As the right answer, but one setting is not recognized, and something else is said."""
    others = (None, "right", "length", "twice", "base", "off")
    return tuple(partial(instead, name, other) for other in others if other != name)


def instead(name: str, other: str | None, *arguments: Tensor | float) -> str | None:
    setting = matching(*arguments)
    return other if setting == name else setting


def server_case(
    setting: str,
    dim: int = 128,
    base: float = 500_000.0,
    factor: int = 8,
    length: int = 8192,
    rounded: bool = False,
) -> Case:
    omega_found = settings(dim, base, factor, length)[setting]
    if rounded:
        omega_found = torch.tensor([float(f"{one:.2e}") for one in omega_found.tolist()], dtype=torch.float64)
    numbers = f"dim = {dim}, base = {base:g}, factor = {factor}, length = {length}"
    label = f'found as "{setting}" has them{", to three digits" * rounded}, {numbers}'
    return call(label, found=omega_found, dim=dim, base=base, factor=factor, length=length)


def server_cases(setting: str) -> list[Case]:
    return [
        server_case(setting),
        server_case(setting, 64, 5000.5, 4, 4096, rounded=True),
        server_case(setting, 32, factor=2, length=131_072, rounded=True),
    ]


diagnose = Check(
    "diagnose",
    reference=matching,
    properties={
        '"right": as it should be': server_cases("right"),
        '"length": a ramp for a longer training': server_cases("length"),
        '"twice": the rule on what it gave': server_cases("twice"),
        '"base": the rule on other frequencies': server_cases("base"),
        '"off": the model\'s own frequencies': server_cases("off"),
    },
    mistakes={
        "found may be rounded to three digits. Allow a difference of a percent.":
            tuple(map(exactly, (None, "right", "off"))),
        "Slow pairs turn by millionths, and an absolute tolerance does not see them. Compare ratios.":
            ("rtol=0.01 → rtol=0, atol=0.01", "rtol=0.01 → rtol=0, atol=0.001"),
        "The fastest pair is the same in all settings. Look at the slow ones, too.":
            "torch.allclose(found, one, rtol=0.01) → abs(found[0] / one[0] - 1) < 0.01",
        "A ramp for factor · length tokens lies at slower pairs. The slowest of all are divided as they should be.":
            unknown("length"),
        "To apply the rule twice is to give it what it gave. With factor² the ramp is another.":
            unknown("twice"),
        "The base changes all frequencies but the first, and the ramp: begin with frequencies(dim, 10_000).":
            unknown("base"),
    },
    fixed={"found falls": "Each pair of a head turns more slowly than the one before."},
    as_good={
        "argument 2 in a whole number": "Bases that are so near give the same angles to a percent.",
        "torch.allclose(found, one, rtol=0.01) → torch.allclose(one, found, rtol=0.01)": "A percent of the one is nearly a percent of the other.",
    },
)
