"""Every bad call gets an error that names the argument, the limit and what came."""

from functools import partial

import pytest
import torch

from d2lpos import ALiBi, Attention, Encoding, Learned, RoPE, Sinusoidal, T5Bias, Transformer
from d2lpos.bias import BEiT, Decomposed, bucket, relative_position_index
from d2lpos.bias.alibi import bias, ramp, slopes
from d2lpos.bias.base import distance, score_mod
from d2lpos.bias.kerple import power
from d2lpos.bias.sandwich import Sandwich, cosines
from d2lpos.bias.swin_v2 import SwinV2, log_spaced
from d2lpos.content import CoPE, FoX, Inkling, PaTH, gated_distance, householder_scores
from d2lpos.content.decay import chunks, decays, delta, matrix, recurrence
from d2lpos.input.convolutional import Convolutional
from d2lpos.input.graph import laplacian_features, random_walk_features
from d2lpos.input.mlp import FourierFeatures, PositionMLP, perceptron, widen
from d2lpos.input.sinusoids import frequencies
from d2lpos.offset import DeBERTa, Shaw, ShawKeys, deberta
from d2lpos.offset.skew import key_term, skew
from d2lpos.offset.transformer_xl import TransformerXL, offset_products
from d2lpos.positions.checks import as_float, as_index, offsets
from d2lpos.positions.packing import cu_seqlens, segments_from_cu_seqlens
from d2lpos.positions.position_ids import (
    from_padding,
    interpolate,
    next_positions,
    random_positions,
)
from d2lpos.rotary import Mixed, Normed, PoPE, RoPEValues, convert, permute_qk_rows, rotate, rotate_fast
from d2lpos.rotary.mrope import MRoPE, in_turn
from d2lpos.rotary.scaling import (
    freeze_pairs,
    linear,
    llama3,
    longrope,
    ntk,
    proportional,
    ring,
    yarn,
)
from d2lpos.transformer import temperature
from d2lpos.transformer.attention import attend, attention_weights
from d2lpos.transformer.cache import Cache, crop, evict, rebase, reorder
from d2lpos.transformer.dropout import Dropped, combine, drop, segment_ends, special_tokens
from d2lpos.transformer.flex import attend_flex, block_mask
from d2lpos.transformer.masks import Mask
from d2lpos.transformer.mla import absorbed, built, scores
from d2lpos.transformer.temperature import logarithm, multiply

NAN, INF = float("nan"), float("inf")
P = torch.arange(5)
META = P.to("meta")
X = torch.zeros(2, 5, 16)
Q = torch.zeros(2, 2, 5, 8)
TOKENS = torch.zeros(2, 5, dtype=torch.int64)
LOOK = torch.ones(5, 5, dtype=torch.bool)
NOPE = Encoding()
ONE = torch.tensor(1.0)


class Both(Encoding):
    """Doors 2 and 3."""

    def __init__(self, heads):
        super().__init__()

    def rotate(self, q, k, q_positions, k_positions):
        return -q, -k

    def score(self, q, k, q_positions, k_positions):
        return q @ k.mT


class Turn4(Encoding):
    """Doors 2 and 4."""

    def __init__(self, heads):
        super().__init__()

    rotate = Both.rotate

    def value(self, weights, q_positions, k_positions):
        return None


BAD = []


def bad(subject, message, *args, call=None, **kwargs):
    """Add a bad call of subject, or of an object made from it, with its error: "Type: message"."""
    BAD.append(
        pytest.param(partial(call or subject, *args, **kwargs), message, id=f"{subject.__name__}-{message}")
    )


# Positions

bad(offsets, "ValueError: k_positions must be (…, sequence); got a tensor without axes", P, P[3])
differ = "must broadcast in all axes but the last; got"
bad(
    offsets, f"ValueError: q_positions and k_positions {differ} (2, 5) and (3, 5)",
    P.expand(2, 5), P.expand(3, 5),
)
no_axis = "must be (…, sequence); got a tensor without axes"
bad(from_padding, f"ValueError: tokens {no_axis}", P[0] > 1)
bad(next_positions, "ValueError: positions must be (…, sequence, 3); got (2, 5)", TOKENS, 2, 3)
bad(next_positions, "ValueError: positions must hold at least one to follow; got (2, 0)", TOKENS[:, :0], 2)
bad(interpolate, "ValueError: factor must be finite and positive; got 0", P, 0)
bad(
    random_positions, "ValueError: length must be at most limit = 4, because no position repeats; got 5",
    1, 5, 4,
)
for places, unit, bits, worst in (
    (P.float() + 2**24, "in float32", 24, 16777220.0),
    (P.double() - 2**53, "in float64", 53, -9007199254740992.0),
    (P + 2**53, "as integers", 53, 9007199254740996),
    (-P - 2**53, "as integers", 53, -9007199254740996),
    (torch.tensor([2**64 - 1], dtype=torch.uint64), "as integers", 53, 2**64 - 1),
):
    too_far = f"must be less than 2**{bits} away from 0 {unit}, or rounded; got {worst}"
    bad(as_float, f"ValueError: positions {too_far}", places)
