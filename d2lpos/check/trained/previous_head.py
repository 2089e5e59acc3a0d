"""The head that looks one back."""


import torch
from torch import Tensor

from ..cases import read_as, several
from ..verdict import Answer, Case, Check, call


def largest(values: Tensor) -> tuple[int, int]:
    """Where (layer, head) is largest."""
    return divmod(values.argmax().item(), values.shape[1])


def most_previous(weights: Tensor) -> tuple[int, int]:
    return largest(weights.diagonal(-1, dim1=2, dim2=3).mean(dim=-1))


def looks(*shape: int, seed: int, causal: bool = True, more: Tensor | float = 0) -> Tensor:
    """Attention weights (layer, head, token, token); `more` joins what the previous token gets."""
    draw = torch.Generator().manual_seed(seed)
    weights = torch.randint(1, 9, (*shape, shape[-1]), generator=draw).double()
    weights = weights.tril() if causal else weights
    weights.diagonal(-1, dim1=2, dim2=3).add_(more)
    return (weights / weights.sum(dim=-1, keepdim=True)).float()


def head_case(label: str, weights: Tensor) -> Case:
    return read_as(
        call(f"{label}, {tuple(weights.shape)}", weights=weights),
        lambda outcome: tuple(several(outcome, "layer", "head")),
    )


clear = 100 * (torch.arange(12).view(2, 6, 1) == 4)
def best(values):
    layer, head = (values == values.max()).nonzero()[0].tolist()
    return layer, head


def with_a_shifted_index(weights):
    tokens = range(weights.shape[-1])
    return best(sum(weights[:, :, i, i - 1] for i in tokens))


previous_head = Check(
    "previous_head",
    reference=most_previous,
    properties={
        "the head with the largest mean weight of the previous token": [
            head_case("causal weights", looks(2, 2, 4, seed=3)),
            head_case("causal weights", looks(3, 3, 5, seed=6)),
            head_case("causal weights", looks(3, 3, 5, seed=17)),
        ],
        "any number of layers and heads": [
            head_case("causal weights, one head looks back", looks(2, 6, 17, seed=0, more=clear)),
            head_case(
                "causal weights, one head looks back", looks(6, 2, 5, seed=0, more=clear.view(6, 2, 1))
            ),
        ],
        "weights that look both ways": [
            head_case("no mask", looks(2, 2, 3, seed=16, causal=False)), head_case("no mask", looks(3, 3, 5, seed=9, causal=False)),
        ],
    },
    mistakes={
        "This is (head, layer). The layer comes first.": lambda weights: most_previous(weights)[::-1],
        "Queries are rows. Here the weight goes to the next token, which a causal mask hides.":
            "diagonal(-1, → diagonal(1,",
        "This head looks at the token itself. The previous one is a diagonal lower.":
            "diagonal(-1, → diagonal(0,",
        "This head looks at the first token, which is another habit: an attention sink.":
            lambda weights: largest(weights[:, :, 1:, 0].mean(dim=-1)),
        "One query is enough for this head to win. Take the mean over all queries but the first.":
            "mean(dim=-1) → amax(dim=-1)",
        "The first query has no previous token. The index −1 is the last one.": with_a_shifted_index,
        "A flat index counts heads first: divide it by the number of heads, not of layers.":
            "values.shape[1] → values.shape[0]",
    },
    answers=(Answer("found", (16, 0), {
        "The layer comes first.": (0, 16),
        "This head looks at the first token: an attention sink.": (18, 8),
        "This head looks at the token itself.": (11, 6),
        "Layers and heads count from 0.": (17, 1),
    }),),
    cards=(with_a_shifted_index,),
    fixed={"weights.shape[-1] is weights.shape[-2]": "The queries and the keys are those of one text."},
    as_good={
        "values.shape[1] → values.shape[-1]": "Of two axes, 1 is the last.",
        "weights.diagonal(-1, dim1=2, dim2=3).mean(dim=-1) → weights.diagonal(-1, dim1=2, dim2=3).sum(dim=-1)": "The sums over the queries are in the order of the means.",
        "weights.diagonal(-1, dim1=2, dim2=3) → weights.diagonal(-1, dim1=-2, dim2=3)": "Of four axes, 2 is the last but one.",
        "returned as a float": "The text asks for whole numbers, and 1.0 is one.",
        "returned as a tensor of one number": "The text names no type.",
    },
)
