"""What a function erases."""

from collections.abc import Callable

import torch
from torch import Tensor

from ..verdict import Answer, Case, Check, call

PLACES = torch.arange(1, 5)[:, None, None] * torch.ones(4, 1, 3)  # (sequence, 1, dim)
PADDING = torch.tensor([[True] * 4, [True, True, False, False]]).T  # (sequence, batch), False for padding


def added(x: Tensor) -> Tensor:
    return x + PLACES


def padding_to_zero(x: Tensor) -> Tensor:
    return added(x) * PADDING[..., None]


def first_to_zero(x: Tensor) -> Tensor:
    return added(x) * torch.tensor([0.0, 1.0, 1.0])


def last_to_zero(x: Tensor) -> Tensor:
    return added(x) * torch.tensor([1.0, 1.0, 0.0])


def padding_to_position(x: Tensor) -> Tensor:
    return torch.where(PADDING[..., None], added(x), PLACES)


def features_mixed(x: Tensor) -> Tensor:
    """Each number moves with x, and their sum does not."""
    return x * torch.tensor([1.0, 1.0, -2.0])


def unmoved(forward: Callable, x: Tensor) -> Tensor:
    """Which numbers stay as they are when x changes much, up and down, each feature by a step of its own."""
    steps = 100 + torch.arange(x.shape[-1])
    return (forward(x) == forward(x + steps)) & (forward(x) == forward(x - steps))


def erased_case(label: str, forward: Callable, x: Tensor | None = None) -> Case:
    x = 0.5 + torch.arange(24.0).reshape(4, 2, 3) if x is None else x
    return call(f"forward {label}, x {tuple(x.shape)}", forward=forward, x=x)


WIDE = torch.ones(17, 3, 32)
BY_ACCIDENT = torch.arange(1.0, 25.0).reshape(4, 2, 3)
BY_ACCIDENT[2, 0], BY_ACCIDENT[1, 1] = -PLACES[2, 0], 0.0


def by_gradient(forward, x):
    x = x.clone().requires_grad_()
    forward(x).sum().backward()
    return (x.grad == 0).all(dim=-1)


def against_zeros(forward, x):
    return (forward(x) == forward(torch.zeros_like(x))).all(-1)


erased = Check(
    "erased",
    reference=lambda forward, x: unmoved(forward, x).all(dim=-1),
    properties={
        "tokens of which nothing is left": [
            erased_case("sets padding to 0", padding_to_zero),
            erased_case("leaves a millionth of padding", lambda x: x * (PADDING + 2.0**-20)[..., None]),
            erased_case("sets feature 2 to 0", last_to_zero),
            erased_case("sets feature 0 to 0", first_to_zero),
            erased_case("multiplies the features by 1, 1 and −2", features_mixed),
        ],
        "whatever x is": [
            erased_case("adds positions; one sum is 0, one word is 0", added, BY_ACCIDENT),
            erased_case("adds positions; all numbers are 1", added, torch.ones(4, 2, 3)),
            erased_case("is torch.relu in 16 features, and 0 else; all numbers are −5", lambda x: x.relu() * (torch.arange(32) < 16), -5 * WIDE),
            erased_case("is torch.abs; all numbers are 0", torch.abs, 0 * WIDE),
            erased_case("is torch.relu; all numbers are 0", torch.relu, 0 * WIDE),
            erased_case("is torch.clamp(max=1) in 16 features, and 0 else; all numbers are 5", lambda x: x.clamp(max=1) * (torch.arange(32) < 16), 5 * WIDE),
            erased_case("takes from each feature its mirror", lambda x: x - x.flip(-1)),
        ],
        "even where the position is left": [
            erased_case("leaves of padding the position alone", padding_to_position)
        ],
    },
    mistakes={
        "An output of 0 may be an accident. Change x, and see what stays.":
            lambda forward, x: (forward(x) == 0).all(dim=-1),
        "An erased token need not be 0. Compare the two outputs with each other.":
            lambda forward, x: (unmoved(forward, x) & (forward(x) == 0)).all(dim=-1),
        "One feature that stays is not yet a token that is gone: .all(dim=-1).":
            lambda forward, x: unmoved(forward, x).any(dim=-1),
        "This is True for the tokens that are left.": lambda forward, x: ~unmoved(forward, x).all(dim=-1),
        "A function may be deaf to a step: torch.relu at −5 to a small one, a difference of features to one that all features take. "
        "Take large ones, up and down, for each feature another.": (
            lambda forward, x: (forward(x) == forward(x + 1)).all(dim=-1),
            lambda forward, x: ((forward(x) == forward(x + 100)) & (forward(x) == forward(x - 100))).all(dim=-1),
        ),
        "A gradient tells of small steps: that of torch.relu is 0 at −5. Take large ones.": by_gradient,
        "This is (batch, sequence). The listing's tokens are (sequence, batch).":
            lambda forward, x: unmoved(forward, x).all(dim=-1).T,
        "One answer for each token, not for each number: .all(dim=-1).": unmoved,
    },
    answers=(Answer("which", "[PAD]", {
        "[CLS] loses nothing in evaluation: its mask is 1.": "[CLS]",
        "[SEP] loses nothing in evaluation: its mask is 1.": "[SEP]",
        "[MASK] loses nothing in evaluation: its mask is 1.": "[MASK]",
    }),),
    cards=(by_gradient, against_zeros),
    as_good={
        **{
            f"argument 1 {what}": "What a function of the cases erases, it erases of this x, too."
            for what in (
                "with its first row for all", "with the first of each row for all", "without signs", "in whole numbers",
            )
        },
        **{
            f"100 + torch.arange(x.shape[-1]) → {steps}torch.arange(x.shape[-1])": "Other steps that differ do as well."
            for steps in ("-100 + ", "100 - ", "101 + ", "99 + ", "")
        },
        "(forward(x) == forward(x + steps)) & (forward(x) == forward(x - steps)) → (forward(x) == forward(x - steps)) & (forward(x) == forward(x + steps))": "And has no order.",
        "x + steps → steps": "This is far from x, too.",
    },
)