bad(distance, f"ValueError: offset must be less than 2**53 away from 0 as integers, or rounded; got {2**53}", P[:1] + 2**53)
for worst in 2**62 + 1, -(2**62) - 1:
    bad(as_index, f"ValueError: positions must lie within 2**62 of 0, or offsets wrap; got {worst}", P[:1] + worst)

# Sizes and numbers

CELLS = torch.tensor([[0, 0], [0, 1], [0, 2], [1, 0], [1, 1]])
bad(slopes, "ValueError: heads must be positive; got 0", 0)
bad(slopes, "ValueError: heads must be at most 2147483647; got 1099511627776", 2**40)
for encoding in T5Bias(3), TransformerXL(24, 3), FoX(24, 3), PaTH(24, 3), Inkling(24, 3):
    subject, states = type(encoding), encoding.hidden_features(torch.zeros(2, 5, 24))
    hidden = () if states is None else (states,)
    wrong = f"ValueError: q must have 3 heads, as {subject.__name__} has; got 2"
    bad(subject, wrong, Q, Q, P, P, *hidden, call=encoding.score)
for call in Mixed(8, 2).rotate, PoPE(8, 2).rotate, ShawKeys(8, 2).score, Normed(RoPE(8)).rotate:
    places, subject = P if call.__self__.axes == 1 else CELLS, type(call.__self__)
    turns = "RoPE" if subject is Normed else subject.__name__
    wrong = f"ValueError: q must have 8 features a head, as {turns} has; got 4"
    bad(subject, wrong, Q[..., :4], Q, places, places, call=call)
for encoding in DeBERTa(2, 8, 3), CoPE(8, 3):
    wrong = f"ValueError: k must have 8 features a head, as {type(encoding).__name__} has; got 4"
    bad(type(encoding), wrong, Q, Q[..., :4], P, P, call=encoding.score)
odd_size = "dim must be even, because each frequency turns a pair; got 7"
for subject, args in (Sinusoidal, (7,)), (TransformerXL, (7, 1)), (cosines, (P, P, 7)), (Sandwich, (2, 7)), (RoPE, (7,)):
    bad(subject, f"ValueError: {odd_size}", *args)
for subject, args in (TransformerXL, (10, 3)), (PaTH, (10, 3)), (Attention, (10, 3)), (Transformer, (7, 3, 10, 3)):
    bad(subject, "ValueError: dim must be a multiple of heads; got dim=10, heads=3", *args)
bad(Transformer, "ValueError: vocabulary must be positive; got 0", 0, 3)
bad(Attention, "ValueError: heads must be a multiple of kv_heads; got heads=4, kv_heads=3", 16, 4, kv_heads=3)
for subject, rest in (RoPE, (8,)), (Mixed, (8, 2)), (PoPE, (8, 2)):
    bad(subject, "TypeError: base must be a number; got '1e4'", *rest, base="1e4")
    bad(subject, "ValueError: base must be a number that float32 holds; got 1e+300", *rest, base=1e300)
bad(frequencies, "ValueError: base must be finite and above 1; got 1.0", 8, 1.0)
bad(
    frequencies, "ValueError: dim must be at least 4 with endpoint=True, to have a first and a last; got 2",
    2, endpoint=True,
)

# Door 1

bad(widen, "ValueError: positions must be finite; got nan", P * NAN, X)
bad(perceptron, "TypeError: x must be a tensor; got list", [1], torch.nn.Linear(1, 2), torch.nn.Linear(2, 3))
for encoding in Sinusoidal(16), PositionMLP(16, 5), FourierFeatures(16), Learned(5, 16):
    refuse = partial(bad, type(encoding), call=encoding.embed)
    refuse("ValueError: x must have 16 features; got 8", X[..., :8], P)
refuse("ValueError: positions must have shape (5,) or (2, 5); got (3, 5)", X, P.expand(3, 5))
refuse("TypeError: positions must be integers, because they index a table; got torch.float32", X, P.float())
refuse("ValueError: positions must lie in 0 … 4, the rows of the table; got 6", X, P + 2)

# RoPE

pair_layout = 'layout must be "half" or "interleaved"; got'
for x in torch.zeros(5, 7), ONE:
    odd = f"x must be (…, d) with an even d, because it turns in pairs; got {tuple(x.shape)}"
    bad(rotate, f"ValueError: {odd}", x, torch.ones(3))
for angles in torch.ones(8), ONE:
    wrong = f"angles must be (…, 4), one for each pair of x; got {tuple(angles.shape)}"
    bad(rotate_fast, f"ValueError: {wrong}", Q, angles)
