import math

import pytest
import torch
from torch import nn
from torch.testing import assert_close

from d2lpos import ALiBi, Attention, RoPE, T5Bias
from d2lpos.transformer import Cache, Mask, attend, attention_weights, causal_mask, segment_mask

POSITIONS = torch.arange(6)
SEGMENTS = torch.tensor([[0, 0, 0, 0, 1, 1], [0, 1, 1, 1, 1, 1]])


def hide(*rows):
    mask = torch.ones(6, 6, dtype=torch.bool)
    mask[list(rows)] = False
    return mask


def by_head():
    return torch.rand(2, 2, 6, 6, generator=torch.Generator().manual_seed(2)) < 0.6


MASKS = {
    "none": None,
    "causal": causal_mask(POSITIONS, POSITIONS),
    "segments and causal": segment_mask(SEGMENTS, SEGMENTS) & causal_mask(POSITIONS, POSITIONS),
    "by head": by_head(),
    "hidden rows": hide(0, 3),
}
each_mask = pytest.mark.parametrize("mask", MASKS.values(), ids=MASKS)


def by_loops(q, k, v, encoding, positions, mask):
    """Attention with a loop for every axis, through the encoding's own doors."""
    batch, heads, length, features = q.shape
    q, k, score = *encoding.rotate(q, k, positions, positions), encoding.score(q, k, positions, positions)
    score = torch.zeros(()) if score is None else score
    score = score.expand(batch, heads, length, length)
    weights = torch.zeros(batch, heads, length, length, dtype=q.dtype)
    if mask is None:
        mask = torch.tensor(True)
    if mask.dim() == 3:
        mask = mask[:, None]
    mask = mask.expand(batch, heads, length, length)
    for b in range(batch):
        for h in range(heads):
            for i in range(length):
                powers = {}
                for j in range(length):
                    if mask[b, h, i, j]:
                        product = sum(q[b, h, i, f].item() * k[b, h, j, f].item() for f in range(features))
                        powers[j] = math.exp(product / math.sqrt(features) + score[b, h, i, j].item())
                for j, power in powers.items():
                    weights[b, h, i, j] = power / sum(powers.values())
    extra = encoding.value(weights, positions, positions)
    return weights, torch.einsum("bhij, bhjf -> bhif", weights, v) + (0 if extra is None else extra)


@each_mask
def test_attention_by_loops(encoding, mask, qkv):
    q, k, v = qkv
    weights, output = by_loops(q, k, v, encoding, POSITIONS, mask)
    assert_close(attention_weights(q, k, POSITIONS, POSITIONS, encoding, mask), weights, atol=1e-6, rtol=0)
    assert_close(attend(q, k, v, POSITIONS, POSITIONS, encoding, mask), output, atol=1e-6, rtol=0)


@pytest.mark.parametrize("mask", [MASKS["segments and causal"], MASKS["hidden rows"]], ids=["segments and causal", "hidden rows"])
def test_fused_attention_equals_explicit_weights_and_so_do_gradients(encoding, mask, qkv):
    inputs = [x.requires_grad_() for x in qkv]
    q, k, v = inputs
    weights = attention_weights(q, k, POSITIONS, POSITIONS, encoding, mask)
    extra = encoding.value(weights, POSITIONS, POSITIONS)
    explicit = weights @ v + (0 if extra is None else extra)
    fused = attend(q, k, v, POSITIONS, POSITIONS, encoding, mask)
    assert_close(fused, explicit)
    upstream, inputs = torch.randn_like(fused), [*inputs, *encoding.parameters()]
    ours, theirs = (
        torch.autograd.grad(y, inputs, upstream, retain_graph=True, allow_unused=True)
        for y in (fused, explicit)
    )
    for one, other in zip(ours, theirs, strict=True):
        assert_close(one, other)
        assert one is None or one.isfinite().all()


@pytest.mark.parametrize(("queries", "keys"), [(0, 3), (3, 0)])
def test_empty_sequences(queries, keys, encoding, qkv):
    q, k, v = (x[:, :, :n] for x, n in zip(qkv, (queries, keys, keys), strict=True))
    y = attend(q, k, v, torch.arange(queries), torch.arange(keys), encoding)
    assert y.shape == (2, 2, queries, 8)
    assert keys or not y.any()


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_a_bias_of_far_keys_keeps_its_differences(dtype, qkv):
    """In the first head their bias is about −2500, and bfloat16 has no number between −2496 and −2512."""
    q, k, v = (x.to(dtype) for x in qkv)
    encoding, mask = ALiBi(2), MASKS["causal"]
    got = attend(q, k, v, POSITIONS + 40_000, POSITIONS, encoding, mask)
    want = attend(q.float(), k.float(), v.float(), POSITIONS + 40_000, POSITIONS, encoding, mask)
    assert_close(got.float(), want, atol=0.05, rtol=0)
    nothing = torch.arange(0)
    assert not attend(q, k[:, :, :0], v[:, :, :0], POSITIONS, nothing, encoding).any()


