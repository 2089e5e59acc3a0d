"""The checks of chapter 1: which layers, masks and biases commute with a change of order."""

import math
from collections.abc import Callable
from itertools import permutations

import torch
from torch import Tensor
from torch.nn.functional import layer_norm

from .verdict import Answer, Case, Check, Misconduct, attempt, call, describe, difference

generator = torch.Generator().manual_seed(1)


def draw(*shape: int) -> Tensor:
    """Quarters from −2 to 2: sums and products are exact, so they are equal on every processor."""
    return torch.randint(-8, 9, shape, generator=generator) / 4


def count(*shape: int) -> Tensor:
    return torch.arange(math.prod(shape)).reshape(shape) % 7 / 4


CYCLE = torch.tensor([1, 2, 0])  # not its own inverse, unlike a swap
SWAP = torch.tensor([1, 0, 2])
MIXED = torch.tensor([2, 0, 3, 1])  # no rotation, no reversal, not its own inverse
REVERSAL = torch.tensor([3, 2, 1, 0])
LAST_SWAPPED = torch.tensor([0, 2, 1])
ENDS_SWAPPED = torch.tensor([2, 1, 0])
MIDDLE_SWAPPED = torch.tensor([0, 1, 3, 2, 4, 5])


def commutes(f: Callable, x: Tensor, order: Tensor) -> bool:
    return close(f(x[order]), f(x)[order])


def close(a: Tensor, b: Tensor) -> bool:
    return torch.allclose(a, b, rtol=1e-4, atol=1e-5)


# Layers that commute and layers that do not ---------------------------------------------------------------


def feed_forward(x: Tensor) -> Tensor:
    """Each token by itself, from d features to d."""
    return x.relu() - x.cumsum(dim=-1)


def convolve(x: Tensor) -> Tensor:
    """The sum of each token and its two neighbors, with zeros beyond both ends."""
    nothing = torch.zeros_like(x[:1])
    padded = torch.cat([nothing, x, nothing])
    return padded[:-2] + padded[1:-1] + padded[2:]


def sort_by_first_feature(x: Tensor) -> Tensor:
    return x[x[:, 0].argsort()]


LAYERS = {  # name: (layer, why it commutes or does not)
    "layer norm": (
        lambda x: layer_norm(x, x.shape[-1:]),
        "Layer norm treats each token by itself. It does not matter where the others stand.",
    ),
    "feed-forward": (
        feed_forward,
        "A feed-forward layer treats each token by itself. It does not matter where the others stand.",
    ),
    "residual sum": (
        lambda x: x + feed_forward(x),
        "The residual sum x + f(x) commutes because both of its terms do.",
    ),
    "batch norm over tokens": (
        lambda x: (x - x.mean(0)) / x.std(0),
        "The mean and the deviation over the tokens are the same in every order.",
    ),
    "subtract the mean token": (
        lambda x: x - x.mean(0),
        "The mean token is the same in every order, and each token loses the same.",
    ),
    "cumulative sum": (
        lambda x: x.cumsum(0),
        "A cumulative sum adds the tokens before. Another order puts others before.",
    ),
    "convolution of width 3": (
        convolve,
        "A convolution adds the neighbors. Another order gives other neighbors.",
    ),
    "sort tokens by first feature": (
        sort_by_first_feature,
        "Sorting gives the same rows in every order. That is invariant, f(x[order]) = f(x), not equivariant.",
    ),
}
TOKENS = torch.tensor([[1.0, 2.0], [4.0, 0.0], [2.0, 5.0]])
COMMUTES = {
    name: all(commutes(f, TOKENS, torch.tensor(order)) for order in permutations(range(len(TOKENS))))
    for name, (f, _) in LAYERS.items()
}


def layer_case(name: str, f: Callable) -> Case:
    """The reader's word on a layer, beside what the layer does to three tokens."""

    def show(x: Tensor) -> list:
        return [[round(value, 2) + 0.0 for value in row] for row in x.tolist()]

    text = (
        f"x = {show(TOKENS)}, {describe('order', CYCLE)}\n"
        f"f(x[order]) = {show(f(TOKENS[CYCLE]))}\n"
        f"f(x)[order] = {show(f(TOKENS)[CYCLE])}"
    )
    return Case(text, lambda answer: answer[name])