bad(rotate, f"ValueError: x and angles {differ} (2, 2, 5, 8) and (3, 4)", Q, torch.ones(3, 4))
bad(RoPE, f"ValueError: {pair_layout} 'concatenated'", 8, layout="concatenated")
bad(RoPE, "ValueError: 2 axes need a multiple of 4 features that turn; got 6", 6, axes=2)
shares = "axes must be even numbers of features, 8 in sum; got"
bad(RoPE, f"ValueError: {shares} [2, 4]", 8, axes=[2, 4])
bad(RoPE, f"ValueError: {shares} [5, 3]", 8, axes=[5, 3])
bad(RoPE, "ValueError: base must have 2 numbers, one for each axis; got 3", 8, [10.0, 10.0, 10.0], axes=[2, 6])
bad(
    RoPE, "ValueError: scaling must give all axes one attention factor", 8, axes=[2, 6],
    scaling=lambda omega: (omega, float(len(omega))),
)
bad(ring, "ValueError: period must be at least 2 places; got 1", torch.ones(4), 1)
bad(Convolutional, "ValueError: groups must divide dim; got 3 groups and dim 8", 8, groups=3)
CONVOLUTION = Convolutional(8, 4, 2)
bad(Convolutional, "ValueError: x must be (batch, sequence, dim); got (5, 8)", torch.ones(5, 8), call=CONVOLUTION)
bad(Convolutional, "ValueError: x must have 8 features, as Convolutional has; got 6", torch.ones(1, 5, 6), call=CONVOLUTION)
bad(
    Convolutional, "ValueError: mask must be a Boolean (1, 5); got torch.bool, (1, 4)",
    torch.ones(1, 5, 8), torch.ones(1, 4, dtype=torch.bool), call=CONVOLUTION,
)
for features in laplacian_features, random_walk_features:
    bad(features, "ValueError: adjacency must be (…, nodes, nodes), with at least one node; got (2, 3)", torch.ones(2, 3), 1)
    bad(features, "ValueError: adjacency must be finite and at least 0; got -1.0", -torch.ones(3, 3), 1)
bad(
    laplacian_features, "ValueError: k must be at most 2, because 3 nodes have so many nontrivial vectors; got 3",
    torch.ones(3, 3), 3,
)
bad(
    laplacian_features,
    "ValueError: adjacency must be symmetric, or the eigenvectors are not orthogonal; got A[i, j] ≠ A[j, i]",
    torch.ones(3, 3).triu(), 1,
)
bad(random_walk_features, "ValueError: steps must be positive; got 0", torch.ones(3, 3), 0)
bad(
    RoPE, "ValueError: angles must be (…, 4), one for each pair of x; got (1, 1, 2)",
    8, scaling=lambda omega: (omega[::2], 1.0),
)
bad(RoPE, "ValueError: positions must have 2 coordinates, as RoPE has axes; got 5", Q, P, call=RoPE(8, axes=2).rotate_at)
bad(RoPE, "TypeError: y must be a tensor; got list", [1], P, call=RoPEValues(8).unrotate_output)
bad(
    RoPE, "ValueError: k_positions must be one for each token of k, (2, 5), or one for all; got (4,)",
    Q, Q, P, P[:4], call=RoPE(8).rotate,
)
bad(RoPE, "ValueError: offsets must be on cpu, as the other arguments are; got meta", Q, META, call=RoPE(8).rotate_further)
bad(RoPE, "TypeError: q_positions must be a tensor; got list", [1], P, call=RoPE(8).precompute)
bad(convert, "ValueError: x must be (…, d); got a tensor without axes", P[0], "half")
for name, ours in {"neox": "half", "rotate_half": "half", "gptj": "interleaved"}.items():
    bad(convert, f"ValueError: {pair_layout} '{name}', which is \"{ours}\" here", Q, name)
in_pairs = "rotary must be even, because features turn in pairs, and at most 8; got"
bad(convert, f"ValueError: {in_pairs} 3", Q, "half", 3)
bad(RoPE, f"ValueError: {in_pairs} 10", 8, rotary=10)
bad(permute_qk_rows, "ValueError: weight must be (heads · d, …) with 2 heads; got (5, 16)", X[0], 2, "half")
bad(Normed, "ValueError: eps must not be negative; got -1.0", RoPE(8), -1.0)
bad(Mixed, "ValueError: dim must be a multiple of 4, because pairs are dealt to two axes; got 6", 6, 2)
bad(in_turn, "ValueError: sizes must leave a turn for each pair; got [1, 4]", [1, 4])
for deal in [], [0, 2]:
    bad(MRoPE, f"ValueError: deal must name each axis from 0 on; got {deal}", 8, deal)
