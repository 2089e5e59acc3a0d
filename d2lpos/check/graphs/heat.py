"""A use of eigenvectors that no sign and no basis of an eigenspace changes."""

import torch
from torch import Tensor

from ..verdict import Case, Check, call

SIGNS = torch.tensor([[1.0, 1, 1, 1], [1, -1, 1, -1], [1, 1, -1, -1], [1, -1, -1, 1]]) / 2
TURN = torch.tensor([[0.6, -0.8], [0.8, 0.6]])


def heat_kernel(vectors: Tensor, values: Tensor) -> Tensor:
    return (vectors * (-values).exp()) @ vectors.mT


def each_value_once(vectors, values):
    distinct = values.unique()
    chosen = vectors[:, torch.searchsorted(values, distinct)]
    return (chosen * (-distinct).exp()) @ chosen.mT


def heat_cases(*pairs: tuple[Tensor, list[float]]) -> list[Case]:
    return [call(vectors=vectors, values=torch.tensor(values)) for vectors, values in pairs]


heat = Check(
    "heat",
    reference=heat_kernel,
    properties={
        "each eigenvalue once, whatever the signs": heat_cases(
            (SIGNS[:, :2], [0.0, 1.0]), (torch.kron(SIGNS, SIGNS), [n / 8 for n in range(16)]), (SIGNS * SIGNS[1], [0.0, 1.0, 2.0, 3.0]),
        ),
        "equal eigenvalues, whatever the basis": heat_cases(
            (SIGNS[:, 1:3], [2.0, 2.0]), (SIGNS[:, 1:3] @ TURN, [2.0, 2.0]), (SIGNS[:, 2:] @ TURN.mT, [0.5, 0.5]),
            (SIGNS[:, 1:] * torch.tensor([1.0, -1, 1]), [0.5, 0.5, 0.5]),
            (torch.tensor([[1.0, 0.0], [0.0, -0.6], [0.0, 0.8]]), [0.125, 0.125]),
        ),
    },
    mistakes={
        "Each column has a weight by its number. Columns with the same eigenvalue then get different weights, and the result "
        "changes with the basis. Compute the weight from the eigenvalue.":
            "(-values).exp() → (-torch.arange(len(values))).exp()",
        "All columns have the same weight. Each is to have the weight of its own eigenvalue.":
            "(-values).exp() → (-values.mean()).exp()",
        "Absolute values do not depend on the signs, but no longer show which nodes are on opposite sides. They also "
        "change with the basis.": lambda vectors, values: heat_kernel(vectors.abs(), values),
        "This is a feature of each node, and it changes its sign with the vector. Multiply by the vectors of the other node.":
            "(vectors * (-values).exp()) @ vectors.mT → vectors * (-values).exp()",
        "The eigenvalues are not used. Slow waves are to count more than fast ones.": "(vectors * (-values).exp()) → vectors",
        "Fast waves count more here. The weight falls with the eigenvalue.": "(-values).exp() → values.exp()",
        "Both factors have the weight, so it is squared.": "@ vectors.mT → @ (vectors * (-values).exp()).mT",
        "Of vectors with equal eigenvalues only the first is counted, so the result changes with the basis. Sum over all vectors.":
            each_value_once,
    },
    as_good={"returned rounded as float16": "The exercise names no dtype, and float16 keeps these numbers to its own precision."},
    fixed={"values rises": "Eigenvalues come in order."},
    cards=(each_value_once,),
)
