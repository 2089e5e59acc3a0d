"""As much noise elsewhere."""

import torch

from ..cases import number, read_as
from ..verdict import Answer, Case, Check, call


def bought(rate: float, share: float) -> float:
    """The rate that buys as much noise on a part of the energy as `rate` buys on all of it."""
    noise = rate / (1 - rate) / share
    return noise / (1 + noise)


def equal_rate(rate: float, token: float, position: float, placement: str) -> float:
    parts = {"token": token, "position": position, "independent": token + position}
    return bought(rate, parts[placement] / (token + position))


def noise_case(rate: float, token: float, position: float, placement: str) -> Case:
    case = call(
        f"rate = {rate:g}, token = {token:g}, position = {position:g}, placement = {placement!r}",
        rate=rate, token=token, position=position, placement=placement,
    )

    def read(outcome: object) -> object:
        return torch.tensor(number(outcome, "the rate"), dtype=torch.float64)

    return read_as(case, read)


equal_noise = Check(
    "equal_noise",
    reference=equal_rate,
    properties={
        "on the position or the token only": [
            noise_case(0.5, 2.0, 1.0, "position"),
            noise_case(0.5, 2.0, 1.0, "token"),
            noise_case(0.1, 512.0, 256.0, "position"),
            noise_case(0.1, 512.0, 256.0, "token"),
            noise_case(0.875, 2.75, 1.5, "position"),
            noise_case(0.008, 2.75, 24.0, "token"),
        ],
        "with independent masks": [
            noise_case(0.5, 2.0, 1.0, "independent"),
            noise_case(0.3, 1.0, 8.0, "independent"),
        ],
    },
    mistakes={
        "The noise is not in proportion to the rate, but to ν = rate / (1 − rate).":
            "return bought(rate, → return rate / (",
        "This is ν. Turn it back into a rate: ν / (1 + ν).": "noise / (1 + noise) → noise",
        "The less energy is dropped, the larger its rate must be: divide by the share.": "/ share → * share",
        "Dropout on the sum falls on both parts: compare with token + position.": (
            lambda rate, token, position, placement: bought(
                rate,
                {"token": token / position, "position": position / token, "independent": 1.0}[placement],
            )
        ),
        "Token and position are exchanged.":
            lambda rate, token, position, placement: equal_rate(rate, position, token, placement),
        "Independent masks fall on both parts, and so have the noise of the sum.":
            '"independent": token + position → "independent": position',
        "The rate stays the same here. Equal rates are not equal noise.":
            lambda rate, token, position, placement: rate,
    },
    answers=(Answer("rates", (0.143, 0.25, 0.6, 0.75), within=0.005, mistakes={
        "Rates are not in proportion. Noise goes with ν = rate / (1 − rate).": (0.15, 0.3, 0.75, 1.5),
        "These are the position's before the token's.": (0.25, 0.143, 0.75, 0.6),
        "These are ν. Turn it back into a rate: ν / (1 + ν).": (0.167, 0.333, 1.5, 3.0),
    }),),
)