bad(MRoPE, "ValueError: rotary must be even, because features turn in pairs, and at most 2; got 4", 2, [0, 1])

# Scaling

OMEGA = frequencies(8)
in_a_row = "frequencies must be (pairs,) of at least"
bad(linear, f"ValueError: {in_a_row} 1; got (1, 4)", OMEGA[None], 8)
bad(ntk, f"ValueError: {in_a_row} 2; got (1,)", OMEGA[:1], 8)
bad(linear, "ValueError: factor must be finite and at least 1; got 0.5", OMEGA, 0.5)
for rule, slow, fast in (yarn, "beta_slow", "beta_fast"), (llama3, "low", "high"):
    for a, b in (3, 2), (0, 1), (1, INF), (NAN, 1):
        bounds = f"{slow} must be positive and at most {fast}; got {slow}={a}, {fast}={b}"
        bad(rule, f"ValueError: {bounds}", OMEGA, 8, 64, **{slow: a, fast: b})
for name, divisors in ("short", [1, 2, 3]), ("long", [1, 2, 3, 0]), ("long", [1, 2, 3, INF]):
    divisors_of = {"short": [1] * 4, "long": [2] * 4} | {name: divisors}
    wrong = f"ValueError: {name} must be 4 positive numbers, one for each pair; got {divisors}"
    bad(longrope, wrong, OMEGA, length=64, current=65, **divisors_of)
too_short = "ValueError: length must be at least 2, because the attention factor divides by its logarithm; got 1"
bad(longrope, too_short, OMEGA, [1] * 4, [2] * 4, length=1, current=2, factor=8)
for share_of_pairs in -0.1, 1.5, NAN:
    wrong = f"ValueError: share must lie in 0 … 1; got {share_of_pairs}"
    bad(proportional, wrong, OMEGA, share_of_pairs)
for pair in -1, 4:
    bad(freeze_pairs, f"ValueError: pairs must lie in 0 … 3; got {pair}", OMEGA, [0, pair])

# Biases

bad(bucket, "ValueError: max_distance must be above 16, half of buckets; got 16", P, 32, 16)
bad(T5Bias, "ValueError: buckets must be a multiple of 4: two sides, half of each exact; got 33", 2, 33)
no_index = "k_positions must be integers, because they index a table; got torch.float32"
for encoding in T5Bias(2), Shaw(8, 2), DeBERTa(2, 8, 3):
    bad(type(encoding), f"TypeError: {no_index}", Q, Q, P, P.float(), call=encoding.score)
bad(bias, "ValueError: slopes must be (heads,); got (2, 2)", P, P, torch.ones(2, 2))
bad(ALiBi, "ValueError: slopes must be (heads,) = (2,); got (3,)", 2, slopes=slopes(3))
for subject in slopes, ALiBi:
    bad(subject, "ValueError: octaves must be at most 126, because float32 holds no smaller slope; got 127", 8, octaves=127)
for subject, call in (ALiBi, lambda slopes: ALiBi(2, slopes=slopes)), (bias, partial(bias, P, P)):
    for worst in NAN, INF, -0.5:
        own = torch.tensor([0.5, worst])
        bad(subject, f"ValueError: slopes must be finite and not negative; got {worst}", own, call=call)
bad(ramp, "TypeError: offset must be a tensor; got int", 1, slopes(2))
bad(ramp, "TypeError: slope must be a tensor; got float", P, 0.5)
bad(distance, "TypeError: offset must be real numbers; got torch.bool", P > 2)
bad(power, "ValueError: r1 must be above 0 and finite; got 0.0", P, torch.tensor(0.0), ONE)
bad(power, "ValueError: r2 must be above 0 and at most 2; got 2.5", P, ONE, torch.tensor([1.0, 2.5]).expand(5, 2).mT[1])
for call in partial(score_mod, at=lambda *_: P), ALiBi(2).score_mod, ShawKeys(8, 3).score_mod:
    refuse = partial(bad, score_mod, call=call)
    refuse("TypeError: q must be a tensor; got list", [1], Q, P, P)
    refuse("ValueError: k must be on cpu, as the other arguments are; got meta", Q, Q.to("meta"), P, P)
    refuse("TypeError: q_positions must be a tensor; got list", Q, Q, [0], P)
    refuse("ValueError: k_positions must have shape (4,) or (2, 4); got (5,)", Q, Q[:, :, :4], P, P)
bad(score_mod, "ValueError: k must be (batch, head, sequence, feature); got (8,)", Q, Q[0, 0, 0], P, P, lambda *at: at[3])

# Windows

