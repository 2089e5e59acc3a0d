"""Random chains of what is done to a cache, against loops that share no code with the package."""

import math
import random

import numpy as np
import pytest
import torch

from d2lpos import ALiBi, Attention, Encoding, RoPE
from d2lpos.transformer import Cache
from d2lpos.transformer.cache import crop, evict, rebase, reorder

HEADS, FEATURES = 2, 4
DIM = HEADS * FEATURES
MAKE = {"none": Encoding, "rope": lambda: RoPE(FEATURES, base=50.0), "alibi": lambda: ALiBi(HEADS)}


def turned(x, place):
    """The two pairs of a head of 4 features, as halves: frequencies 1 and 50^(−1/2)."""
    angles = place * np.array([1.0, 50.0**-0.5])
    (a, b), cos, sin = x.reshape(2, 2), np.cos(angles), np.sin(angles)
    return np.concatenate([a * cos - b * sin, b * cos + a * sin])


def answer(layer, name, tokens):
    """What the last of the tokens, each an embedding with a position, gets of a causal layer."""
    weight, bias, out, more = (p.detach().numpy() for p in (*layer.project.parameters(), *layer.out.parameters()))
    parts = [(weight @ x + bias).reshape(3, HEADS, FEATURES) for x, _ in tokens]
    here, outputs = tokens[-1][1], []
    for head in range(HEADS):
        scores, values = [], []
        for (_, k, v), (_, there) in zip(parts, tokens, strict=True):
            if there > here or layer.window is not None and here - there >= layer.window:
                continue
            one, other = parts[-1][0][head], k[head]
            if name == "rope":
                one, other = turned(one, here), turned(other, there)
            far = 2.0 ** (-4 * (head + 1)) * (here - there) if name == "alibi" else 0
            scores.append(one @ other / math.sqrt(FEATURES) - far)
            values.append(v[head])
        shares = np.exp(scores - np.max(scores))
        outputs.append(shares @ np.array(values) / shares.sum())
    return out @ np.concatenate(outputs) + more


def places(some, first, length):
    """Positions that rise by unequal steps."""
    return list(np.cumsum([first, *(some.choice((1, 1, 2, 5)) for _ in range(length))])[1:].tolist())


@pytest.mark.parametrize("name", MAKE)
def test_after_any_chain_of_changes_a_cache_serves_the_tokens_that_are_left(name):
    some = random.Random(name)
    torch.manual_seed(0)
    for trial in range(20):
        layer = Attention(DIM, HEADS, MAKE[name](), causal=True, window=some.choice((None, 6))).double()
        cache = Cache(rotated=name != "alibi" and some.random() < 0.5, capacity=some.choice((0, 2, 16)))
        rows, shortest = [[] for _ in range(some.randint(1, 3))], 0
        for change in ["step", *some.choices(("step", "step", "step", "evict", "crop", "reorder", "rebase"), k=7)]:
            length = len(rows[0])
            if change == "step" or not length:
                x = torch.randn(len(rows), new := some.randint(1, 3), DIM, dtype=torch.float64)
                ends = [places(some, row[-1][1] if row else some.choice((-1, 40)), new) for row in rows]
                with torch.no_grad():
                    y = layer(x, torch.tensor(ends), cache=cache)
                for row, xs, ps, ys in zip(rows, x.numpy(), ends, y.numpy(), strict=True):
                    for token, got in zip(zip(xs, ps, strict=True), ys, strict=True):
                        row.append(token)
                        np.testing.assert_allclose(got, answer(layer, name, row), atol=1e-6, err_msg=f"{name}, {trial}")
            elif change == "evict":
                sinks, window = some.randint(0, 2), some.randint(1, 5)
                cache = evict(cache, sinks, window)
                if length > sinks + window:
                    rows = [row[:sinks] + row[-window:] for row in rows]
                    shortest = sinks + window
            elif change == "crop":
                cache = crop(cache, left := some.randint(min(shortest, length), length))
                rows = [row[:left] for row in rows]
            elif change == "reorder":
                picked = some.choices(range(len(rows)), k=some.randint(1, 3))
                cache, rows = reorder(cache, torch.tensor(picked)), [list(rows[i]) for i in picked]
            else:
                moved = [places(some, some.choice((-1, 30)), length) for _ in rows]
                cache = rebase(cache, torch.tensor(moved), layer.encoding)
                rows = [[(x, p) for (x, _), p in zip(row, ps, strict=True)] for row, ps in zip(rows, moved, strict=True)]
