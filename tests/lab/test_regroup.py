"""Positions that are handed out anew: what stays, what is bounded, and that attention meets each pair once."""

from functools import partial

import pytest
import torch

from d2lpos import ALiBi, RoPE
from d2lpos.lab.regroup import InParts, dual_chunk, dual_chunk_for, relative, self_extend, self_extend_for
from d2lpos.transformer import attend, attention_weights
from d2lpos.transformer.masks import Mask, causal_mask

P = torch.arange(256)
RULES = {
    "self-extend": partial(self_extend, **self_extend_for(32, 256)),
    "dual chunk": partial(dual_chunk, **dual_chunk_for(32)),
}
each = pytest.mark.parametrize("rule", RULES.values(), ids=RULES)


@each
def test_parts_share_out_all_pairs_and_none_is_further_apart_than_in_training(rule):
    assert torch.stack([met for *_, met in rule(P, P)]).sum(dim=0).eq(1).all()
    apart = relative(rule(P, P)).tril()
    assert 0 <= apart.min() and apart.max() < 32


def test_each_pair_is_as_far_apart_as_its_rule_says():
    """Pair by pair: near ones as they are, others by groups of 11 behind a window of 8, or by chunks of 20 up to 24."""
    group, (chunk, furthest) = 11, dual_chunk_for(32).values()
    assert self_extend_for(32, 256) == {"group": group, "window": 8} and (chunk, furthest) == (20, 24)
    for rule, far in (
        ("self-extend", lambda q, k: q - k if q - k < 8 else q // group + 8 - 8 // group - k // group),
        ("dual chunk", lambda q, k: (q % 20, min(q % 20 + 20, 24), 24)[min(q // 20 - k // 20, 2)] - k % 20),
    ):
        apart = relative(RULES[rule](P, P)).tolist()
        assert all(apart[q][k] == far(q, k) for q in range(0, 256, 7) for k in range(q + 1))
        assert relative(RULES[rule](P[40:], P)).tolist() == apart[40:]


def test_settings_are_the_smallest_group_and_those_of_the_authors_code():
    group, window = self_extend_for(4096, 16384).values()
    assert (group, window) == (5, 1024)  # as their example has it
    assert relative(self_extend(P, P, group=10, window=8)).tril().max() >= 32
    assert dual_chunk_for(4096) == {"chunk": 2560, "furthest": 3072}


@each
def test_attention_has_the_score_of_each_pair_at_its_own_offset(rule):
    torch.manual_seed(0)
    q, k, v = torch.randn(3, 20, 2, 48, 8, dtype=torch.float64).unbind()
    here, rope = torch.arange(48), RoPE(8)
    mask, apart = causal_mask(here, here), relative(rule(here, here))
    turned = torch.stack([rope.rotate_at(q[:1, :1, [i]].expand(-1, -1, 48, -1), apart[i]) for i in range(48)], dim=2)
    scores = (turned[0, 0] * k[0, 0]).sum(dim=-1) / 8**0.5
    wanted = scores.masked_fill(~mask, -torch.inf).softmax(dim=-1)
    weights = attention_weights(q, k, here, here, InParts(rope, rule), mask)
    torch.testing.assert_close(weights[0, 0], wanted)
    y = attend(q, k, v, here, here, InParts(rope, rule), Mask(here))
    torch.testing.assert_close(y, weights @ v)
    begun = here + torch.arange(20)[:, None]  # each row from a start of its own
    alone = [attend(*(x[[n]] for x in (q, k, v)), p, p, InParts(rope, rule), Mask(p)) for n, p in enumerate(begun)]
    torch.testing.assert_close(attend(q, k, v, begun, begun, InParts(rope, rule), Mask(begun)), torch.cat(alone))


def test_in_half_precision_scores_are_no_farther_off_than_those_of_rope():
    torch.manual_seed(0)
    q, k, v = (3 * torch.randn(3, 20, 2, 48, 64)).bfloat16().unbind()
    here, rope = torch.arange(48), RoPE(64)
    wide = InParts(rope, partial(self_extend, group=2, window=48))
    exact = attend(q.double(), k.double(), v.double(), here, here, rope, Mask(here))
    plain, parts = (
        (attend(q, k, v, here, here, encoding, Mask(here)) - exact).abs().mean() for encoding in (rope, wide)
    )
    assert parts <= plain


Q = torch.zeros(1, 1, 256, 8)


@pytest.mark.parametrize(("call", "error", "message"), [
    (partial(self_extend, P * torch.nan, P, group=2, window=8), ValueError, "q_positions must be finite; got nan"),
    (partial(dual_chunk, P, P * torch.nan, chunk=8, furthest=9), ValueError, "k_positions must be finite; got nan"),
    (partial(self_extend_for, 1, 8), ValueError, "trained must be at least 2; got 1"),
    (partial(dual_chunk_for, 0), ValueError, "trained must be positive; got 0"),
    (partial(InParts, ALiBi(2), RULES["dual chunk"]), ValueError, "inner must open the door rotate alone; got ALiBi"),
    (partial(self_extend, P, P, group=0, window=8), ValueError, "group must be"),
    (partial(self_extend, P, P, group=2, window=0), ValueError, "window must be"),
    (partial(dual_chunk, P, P, chunk=0, furthest=8), ValueError, "chunk must be"),
    (partial(dual_chunk, P, P, chunk=9, furthest=8), ValueError, "furthest must be at least chunk, 9; got 8"),
    (partial(self_extend, P.numpy(), P, group=2, window=8), TypeError, "q_positions must be a tensor; got ndarray"),
    (partial(dual_chunk, P, P, chunk=8, furthest=None), TypeError, "furthest must be an integer; got None"),
    (partial(self_extend_for, 32, None), TypeError, "length must be an integer; got None"),
    (partial(InParts, None, RULES["dual chunk"]), TypeError, "encoding must be an Encoding"),
    (partial(InParts, RoPE(8), None), TypeError, "rule must be a rule"),
    (partial(InParts(RoPE(8), lambda *_: None).score, Q, Q, P, P), TypeError, "parts must be a sequence"),
    (partial(relative, [P]), TypeError, "parts must be triples"),
])
def test_bad_calls(call, error, message):
    with pytest.raises(error, match=message):
        call()