bad(relative_position_index, "ValueError: q_positions must lie in 0 … 1, the columns of the window; got 2", CELLS, CELLS, 2, 2)
bad(relative_position_index, "ValueError: k_positions must lie in 0 … 1, the rows of the window; got -1", CELLS, CELLS - 1, 2, 3)
for cells in P, P[0], CELLS.expand(3, 5, 2)[..., :1]:
    shape = f"k_positions must be (…, sequence, 2), row and column; got {tuple(cells.shape)}"
    bad(relative_position_index, f"ValueError: {shape}", CELLS, cells, 2, 3)
bad(SwinV2, "ValueError: trained must be at least 2, or its window has no step; got 1", 2, 2, 2, 1)
for encoding in SwinV2(2, 2, 3), Decomposed(8, 2, 3), BEiT(2, 2, 3):
    wrong = "ValueError: q_positions must lie in 0 … 1, the rows of the window; got 2"
    bad(type(encoding), wrong, Q, Q, CELLS + 1, CELLS, call=encoding.score)
for call in partial(log_spaced, height=2, width=2), SwinV2(2, 2, 3).bias:
    bad(log_spaced, "TypeError: steps must be a tensor; got list", [[0, 0]], call=call)
    bad(log_spaced, "ValueError: steps must be (…, 2), rows and columns; got (5,)", P, call=call)

# Vectors of offsets

bad(deberta.row, "ValueError: clip must be even and below largest = 16; got 5", P, 5, 16)
bad(deberta.row, "ValueError: clip must be even and below largest = 4; got 4", P, 4, 4)
bad(Shaw, "ValueError: weights must be (batch, head, query, key); got (5, 5)", LOOK.float(), P, P, call=Shaw(8, 2).value)
for products in P, Q:
    bad(skew, f"ValueError: products must be (…, T, T); got {tuple(products.shape)}", products)
for vectors in torch.zeros(5, 4), Q:
    apart = f"q and vectors must be (…, T, d) and (length, d); got (2, 2, 5, 8) and {tuple(vectors.shape)}"
    bad(key_term, f"ValueError: {apart}", Q, vectors)
bad(key_term, "ValueError: q must have at most 3 tokens, one for each vector; got 5", Q, torch.zeros(3, 8))
pairs = "p must be (…, query, d) with an even d, because each frequency turns a pair; got (2, 2, 5, 7)"
bad(offset_products, f"ValueError: {pairs}", Q[..., :7], P, P)

# Rulers that a text lays

for subject, numbers in (FoX, 1), (PaTH, 9), (Inkling, 16):
    name, states = subject.__name__, torch.zeros(2, 2, 5, numbers)
    refuse = partial(bad, subject, call=subject(16, 2).score)
    shape = f"hidden_features must be (batch, head, key, number) = (2, 2, 5, {numbers}); got (2, 2, 4, {numbers})"
    refuse(f"ValueError: {shape}", Q, Q, P, P, states[:, :, :4])
    hidden = f"hidden_features must be a tensor: {name} needs {name}.hidden_features(x); got None"
    bad(attend, f"TypeError: {hidden}", Q, Q, Q, P, P, subject(16, 2))
bad(CoPE, "ValueError: k must have the batch and the heads of q; got (1, 2, 5, 8) and (2, 2, 5, 8)", Q, Q[:1], P, P, call=CoPE(8, 3).score)
SUMS = torch.ones(2, 2, 5, 5)
bad(gated_distance, "ValueError: k_positions must be (sequence,) or (batch, sequence); got (1, 2, 5)", SUMS, P, TOKENS[None])
bad(
    householder_scores, "ValueError: k must have the dtype, batch and heads of q; got torch.float32, (3, 2, 5, 8)",
    Q, torch.cat([Q, Q])[:3], Q, Q[..., :1], LOOK,
)
bad(
    Inkling, "ValueError: q must have at most as many tokens as k; got (2, 2, 5, 8) and (2, 2, 1, 8)",
    Q, Q[:, :, :1], P, P[:1], torch.ones(2, 2, 1, 3), call=Inkling(16, 2, rank=3, extent=4).score,
)

# Decay and latents

GATES = -torch.ones(2, 5)
above = "ValueError: log_gates must be at most 0, because a gate is at most 1; got"
bad(decays, f"{above} 0.5", -GATES / 2)
refuse = partial(bad, matrix)
refuse("ValueError: q must be (…, T, d); got (8,)", Q[0, 0, 0], Q, Q, GATES)
refuse("ValueError: k must be (…, T, d) with T = 5; got (2, 2, 4, 8)", Q, Q[:, :, :4], Q, GATES)
refuse("ValueError: k must be (…, T, d) with d = 8; got (2, 2, 5, 4)", Q, Q[..., :4], Q, GATES)
refuse("ValueError: v must be (…, T, e) with T = 5; got (2, 2, 1, 8)", Q, Q, Q[:, :, :1], GATES)
refuse("ValueError: log_gates must be (…, T) with T = 5; got (2, 1)", Q, Q, Q, GATES[:, :1])
for subject, more in (matrix, {}), (recurrence, {}), (chunks, {"size": 2}), (delta, {"beta": GATES}):
    refuse = partial(bad, subject, call=partial(subject, **more))
    refuse(f"{above} 1.0", Q, Q, Q, -GATES)
    names = "q, k, v, log_gates, beta" if subject is delta else "q, k, v, log_gates"
    leading = [(2, 2), (3, 2), (2, 2), (2,), *([(2,)] if subject is delta else []), ()]
    wrong = f"ValueError: leading axes of {names} and state must broadcast; got {leading}"
    refuse(wrong, Q, torch.zeros(3, 2, 5, 8), Q, GATES)
    if subject is not matrix:
        wrong = "state must be (…, d, e) with e = 8; got (8, 4)"
        refuse(f"ValueError: {wrong}", Q, Q, Q, GATES, state=torch.zeros(8, 4))
