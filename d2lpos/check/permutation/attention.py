"""Attention."""

import math
from math import sqrt

import torch
import torch.nn.functional as F
from torch import Tensor

from ..cases import exact_dtype, quarters
from ..verdict import Check, call
from .material import draw


def count(*shape: int) -> Tensor:
    return torch.arange(math.prod(shape)).reshape(shape) % 7 / 4


def attend(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return attend_scaled(q, k, v, 1 / math.sqrt(q.shape[-1]))


def attend_scaled(q: Tensor, k: Tensor, v: Tensor, scale: float) -> Tensor:
    return (q @ k.mT * scale).softmax(dim=-1) @ v


FINE = {
    "q": torch.tensor([[8192.0, 8192.0], [8192.0, 8192.0]]).double(),
    "k": 8192 * torch.tensor([[1.0, -1.0], [1.0, -1.0]]).double() + torch.tensor([[0.0], [2.0**-12]]),
    "v": count(2, 3).double(),
}
def overflow(q, k, v):
    exponentials = torch.exp(torch.einsum("...td,...sd->...ts", q, k) / sqrt(q.size(-1)))
    return exponentials @ v / exponentials.sum(-1, keepdim=True)


def squeezed(q, k, v):
    logits = (q.unsqueeze(-2) * k.unsqueeze(-3)).sum(-1) / sqrt(q.size(-1))
    return (F.softmax(logits, dim=-1) @ v).squeeze()


attention = Check(
    "attention",
    reference=attend,
    properties={
        "softmax(qkᵀ/√d) v for any T, N, d and e": [
            call(q=draw(3, 4), k=draw(5, 4), v=draw(5, 2)),
            call(q=draw(4, 4), k=draw(4, 4), v=draw(4, 4)),
            call(q=draw(2, 8), k=draw(6, 8), v=draw(6, 3)),
            call(q=count(2, 3, 4), k=count(2, 5, 4), v=count(2, 5, 2)),
            call(q=quarters(20, 128), k=quarters(100, 128, seed=1), v=quarters(100, 3, seed=2)),
        ],
        "batch and head dimensions in front": [
            call(q=draw(2, 5, 4), k=draw(2, 5, 4), v=draw(2, 5, 4)),
            call(q=draw(2, 3, 5, 4), k=draw(2, 3, 5, 4), v=draw(2, 3, 5, 4)),
            call(q=draw(2, 2, 3, 5, 4), k=draw(2, 2, 3, 5, 4), v=draw(2, 2, 3, 5, 4)),
        ],
        "one token": [call(q=draw(1, 4), k=draw(1, 4), v=draw(1, 4))],
        "large logits": [call(q=16 * draw(3, 4), k=16 * draw(3, 4), v=draw(3, 4))],
        "in the dtype of the input": [
            exact_dtype(
                call(q=torch.zeros(3, 4).bfloat16(), k=count(2, 4).bfloat16(), v=count(2, 3).bfloat16())
            ),
            exact_dtype(
                call("q, k, v in float64, where float32 would lose what tells the keys apart", **FINE)
            ),
        ],
    },
    mistakes={
        "The logits are not divided by √d.": lambda q, k, v: attend_scaled(q, k, v, 1.0),
        "The logits are divided by d instead of √d.": lambda q, k, v: attend_scaled(q, k, v, 1 / q.shape[-1]),
        "The scale takes the width of v. The d in √d is the width of q and k.":
            lambda q, k, v: attend_scaled(q, k, v, v.shape[-1] ** -0.5),
        "The softmax runs over the queries (dim=-2). Each query's weights over the keys must sum to 1.":
            lambda q, k, v: (q @ k.mT / math.sqrt(q.shape[-1])).softmax(dim=-2) @ v,
        "The exponential of a large logit is infinite. Subtract each row's maximum first, or use softmax.": overflow,
        "Dimensions 0 and 1 are the last two only without a batch. Count from the end: -2 and -1.":
            lambda q, k, v: (q @ k.transpose(0, 1) / math.sqrt(q.shape[-1])).softmax(dim=1) @ v,
        "squeeze drops a dimension when there is one token.": squeezed,
        "The result is in float32, whatever came in. It keeps the dtype of the input.":
            lambda q, k, v: attend(q.float(), k.float(), v.float()),
    },
    cards=(overflow, squeezed),
    as_good={"q.shape[-1] → k.shape[-1]": "Queries and keys are equally wide."},
)