# A cache


def test_new_tokens_see_the_cache_and_join_it(encoding, place):
    layer, cache = Attention(16, 2, encoding, causal=True).double(), Cache()
    x, positions = torch.randn(2, 6, 16, dtype=torch.float64), place([0, 1, 3, 5, 6, 8])
    pieces = [
        layer(x[:, start:end], positions[start:end], cache=cache) for start, end in ((0, 3), (3, 4), (4, 6))
    ]
    assert_close(torch.cat(pieces, dim=1), layer(x, positions))
    assert torch.equal(cache.positions, positions)


@pytest.mark.parametrize(
    ("positions", "mask", "error"),
    [(torch.arange(2), hide(0), ValueError), (torch.arange(2.0), None, TypeError)],
    ids=["a mask of another size", "positions that door 3 refuses"],
)
def test_a_refused_call_leaves_the_cache_as_it_was(positions, mask, error):
    layer, cache, x = Attention(16, 2, T5Bias(2), causal=True), Cache(), torch.randn(1, 3, 16)
    layer(x, torch.arange(3), cache=cache)
    before = vars(cache).copy()
    with pytest.raises(error):
        layer(x[:, :2], positions, mask, cache)
    assert vars(cache).keys() == before.keys() and all(before[name] is x for name, x in vars(cache).items())


def test_the_cache_holds_what_came_before_door_2():
    layer, cache = Attention(16, 2, RoPE(8), causal=True), Cache()
    x = torch.randn(2, 5, 16)
    layer(x[:, :3], torch.arange(3), cache=cache)
    layer(x[:, 3:], torch.arange(3, 5), cache=cache)
    _, keys, values = layer.project(x).unflatten(-1, (3, 2, 8)).permute(2, 0, 3, 1, 4)
    assert_close(cache.keys, keys)
    assert_close(cache.values, values)
    assert cache.positions.tolist() == [0, 1, 2, 3, 4]


def test_weights_of_torchs_layer_give_what_it_gives():
    theirs = nn.MultiheadAttention(16, 4, batch_first=True).double()
    ours = Attention(16, 4).double()
    ours.project.weight, ours.project.bias = theirs.in_proj_weight, theirs.in_proj_bias
    ours.out = theirs.out_proj
    x = torch.randn(2, 6, 16, dtype=torch.float64)
    assert_close(ours(x, torch.arange(6)), theirs(x, x, x)[0])


# Grouped queries


@pytest.mark.parametrize("mask", ["segments and causal", "in order"])
def test_grouped_queries_are_keys_repeated(encoding, mask, place):
    """Heads that stand side by side share a key, in every door; gradients too."""
    positions = place(range(6))
    mask = Mask(positions) if mask == "in order" else MASKS[mask]
    heads = 2 if "score" in encoding.doors else 4  # of which two share one: a single head would serve any number
    q = torch.randn(2, heads, 6, 8).double().requires_grad_()
    k, v = (x.requires_grad_() for x in torch.randn(2, 2, heads // 2, 6, 8).double())
    wide_k, wide_v = (x.repeat_interleave(2, dim=1) for x in (k, v))
    got = attend(q, k, v, positions, positions, encoding, mask)
    want = attend(q, wide_k, wide_v, positions, positions, encoding, mask)
    assert_close(got, want)
    weights = attention_weights(q, k, positions, positions, encoding, mask)
    assert_close(weights, attention_weights(q, wide_k, positions, positions, encoding, mask))
    upstream = torch.randn_like(got)
    ours, theirs = (torch.autograd.grad(y, (q, k, v), upstream) for y in (got, want))
    assert_close(ours, theirs)


def test_a_layer_with_fewer_key_heads_is_one_whose_key_heads_are_alike(encoding, place):
    few = Attention(16, 2, encoding, kv_heads=1).double()
    full = Attention(16, 2, encoding).double()
    rows = [*range(16), *range(16, 24), *range(16, 24), *range(24, 32), *range(24, 32)]
    full.project.weight.data, full.project.bias.data = few.project.weight[rows], few.project.bias[rows]
    full.out = few.out
    x, positions = torch.randn(2, 6, 16).double(), place([0, 1, 2, 4, 5, 9])
    assert_close(few(x, positions), full(x, positions))
    assert few.project.weight.shape == (32, 16)


def test_weights_of_halves_are_computed_in_float32():
    q, k = (8 * torch.randn(2, 1, 2, 40, 16)).to(torch.bfloat16)
    here = torch.arange(40)
    want = attention_weights(q.float(), k.float(), here, here)
    assert torch.equal(attention_weights(q, k, here, here), want.to(torch.bfloat16))