bad(delta, "ValueError: beta must be (…, T) with T = 5; got (2, 4)", Q, Q, Q, GATES, GATES[:, :4])
C, UP = torch.zeros(2, 1, 5, 3), torch.zeros(2, 8, 3)
heads = "c must be (…, 1, key, r); got (2, 2, 5, 3)"
for subject, more in (built, ()), (absorbed, ()), (scores, (Q, Q[:, :1])):
    bad(subject, f"ValueError: {heads}", Q, C.expand(-1, 2, -1, -1), UP, *more)
bad(built, "ValueError: up must be (…, head, d, r) with head = 2; got (1, 8, 3)", Q, C, UP[:1])
same = "turned_k must be (…, 1, key, d_r) with d_r = 8; got (2, 1, 5, 4)"
bad(scores, f"ValueError: {same}", Q, C, UP, Q, Q[:, :1, :, :4])
bad(
    scores, "ValueError: q and c must broadcast in all axes but the last; got (2, 1, 1, 8) and (3, 1, 1, 8)",
    Q, torch.cat([Q, Q])[:3, :1], torch.ones(2, 8, 8), Q, Q[:, :1],
)

# Attention

bad(attend, "ValueError: sinks must be (heads,) = (2,); got (5,)", Q, Q, Q, P, P, sinks=P.float())
bad(attend, "ValueError: sinks must be (heads,) = (2,); got (2, 1)", Q, Q, Q, P, P, sinks=torch.ones(2, 1))
bad(multiply, "ValueError: temperature must give (5,) numbers; got (1,)", Q, P, lambda _: torch.ones(1))
bad(temperature.power, "TypeError: exponent must be a number; got '0.1'", P, 8, "0.1")
bad(temperature.steps, "TypeError: scale must be a number; got '0.1'", P, 8, "0.1")
for name, value in ("window", 2), ("temperature", logarithm):
    wrong = f"ValueError: {name} needs positions of one axis; got 2"
    bad(Transformer, wrong, 7, 3, 16, 2, 2, RoPE(8, axes=2), **{name: value})
refuse = partial(bad, attention_weights, call=partial(attention_weights, Q, Q))
for positions in P[:3], P[:, None], P.expand(3, 5), P.expand(2, 2, 5), P[0]:
    shape = f"must have shape (5,) or (2, 5); got {tuple(positions.shape)}"
    refuse(f"ValueError: q_positions {shape}", positions, P)
refuse("ValueError: mask must have 5 queries, as q has; got 4", P, P, NOPE, Mask(P[:4], P))
refuse("ValueError: mask must have 5 keys, as k has; got 6", P, P, NOPE, Mask(P, torch.arange(6)))
for mask in LOOK[0], LOOK[0, 0], LOOK[:4], LOOK[:, :4], LOOK.expand(3, 5, 5), LOOK.expand(1, 2, 2, 5, 5):
    shape = f"(batch, head, query, key) = (2, 2, 5, 5); got {tuple(mask.shape)}"
    refuse(f"ValueError: mask must broadcast to {shape}", P, P, NOPE, mask)
    if mask.dim() > 2:
        refuse(f"ValueError: mask must broadcast to {shape}", P, P, NOPE, Mask(P, allowed=mask))
two_axes = "must have shape (5, 2) or (2, 5, 2); got"
bad(attend, f"ValueError: k_positions {two_axes} (2, 5)", Q, Q, Q, torch.zeros(5, 2), TOKENS, RoPE(8, axes=2))
for q, k, v in (Q.long(), Q.long(), Q.long()), (Q, Q, Q.double()), (Q, Q.half(), Q):
    dtypes = f"got {q.dtype}, {k.dtype}, {v.dtype}"
    bad(attend, f"TypeError: q, k and v must share a floating-point dtype; {dtypes}", q, k, v, P, P)
