"""A probe."""

from collections.abc import Callable

import torch
from torch import Tensor

from ..cases import exact_dtype
from ..verdict import Case, Check, call


def r_squared(x: Tensor) -> float:
    """Fitted on the first half, scored on the second; in float64, whatever x is."""
    half, p = len(x) // 2, torch.arange(x.shape[1], dtype=torch.float64)
    x = torch.cat([x.double(), torch.ones(*x.shape[:2], 1)], dim=-1)
    solution = torch.linalg.lstsq(x[:half].flatten(0, 1), p.repeat(half)[:, None], driver="gelsd").solution
    wrong = (x[half:] @ solution)[..., 0] - p
    return 1 - (wrong.square().mean() / p.var(correction=0)).item()


def draw(*shape: int, seed: int) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


def along_a_line(texts: int, T: int, d: int, noise: float, seed: int = 0) -> Tensor:
    """Vectors that hold the position along one direction, in noise."""
    p = torch.arange(T).float() - (T - 1) / 2
    return p[:, None] * draw(d, seed=seed) + noise * draw(texts, T, d, seed=seed + 1)


def probe_case(text: str, x: Tensor) -> Case:
    """Compared to two decimals, as solvers differ in the last digits."""

    def ask(answer: Callable) -> object:
        def rounded(x: Tensor) -> object:
            outcome = answer(x)
            number = isinstance(outcome, float) or (isinstance(outcome, Tensor) and outcome.numel() == 1)
            return round(float(outcome), 2) if number else outcome

        return call(x=x).ask(rounded)

    return Case(f"{text}, {tuple(x.shape)}", ask)


def kind(answer: Callable) -> str:
    outcome = answer(along_a_line(4, 6, 3, 0.001))
    return "a float" if isinstance(outcome, float) else f"a {type(outcome).__name__}"


fading = along_a_line(8, 6, 3, 0.5, seed=4)
probe = Check(
    "probe",
    reference=r_squared,
    properties={
        "R² of texts that were not fitted": [
            probe_case("position along a line", along_a_line(4, 6, 3, 0.001)),
            probe_case("the same, far from the origin", 10 + along_a_line(4, 6, 1, 0.001)),
            probe_case("position in noise", along_a_line(8, 5, 4, 1.0)),
            probe_case("position in more noise", along_a_line(10, 20, 24, 12.0)),
            probe_case("noise alone", draw(4, 6, 6, seed=7)),
            probe_case("position that is fainter in the second half of the texts", fading),
        ],
        "a Python float": [exact_dtype(Case("position along a line, (4, 6, 3)", kind))],
    },
    mistakes={
        "There is no constant: the map must pass through 0. Append a feature that is 1.":
            "torch.ones → torch.zeros",
        "The texts that were fitted are scored. Use the second half.": "(x[half:] → (x[:half]",
        "Each text has the positions 0 … T − 1 in turn: repeat, not repeat_interleave.":
            "p.repeat(half) → p.repeat_interleave(half)",
        "This is the mean squared error. Compare it with the variance of the positions.":
            "1 - (wrong.square().mean() / p.var(correction=0)).item() → wrong.square().mean().item()",
        "This is the share that is not explained. R² is 1 minus it.": lambda x: 1 - r_squared(x),
        "Shapes (texts, T, 1) and (T,) broadcast to (texts, T, T). Drop the last axis: [..., 0].":
            "(x[half:] @ solution)[..., 0] → (x[half:] @ solution)",
        "This is a tensor. Return a float: call .item().": lambda x: torch.tensor(r_squared(x)),
    },
    as_good={
        "[x.double(), torch.ones(*x.shape[:2], 1)] → [torch.ones(*x.shape[:2], 1), x.double()]": "It does not matter where the constant stands.",
        "torch.ones(*x.shape[:2], 1) → torch.ones(*x.shape[:2], 2)": "Two constants are as good as one for a solver that allows columns to depend on each other.",
        "torch.linalg.lstsq(x[:half].flatten(0, 1), p.repeat(half)[:, None], driver='gelsd') → torch.linalg.lstsq(x[:half].flatten(0, 1), p.repeat(half)[:, None])": "Another solver finds the same map where the columns do not depend on each other.",
        "(x[half:] @ solution)[..., 0] - p → p - (x[half:] @ solution)[..., 0]": "Errors are squared.",
        "(x[half:] @ solution)[..., 0] → (x[half:] @ solution)[..., -1]": "The axis has one entry.",
    },
)