layers = Check(
    "layers",
    reference=COMMUTES,
    properties={name: [layer_case(name, f)] for name, (f, _) in LAYERS.items()},
    mistakes={why: COMMUTES | {name: not COMMUTES[name]} for name, (_, why) in LAYERS.items()},
)


# Attention -------------------------------------------------------------------------------------------------


def attend(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return attend_scaled(q, k, v, 1 / math.sqrt(q.shape[-1]))


def attend_scaled(q: Tensor, k: Tensor, v: Tensor, scale: float) -> Tensor:
    return (q @ k.mT * scale).softmax(dim=-1) @ v


def naive_attend(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    weights = (q @ k.mT / math.sqrt(q.shape[-1])).exp()
    return weights / weights.sum(dim=-1, keepdim=True) @ v


def forgetful_attend(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    logits = q @ k.mT / math.sqrt(q.shape[-1])
    weights = (logits - logits.max()).exp()
    return weights / weights.sum(dim=-1) @ v


def linear_attend(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    logits = q @ k.mT / math.sqrt(q.shape[-1])
    return logits / logits.sum(dim=-1, keepdim=True) @ v


FINE = {
    "q": torch.tensor([[8192.0, 8192.0], [8192.0, 8192.0]]).double(),
    "k": 8192 * torch.tensor([[1.0, -1.0], [1.0, -1.0]]).double() + torch.tensor([[0.0], [2.0**-12]]),
    "v": count(2, 3).double(),
}

attention = Check(
    "attention",
    reference=attend,
    properties={
        "softmax(qkᵀ/√d) v for any T, N, d and e": [
            call(q=draw(3, 4), k=draw(5, 4), v=draw(5, 2)),
            call(q=draw(4, 4), k=draw(4, 4), v=draw(4, 4)),
            call(q=draw(2, 8), k=draw(6, 8), v=draw(6, 3)),
            call(q=count(2, 3, 4), k=count(2, 5, 4), v=count(2, 5, 2)),
        ],
        "batch and head dimensions in front": [
            call(q=draw(2, 5, 4), k=draw(2, 5, 4), v=draw(2, 5, 4)),
            call(q=draw(2, 3, 5, 4), k=draw(2, 3, 5, 4), v=draw(2, 3, 5, 4)),
            call(q=draw(2, 2, 3, 5, 4), k=draw(2, 2, 3, 5, 4), v=draw(2, 2, 3, 5, 4)),
        ],
        "one token": [call(q=draw(1, 4), k=draw(1, 4), v=draw(1, 4))],
        "large logits": [
            call(q=16 * draw(3, 4), k=16 * draw(3, 4), v=draw(3, 4)),
        ],
        "in the dtype of the input": [
            call(q=torch.zeros(3, 4).bfloat16(), k=count(2, 4).bfloat16(), v=count(2, 3).bfloat16()),
            call("q, k, v in float64, where float32 would lose what tells the keys apart", **FINE),
        ],
    },
    mistakes={
        "The logits are not divided by √d.": lambda q, k, v: attend_scaled(q, k, v, 1.0),
        "The logits are divided by d instead of √d.": lambda q, k, v: attend_scaled(q, k, v, 1 / q.shape[-1]),
        "The logits are divided by √T, T the number of queries, instead of √d.": (
            lambda q, k, v: attend_scaled(q, k, v, q.shape[-2] ** -0.5)
        ),
        "The scale takes the width of v. The d in √d is the width of q and k.": (
            lambda q, k, v: attend_scaled(q, k, v, v.shape[-1] ** -0.5)
        ),
        "The softmax runs over the queries (dim=-2). Each query's weights over the keys must sum to 1.": (
            lambda q, k, v: (q @ k.mT / math.sqrt(q.shape[-1])).softmax(dim=-2) @ v
        ),
        "The division by √d comes after the softmax. It belongs before.": (
            lambda q, k, v: (q @ k.mT).softmax(dim=-1) / math.sqrt(q.shape[-1]) @ v
        ),
        "The keys are not transposed: each logit is a dot product of a query and a key, q @ k.mT.": (
            lambda q, k, v: (q @ k / math.sqrt(q.shape[-1])).softmax(dim=-1) @ v
        ),
        "Rows are queries: q @ k.mT.": lambda q, k, v: attend(k, q, v),
        "These are the weights. Multiply by v.": lambda q, k, v: attend(q, k, torch.eye(k.shape[-2])),
        "The sum lost its axis: keepdim=True.": forgetful_attend,
        "The weights are divided by their sum, but never go through exp. Use a softmax.": linear_attend,
        "The exponential of a large logit is infinite. Subtract each row's maximum first, or use softmax.": (
            naive_attend
        ),
        "Exactly one batch dimension is expected. Count from the end, -2 and -1, and use @, not torch.bmm.": (
            lambda q, k, v: (q @ k.transpose(1, 2) / math.sqrt(q.shape[-1])).softmax(dim=-1) @ v
        ),
        "Dimensions 0 and 1 are the last two only without a batch. Count from the end: -2 and -1.": (
            lambda q, k, v: (q @ k.transpose(0, 1) / math.sqrt(q.shape[-1])).softmax(dim=1) @ v
        ),
        "Dimension 1 is the last only without a batch. The softmax needs dim=-1.": (
            lambda q, k, v: (q @ k.mT / math.sqrt(q.shape[-1])).softmax(dim=1) @ v
        ),
        "squeeze drops a dimension when there is one token.": lambda q, k, v: attend(q, k, v).squeeze(),
        "The result is in float32, whatever came in. It keeps the dtype of the input.": (
            lambda q, k, v: attend(q.float(), k.float(), v.float())
        ),
    },
)


# Is a layer equivariant? -----------------------------------------------------------------------------------


def layer_call(f: Callable, x: Tensor, order: Tensor, name: str) -> Case:
    return call(f"f is {name}, {describe('x', x)}, {describe('order', order)}", f=f, x=x, order=order)


def mean_token(x: Tensor) -> Tensor:
    return x.mean(0).expand_as(x)


def scale_by_sum(x: Tensor) -> Tensor:
    """Added one by one, so that the rounding depends on the order of the tokens on every processor."""
    return x * sum(x)


def sum_of_others(x: Tensor) -> Tensor:
    """Nothing but rounding for a token that outweighs all others."""
    return sum(x) - x


def add_one(token: int, feature: int) -> Callable:
    """A layer that is wrong at a single place, so that the difference shows in two tokens only."""

    def layer(x: Tensor) -> Tensor:
        one = torch.zeros_like(x)
        one[token, feature] = 1
        return x + one

    return layer


def places(x: Tensor) -> Tensor:
    return torch.arange(len(x))[:, None]


def add_to(token: int, other: int) -> Callable:
    """A layer whose difference shows in one token, where an order moves others only."""

    def layer(x: Tensor) -> Tensor:
        y = x.clone()
        y[token] += x[other]
        return y

    return layer


def swap_at_odd_places(x: Tensor) -> Tensor:
    return torch.where(places(x) % 2 == 1, x.flip(-1), x)


def first_token(x: Tensor) -> Tensor:
    return x[:1].expand_as(x)


RISING = torch.arange(6.0).reshape(3, 2)  # another order makes each feature of the first token larger
OPPOSITES = torch.tensor([[1.0, -1.0], [2.0, -2.0]])  # a swap leaves sums, norms and absolute values
TINY = 2.0**-24  # 1 + TINY rounds to 1, and 1 + (TINY + TINY) does not
HEAVY_FIRST = torch.tensor([[1.0], [TINY], [TINY]])

is_equivariant = Check(
    "is_equivariant",
    reference=commutes,
    properties={
        "True where f commutes, False where it does not": [
            layer_call(feed_forward, draw(3, 3), CYCLE, "a feed-forward layer"),
            layer_call(feed_forward, draw(3, 2), SWAP, "a feed-forward layer"),
            layer_call(mean_token, draw(3, 3), CYCLE, "the mean token in each row"),
            layer_call(lambda x: x.cumsum(0), draw(3, 3), CYCLE, "the cumulative sum"),
            layer_call(sort_by_first_feature, draw(3, 3), CYCLE, "sorting by the first feature"),
            layer_call(lambda x: x.flip(0), draw(3, 3), CYCLE, "the reversal of the tokens"),
            layer_call(sort_by_first_feature, torch.ones(3, 3), CYCLE, "sorting, and all tokens are equal"),
            layer_call(swap_at_odd_places, OPPOSITES, SWAP[:2], "a swap of the features at odd places"),
            layer_call(add_one(0, -1), draw(3, 3), ENDS_SWAPPED, "1 added to the last feature of token 0"),
            layer_call(add_one(2, 0), draw(6, 3), MIDDLE_SWAPPED, "1 added to the first feature of token 2"),
            layer_call(add_to(2, 1), draw(3, 2), SWAP, "token 1 added to token 2"),
            layer_call(add_to(0, 1), draw(3, 2), LAST_SWAPPED, "token 1 added to token 0"),
            layer_call(first_token, RISING, CYCLE, "the first token in each row"),
            layer_call(first_token, -RISING, CYCLE, "the first token in each row"),
        ],
        "rounding is forgiven, and nothing else": [
            layer_call(scale_by_sum, HEAVY_FIRST, CYCLE, "x · (sum of the tokens)"),
            layer_call(sum_of_others, HEAVY_FIRST, CYCLE, "the sum of the other tokens"),
            layer_call(lambda x: x + places(x) / 1000, RISING, CYCLE, "x + position / 1000"),
            layer_call(lambda x: x * (1 + places(x) / 250), draw(3, 3), CYCLE, "x · (1 + position / 250)"),
        ],
        "for the order that is given, not for all": [
            layer_call(lambda x: x.flip(0), draw(4, 3), REVERSAL, "the reversal of the tokens"),
        ],
    },
    mistakes={
        "f(x[order]) == f(x) is invariance. Equivariance permutes the result too, f(x)[order].": (
            lambda f, x, order: close(f(x[order]), f(x))
        ),
        "Only the result is permuted. f must see the permuted tokens too: f(x[order]).": (
            lambda f, x, order: close(f(x), f(x)[order])
        ),
        "One side takes the inverse order. Swaps hide this, a cycle of three shows it.": (
            lambda f, x, order: close(f(x[order]), f(x)[order.argsort()])
        ),
        "The order permutes the features. Tokens are rows: x[order], not x[:, order].": (
            lambda f, x, order: close(f(x[:, order]), f(x)[:, order])
        ),
        "Sums or means of the two sides are compared. Compare them token by token.": (
            lambda f, x, order: close(f(x[order]).sum(0), f(x)[order].sum(0)),
            lambda f, x, order: close(f(x[order]).mean(0), f(x)[order].mean(0)),
        ),
        "Each token is reduced to one number, a sum or a length. Compare every feature.": (
            lambda f, x, order: close(f(x[order]).norm(dim=-1), f(x)[order].norm(dim=-1)),
            lambda f, x, order: close(f(x[order]).sum(-1), f(x)[order].sum(-1)),
        ),
        "Only some tokens are compared. A difference may sit in any of them.": (
            lambda f, x, order: close(f(x[order])[0], f(x)[order][0]),
            lambda f, x, order: close(f(x[order])[-1], f(x)[order][-1]),
            lambda f, x, order: close(f(x[order])[:2], f(x)[order][:2]),
        ),
        "Some numbers are not compared. A difference may sit in any feature of any token.": (
            lambda f, x, order: close(f(x[order])[:, 0], f(x)[order][:, 0]),
            lambda f, x, order: close(f(x[order])[:, -1], f(x)[order][:, -1]),
            lambda f, x, order: close(f(x[order])[len(x) // 2], f(x)[order][len(x) // 2]),
        ),
        "f is tried on other tokens. The question is about this x.": (
            lambda f, x, order: commutes(f, torch.randn_like(x), order)
        ),
        "The comparison is exact. Another order of the same sum rounds differently: use torch.allclose.": (
            lambda f, x, order: torch.equal(f(x[order]), f(x)[order])
        ),
        "The default tolerance is relative: next to 0 it forgives nothing. Set atol, say 1e-5.": (
            lambda f, x, order: torch.allclose(f(x[order]), f(x)[order])
        ),
        "The tolerance is so loose that it takes a real difference for rounding.": (
            lambda f, x, order: torch.allclose(f(x[order]), f(x)[order], atol=0.1),
            lambda f, x, order: torch.allclose(f(x[order]), f(x)[order], rtol=0, atol=3e-3),
            lambda f, x, order: torch.allclose(f(x[order]), f(x)[order], rtol=0.01),
        ),
        "Another order is tried, or all of them. The question is about this one: reversal commutes with itself.": (
            lambda f, x, order: all(commutes(f, x, torch.tensor(o)) for o in permutations(range(len(x))))
        ),
        "The result is a tensor. Call .item() or bool() on it.": (
            lambda f, x, order: torch.isclose(f(x[order]), f(x)[order]).all()
        ),
    },
)


# Masks -----------------------------------------------------------------------------------------------------


def permute(mask: Tensor, order: Tensor) -> Tensor:
    return mask[..., order, :][..., order]


permute_mask = Check(
    "permute_mask",
    reference=permute,
    properties={
        "one mask (T, T)": [
            call(mask=draw(3, 3) > 0, order=CYCLE),
            call(mask=draw(4, 4) > 0, order=MIXED),
            call(mask=draw(1, 1) > 0, order=torch.tensor([0])),
            call(mask=draw(5, 5) > 0, order=torch.tensor([3, 0, 4, 1, 2])),
        ],
        "dimensions in front of (T, T)": [
            call(mask=draw(3, 3, 3) > 0, order=CYCLE),
            call(mask=draw(4, 4, 4, 4) > 0, order=MIXED),
            call(mask=draw(4, 3, 3) > 0, order=CYCLE),
        ],
    },
    mistakes={
        "The mask is unchanged, but the tokens have moved.": lambda mask, order: mask,
        "Only the keys are permuted. The queries have moved too.": lambda mask, order: mask[..., order],
        "Only the queries are permuted. The keys have moved too.": lambda mask, order: mask[..., order, :],
        "This is the inverse order. x[order] puts token order[t] at place t.": (
            lambda mask, order: permute(mask, order.argsort())
        ),
        "The mask is transposed: queries are rows, keys are columns.": (
            lambda mask, order: permute(mask, order).mT
        ),
        "The order permutes the first two dimensions. Queries and keys are the last two.": (
            lambda mask, order: mask[order][:, order]
        ),
        "The dimensions are counted from the front. A mask (T, T) has two: count from the end.": (
            lambda mask, order: mask[:, :, order][:, :, :, order]
        ),
        "Two indices in one bracket pick pairs, here the diagonal. Index twice.": (
            lambda mask, order: mask[..., order, order]
        ),
        "The mask has become numbers. It must stay Boolean.": (
            lambda mask, order: permute(mask, order).float()
        ),
    },
)


# Symmetries of a bias --------------------------------------------------------------------------------------


def orders_where(holds: Callable[[Tensor, Tensor], bool]) -> Callable[[Tensor], list]:
    """The function that lists the orders under which `holds(bias, order)`."""
    return lambda bias: [o for o in permutations(range(len(bias))) if holds(bias, torch.tensor(o))]


def change(bias: Tensor, order: Tensor) -> Tensor:
    return bias[order][:, order] - bias


def is_constant(x: Tensor, dim: int) -> bool:
    return bool((x.amax(dim) - x.amin(dim)).max() < 1e-5)


def is_symmetry(bias: Tensor, order: Tensor) -> bool:
    """Softmax ignores what is added to all logits of a query, so a row of the change may be any constant."""
    return is_constant(change(bias, order), dim=1)


def bias_case(name: str, entry: Callable[[Tensor, Tensor], Tensor], length: int = 4) -> Case:
    place = torch.arange(float(length))
    bias = entry(place[:, None], place[None, :]).expand(length, length)
    return call(f"bias[i, j] = {name}, T = {length}", bias=bias.clone())


list_symmetries = orders_where(is_symmetry)

symmetries = Check(
    "symmetries",
    reference=list_symmetries,
    properties={
        "both axes take the same order": [
            bias_case("−|i − j|", lambda i, j: -(i - j).abs(), 3),
            bias_case("0", lambda i, j: 0 * i, 3),
            bias_case("−|i − j|", lambda i, j: -(i - j).abs()),
            bias_case("(j − i) mod T", lambda i, j: (j - i) % 4),
            bias_case("−min(|i − j|, T − |i − j|)", lambda i, j: -torch.minimum((i - j) % 5, (j - i) % 5), 5),
            bias_case("a random number", lambda i, j: draw(4, 4)),
        ],
        "what is constant along a row does not count": [
            bias_case("−i", lambda i, j: -i),
            bias_case("j", lambda i, j: j),
            bias_case("j − i", lambda i, j: j - i),
            bias_case("i² − |i − j|", lambda i, j: i * i - (i - j).abs()),
            bias_case("10⁶ i + j", lambda i, j: 1e6 * i + j),
        ],
        "rounding does not count": [
            bias_case("−|i/10 − j/10|", lambda i, j: -(i * 0.1 - j * 0.1).abs()),
            bias_case("−|i − j|/1000", lambda i, j: -(i - j).abs() / 1000),
        ],
    },
    mistakes={
        "A tuple indexes several axes at once. Make it a list or a tensor.": (
            lambda bias: [o for o in permutations(range(len(bias))) if is_constant(bias[o] - bias, dim=1)]
        ),
        "Two indices in one bracket pick pairs, here the diagonal. Index twice.": orders_where(
            lambda bias, order: is_constant(bias[order, order] - bias, dim=1)
        ),
        "Only one axis is permuted. A change of order moves queries and keys.": (
            orders_where(lambda bias, order: is_constant(bias[order] - bias, dim=1)),
            orders_where(lambda bias, order: is_constant(bias[:, order] - bias, dim=1)),
        ),
        "The two axes take opposite orders. Queries and keys move alike.": orders_where(
            lambda bias, order: is_constant(bias[order][:, order.argsort()] - bias, dim=1)
        ),
        "The bias itself must not change here. Softmax allows more: any constant added to a row.": orders_where(
            lambda bias, order: torch.allclose(change(bias, order), torch.zeros_like(bias), atol=1e-5)
        ),
        "A constant along each column is ignored. The softmax runs along a row.": orders_where(
            lambda bias, order: is_constant(change(bias, order), dim=0)
        ),
        "The tolerance grows with the row's constant, which the softmax ignores. Set rtol=0.": orders_where(
            lambda bias, order: torch.allclose(change(bias, order), change(bias, order)[:, :1], atol=1e-5)
        ),
        "A rounding error looks like a change. Compare with a tolerance, say atol=1e-5.": orders_where(
            lambda bias, order: bool((change(bias, order) == change(bias, order)[:, :1]).all())
        ),
        "The identity is missing. It is a symmetry of every bias.": lambda bias: list_symmetries(bias)[1:],
        "This is the number of symmetries. Return the list.": lambda bias: len(list_symmetries(bias)),
        "This is a set. Return a list of tuples.": lambda bias: set(list_symmetries(bias)),
        "These are lists. Return a list of tuples.": lambda bias: [list(o) for o in list_symmetries(bias)],
    },
    answers=(
        Answer(
            "how_many",
            24,
            {
                "The bias −i is constant along each row, so the softmax does not see it.": lambda n: n < 24,
                "Those are the orders of five tokens.": 120,
                "The tokens have 4! orders.": lambda n: n > 24,
            },
        ),
    ),
)


# Positions out of a causal mean ----------------------------------------------------------------------------


def causal_mean(values: Tensor) -> Tensor:
    """Causal attention with all logits equal: entry t is the mean of values[0..t]."""
    looks = torch.ones(len(values), len(values)).tril()
    return looks / looks.sum(dim=-1, keepdim=True) @ values.float()


def text(length: int) -> Tensor:
    """The begin mark 0, then random tokens that repeat."""
    return torch.cat([torch.zeros(1), torch.randint(1, 5, (length - 1,), generator=generator)]).long()


def first_share(tokens: Tensor, causal_mean: Callable) -> Tensor:
    return 1 / causal_mean((tokens == 0).float())


def recover(tokens: Tensor, causal_mean: Callable) -> Tensor:
    return (first_share(tokens, causal_mean) - 1).round().long()


def ask_in_vain(answer: Callable) -> str:
    """What an answer finds where attention tells it nothing."""
    tokens = text(4)
    found = attempt(answer, tokens.clone(), lambda values: torch.ones(values.shape))
    return "no positions" if difference(torch.arange(len(tokens)), found) else "all positions"


def rearranged_mean(values: Tensor) -> Tensor:
    """Answers for the positions 0, 3, 2, 1: they tell who reads them and who counts."""
    return causal_mean(values)[[0, 3, 2, 1]]


def strict_mean(tokens: Tensor) -> Callable:
    """A causal_mean that refuses values which tell equal tokens apart."""

    def mean(values: Tensor) -> Tensor:
        for token in tokens:
            alike = values[tokens == token]
            if difference(alike[:1].expand_as(alike), alike):
                raise Misconduct("Gives causal_mean different values for equal tokens")
        return causal_mean(values)

    return mean


STUTTER = torch.tensor([0, 2, 1, 2, 1])


recover_positions = Check(
    "recover_positions",
    reference=recover,
    properties={
        "the positions 0 to T − 1": [
            call(tokens=text(4), causal_mean=causal_mean),
            call(tokens=text(7), causal_mean=causal_mean),
            call(tokens=text(128), causal_mean=causal_mean),
        ],
        "one token": [call(tokens=text(1), causal_mean=causal_mean)],
        "they come from causal_mean": [
            Case("4 tokens, and a causal_mean that returns ones", ask_in_vain),
            call(
                "4 tokens, and a causal_mean that swaps what it returns at 1 and 3",
                tokens=text(4),
                causal_mean=rearranged_mean,
            ),
        ],
        "equal tokens bring equal values": [call(tokens=STUTTER, causal_mean=strict_mean(STUTTER))],
    },
    mistakes={
        "This counts from 1: the begin mark stands at position 0.": (
            lambda tokens, mean: first_share(tokens, mean).round().long()
        ),
        "The positions are floats. Round them and call .long().": (
            lambda tokens, mean: first_share(tokens, mean) - 1
        ),
        ".long() cuts off, and 1 / (1 / n) may lie below n. Round first.": (
            lambda tokens, mean: (first_share(tokens, mean) - 1).long()
        ),
        "This is the share of the begin mark, not yet the position.": (
            lambda tokens, mean: mean((tokens == 0).float())
        ),
        "The mean of the token ids depends on the text. Average a value that only the begin mark has.": (
            lambda tokens, mean: (1 / mean(tokens.float()) - 1).round().long()
        ),
        "squeeze drops a dimension when there is one token.": (
            lambda tokens, mean: recover(tokens, mean).squeeze()
        ),
        "The positions never pass through causal_mean, so attention did not find them.": (
            lambda tokens, mean: torch.arange(len(tokens))
        ),
        "The share only tells the first token from the others. It gives each position: 1 / (t + 1).": (
            lambda tokens, mean: (mean((tokens == 0).float()) < 1).long().cumsum(0)
        ),
        "These values know the position already. Equal tokens must bring equal values.": (
            lambda tokens, mean: (2 * mean(torch.arange(len(tokens)))).round().long()
        ),
    },
)