for q, k in (
    (Q[0], Q[0]),
    (Q, Q[:1]),
    (Q[:, :1], Q),
    (Q, Q[:, :0]),
    (Q, Q[..., :4]),
    (Q[..., :0], Q[..., :0]),
):
    alike = "q and k must be (batch, head, sequence, feature) and differ in sequence only, or q have a multiple of k's heads"
    bad(attend, f"ValueError: {alike}; got {tuple(q.shape)} and {tuple(k.shape)}", q, k, Q, P, P)
bad(attend_flex, f"ValueError: {alike}; got (2, 2, 5, 4) and (2, 2, 5, 8)", Q[..., :4], Q, Q, P, P)
bad(attend, "ValueError: v must be on cpu, as the other arguments are; got meta", Q, Q, Q.to("meta"), P, P)
for v in Q[0], Q[:1], Q[:, :1], Q[:, :, :4]:
    alike = "v must differ from k in features only"
    bad(attend, f"ValueError: {alike}; got {tuple(v.shape)} and (2, 2, 5, 8)", Q, Q, v, P, P)
bad(Attention, "ValueError: kv_heads must be positive; got 0", 16, 4, kv_heads=0)

# Masks, packing and FlexAttention

for allowed in LOOK[:4], LOOK[0], torch.ones(5, 10, dtype=torch.bool):
    bad(Mask, f"ValueError: allowed must be (…, query, key) = (…, 5, 5); got {tuple(allowed.shape)}", P, allowed=allowed)
bad(Mask, "ValueError: segments must have 5 members, one for each query; got 10", P, P, segments=torch.arange(10))
again = "segments must be runs of equal integers; got one that comes again behind another"
bad(cu_seqlens, f"ValueError: {again}", torch.tensor([0, 1, 0]))
for ends in (torch.tensor([1, 2]), torch.tensor([0, 2, 2]), torch.zeros(0).long(), P[None]):
    rise = f"cu_seqlens must be (texts + 1,) and rise from 0; got {ends.tolist()}"
    bad(segments_from_cu_seqlens, f"ValueError: {rise}", ends)
bad(block_mask, "TypeError: causal must be True or False; got 'no'", P, P, causal="no")
bad(block_mask, "ValueError: window must be positive; got 0", P, P, window=0)
bad(
    block_mask, "ValueError: k_segments must be given, as the other segments are; got None",
    P, P, q_segments=P,
)
pairwise = "encoding must have a score_mod, as a Bias has; got"
bad(attend_flex, f"TypeError: {pairwise} Both()", Q, Q, Q, P, P, Both(2))
unseen = "encoding must leave door 4 closed: FlexAttention shows no weights; got"
bad(attend_flex, f"ValueError: {unseen} Turn4()", Q, Q, Q, P, P, Turn4(2))

# Cache

CACHE = Cache(Q, Q, P)
refuse = partial(bad, Cache, call=CACHE.append)
refuse("TypeError: keys must be a tensor; got list", [0], Q, P)
refuse("TypeError: positions must be a tensor; got int", Q, Q, 5)
fit = "in all axes but the sequence; got"
refuse(f"ValueError: keys must fit those in the cache, (2, 2, 5, 8), {fit} (1, 2, 5, 8)", Q[:1], Q[:1], P)
refuse(f"ValueError: values must fit those in the cache, (2, 2, 5, 8), {fit} (2, 2, 5, 4)", Q, Q[..., :4], P)
refuse(f"ValueError: positions must fit those in the cache, (5,), {fit} (2, 5)", Q, Q, TOKENS)
refuse("ValueError: keys must be (batch, head, sequence, feature); got (5, 8)", Q[0, 0], Q, P)
refuse("ValueError: positions must be (…, 5), one for each key; got (4,)", Q, Q, P[:4])
bad(Cache, "TypeError: keys must be a tensor; got NoneType", None, None, P)
bad(Cache, "ValueError: values must differ from keys in features only; got (2, 2, 4, 8) and (2, 2, 5, 8)", Q, Q[:, :, :4], P)
bad(Cache, "ValueError: positions must be (…, 5, 2), one for each key; got (5,)", Q, Q, P, axes=2)
no_past = "cache needs causal=True: a token that sees later ones has no final answer"
bad(Attention, f"ValueError: {no_past}", X, P, cache=Cache(), call=Attention(16, 2))
refuse = partial(bad, Attention, call=Attention(16, 2, causal=True))
refuse("TypeError: cache must be a Cache; got list", X, P, cache=[Cache()])
one_text = "segments need a call and a cache for each text; got one cache"
refuse(f"ValueError: {one_text}", X, P, cache=Cache(), segments=P)
over = "capacity=9 needs torch.no_grad: keys are written over those of a gradient"
refuse(f"ValueError: {over}", X, P, cache=Cache(capacity=9))
for encoding, doors in (Both(2), ("rotate", "score")), (RoPEValues(8), ("rotate", "value")):
    closed = f"a cache of turned keys needs an encoding whose doors 3 and 4 are closed; got {doors}"
    bad(
        Attention, f"ValueError: {closed}", X, P, cache=Cache(rotated=True),
        call=Attention(16, 2, encoding, causal=True),
    )
