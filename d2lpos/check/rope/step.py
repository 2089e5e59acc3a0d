"""A cache."""

import math
from collections.abc import Callable
from itertools import product

import torch
from torch import Tensor

from ...input.sinusoids import angles as angles_of
from ...input.sinusoids import frequencies
from ...rotary.rope import rotate
from ..verdict import Case, Check, count, is_empty
from .material import draw, pair_angles, turn_both, turned_pair


def turned_at(x: Tensor, position: float) -> Tensor:
    angles = position * pair_angles(len(x), 10_000.0).to(x)
    return torch.cat(turned_pair(*x.chunk(2), angles))


def decode_step(q, k, v, keys, values):
    position = len(keys)
    keys = torch.cat([keys, turned_at(k, position)[None]])
    values = torch.cat([values, v[None]])
    return (keys @ turned_at(q, position) / math.sqrt(len(q))).softmax(0) @ values, keys, values


def turned_again(q, k, v, keys, values):
    """The whole cache is turned by the newest position, as if nothing in it had turned."""
    angles = len(keys) * pair_angles(len(q), 10_000.0).to(q)
    return decode_step(q, k, v, turn_both(keys, angles, "half"), values)


def blind_to_itself(q, k, v, keys, values):
    _, new_keys, new_values = decode_step(q, k, v, keys, values)
    own_keys, own_values = (keys, values) if len(keys) else (new_keys, new_values)
    query = turned_at(q, len(keys))
    return (own_keys @ query / math.sqrt(len(q))).softmax(0) @ own_values, new_keys, new_values


def decoding(tokens: int, d: int, e: int, texts: int = 1) -> Case:
    """All outputs of a text that is read token by token, or of several that are read in turn."""
    q, k, v = draw(tokens, texts, d), draw(tokens, texts, d), draw(tokens, texts, e)

    def ask(answer: Callable) -> object:
        caches, outputs = [(q[:0, 0], v[:0, 0])] * texts, []
        for t, text in product(range(tokens), range(texts)):
            one = answer(q[t, text].clone(), k[t, text].clone(), v[t, text].clone(), *caches[text])
            if is_empty(one):
                return one
            output, *caches[text] = one
            outputs.append(output)
        return torch.stack(outputs)

    turns = f"{texts} texts in turn, each of " * (texts > 1)
    return Case(f"{turns}{count(tokens, 'token')}, one by one, d = {d}, e = {e}", ask)


def grown(cache, new):
    return torch.cat([cache, new.unsqueeze(0)])


def turned(x, position):
    return rotate(x, angles_of(torch.tensor(position), frequencies(len(x))))


def attended(q, keys, values, scale=None):
    scores = keys @ q / (math.sqrt(len(q)) if scale is None else scale)
    return torch.softmax(scores, dim=0) @ values


def root_of_values(q, k, v, keys, values):
    n = len(keys)
    keys, values = grown(keys, turned(k, n)), grown(values, v)
    return attended(turned(q, n), keys, values, v.numel() ** 0.5), keys, values


def counts_after_adding(q, k, v, keys, values):
    keys, values = grown(keys, turned(k, len(keys))), grown(values, v)
    return attended(turned(q, len(keys)), keys, values), keys, values


step = Check(
    "step",
    reference=decode_step,
    properties={
        "a text read token by token": [
            decoding(1, 4, 4), decoding(2, 4, 4), decoding(6, 4, 4), decoding(70, 8, 8), decoding(3, 4, 4, texts=2),
        ],
        "values of another length than keys": [decoding(1, 4, 2), decoding(3, 4, 2), decoding(3, 4, 6)],
    },
    mistakes={
        "Nothing turns. Query and key turn by the position of the new token, which is len(keys).":
            "torch.cat(turned_pair(*x.chunk(2), angles)) → x",
        "The cached keys are turned again, by the newest position. They have turned by their own.":
            turned_again,
        "The new key turns for its own step, but is kept as it was. Keep the turned one.":
            "@ values, keys, values → @ values, torch.cat([keys[:-1], k[None]]), values",
        "The new token does not see itself. Put its key and value into the cache first.": (
            blind_to_itself,
            "return (keys @ → return (keys[:-1] @",
            "return (keys @ turned_at(q, position) / math.sqrt(len(q))).softmax(0) @ values → return (keys[:-1] @ turned_at(q, position) / math.sqrt(len(q))).softmax(0) @ values[:-1]",
        ),
        "The scores lack their division by √d.":
            "turned_at(q, position) / math.sqrt(len(q)) → turned_at(q, position)",
        "√d is that of queries and keys, not of values.": root_of_values,
        "The query is one position after its own key.": counts_after_adding,
        "The results come in another order: the output first, then keys, then values.": (
            lambda *arguments: decode_step(*arguments)[1:] + decode_step(*arguments)[:1],
            "@ values, keys, values → @ values, values, keys",
        ),
    },
    cards=(root_of_values, counts_after_adding),
    fixed={f"{cache} is contiguous": "The cache comes as the answer returned it." for cache in ("keys", "values")},
    as_good={
        **{f"argument {at} spoiled": "Nobody asks for it again: a step gets copies, and returns caches." for at in range(5)},
        "return (a * angles.cos() - b * angles.sin(), a * angles.sin() + b * angles.cos()) → return (a * angles.sin() + b * angles.cos(), a * angles.cos() - b * angles.sin())": "Turned the other way and mirrored, queries and keys have the same scores.",
        "a * angles.cos() - b * angles.sin() → b * angles.sin() - a * angles.cos()": "A sign that changes in queries and in keys leaves the scores.",
        "torch.arange(0, d, 2).double() → torch.arange(0, d, 2)": "float32 is exact enough for the cases.",
        "torch.arange(0, d, 2).double() → torch.arange(0, d, 2).float()": "float32 is exact enough for the cases.",
        "pair_angles(len(x), 10000.0) → pair_angles(len(x), 10001.0)": "In a few tokens, nobody can tell so small a change of the base.",
        "len(keys) → len(values)": "There are as many values as keys.",
        "len(q) → len(k)": "Queries and keys are equally wide.",
        "(keys @ turned_at(q, position) / math.sqrt(len(q))).softmax(0) → (keys @ turned_at(q, position) / math.sqrt(len(q))).softmax(-1)": "The scores of one query have one axis.",
    },
)