for subject, rest in (evict, (1, 2)), (rebase, (P, NOPE)), (crop, (1,)), (reorder, (torch.tensor([0]),)):
    bad(subject, "ValueError: cache must hold tokens; got an empty one", Cache(), *rest)
bad(crop, "ValueError: length must be at most 5, the tokens that are kept; got 99", CACHE, 99)
bad(reorder, "ValueError: rows must lie in 0 … 1, the rows of the cache; got 7", CACHE, torch.tensor([7]))
bad(reorder, "ValueError: rows must be (n,), one for each row to be; got ()", CACHE, torch.tensor(0))
few = "turned keys must be float32 or float64, or turns spoil them; got torch.bfloat16"
half = Cache(Q.bfloat16(), Q.bfloat16(), P, rotated=True)
bad(rebase, f"TypeError: {few}", half, P, RoPE(8))
own = "encoding must have rotate_further, as RoPE has, to move turned keys; got Both()"
bad(rebase, f"TypeError: {own}", Cache(Q, Q, P, rotated=True), P, Both(2))

# Transformer

bad(
    Transformer, "TypeError: encoding must be an Encoding, such as RoPE(64); got 'rope'",
    7, 3, encoding=[None, "rope"],
)
mixed = "encoding must have the same axes in each layer; got [1, 2]"
bad(Transformer, f"ValueError: {mixed}", 7, 3, encoding=[RoPE(16), RoPE(16, axes=2)])
later = "encoding of layer 1 must leave door 1 closed, the model's input; got"
bad(Transformer, f"ValueError: {later} Learned(length=5, dim=64)", 7, 3, encoding=[None, Learned(5, 64)])
refuse = partial(bad, Transformer, call=Transformer(7, 3, dim=16, heads=2, encoding=RoPE(8)))
refuse("ValueError: positions must have shape (5,) or (2, 5); got ()", TOKENS, P[0])
refuse("ValueError: tokens must be (batch, sequence); got (5,)", TOKENS[0], P)
refuse("ValueError: tokens must lie in 0 … 6, the rows of the table; got 7", TOKENS + 7, P)
refuse("ValueError: segments must be given to the Mask; got both", TOKENS, P, Mask(P), segments=P)
refuse("ValueError: caches must have 2 members, one for each layer; got 1", TOKENS, P, caches=[Cache()])
refuse("ValueError: caches must have 2 different members; got 1", TOKENS, P, caches=[Cache()] * 2)
refuse("TypeError: caches must be a list of caches; got Cache", TOKENS, P, caches=Cache())

# Dropout

SPARE = TOKENS > 0
for rate in -0.1, 1, 1.5:
    bad(drop, f"ValueError: rate must be at least 0 and below 1; got {rate}", X, rate=rate)
bad(drop, "ValueError: x must be (…, sequence, dim); got (5,)", P.float(), 0.1)
bad(combine, "ValueError: token must be (…, sequence, dim); got (5,)", P.float(), X)
spare = "protected must be Boolean, True for a token to spare; got torch.int64"
bad(drop, f"TypeError: {spare}", X, 0.1, protected=TOKENS)
for protected in SPARE[0], SPARE.T:
    bad(drop, f"ValueError: protected must have shape (2, 5); got {tuple(protected.shape)}", X, 0.1, protected=protected)
names = "none, sum, token, position, independent, whole token, whole position"
bad(combine, f"ValueError: placement must be one of {names}; got 'embeddings'", X, X, "embeddings")
for position in X[0, :, :8], X[0, :1]:
    wrong = f"position must have shape (2, 5, 16) or (5, 16); got {tuple(position.shape)}"
    bad(combine, f"ValueError: {wrong}", X, position)
alone = 'encoding must open the door "embed" alone; got'
bad(Dropped, f"ValueError: {alone} RoPE(dim=8, rotary=8), which opens ('rotate',)", RoPE(8))
wrong = "ValueError: protected must have shape (2, 5); got (2, 4)"
bad(Dropped, wrong, X, P, SPARE[:, :4], call=Dropped(Sinusoidal(16)).embed)
for subject, name in (special_tokens, "special_tokens_mask"), (segment_ends, "token_type_ids"):
    wrong = f"attention_mask must have shape (2, 5), as {name} has; got (5,)"
    bad(subject, f"ValueError: {wrong}", TOKENS, TOKENS[0])


@pytest.mark.parametrize(("call", "message"), BAD)
def test_bad_call(call, message):
    with pytest.raises((TypeError, ValueError)) as caught:
        call()
    assert f"{caught.type.__name__}: {caught.value}" == message
