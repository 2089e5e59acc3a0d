"""A mask is found from positions once, and what is found may choose another program, never another result."""

from itertools import pairwise

import pytest
import torch
from torch.func import vmap
from torch.testing import assert_close

from d2lpos import ALiBi, Attention, RoPE
from d2lpos.transformer.attention import attend
from d2lpos.transformer.masks import WORTHWHILE, Mask, causal_mask, segment_mask, window_mask

HERE = torch.arange(6)
PLACES = {
    "in order": (HERE, None, "in_order"),
    "with gaps": (HERE * 7 + 1000, None, "in_order"),
    "fractions": (HERE / 3 - 9, None, "in_order"),
    "unsigned": (HERE.to(torch.uint8), None, "in_order"),
    "by sequence": (torch.stack([HERE, HERE**2]), None, "in_order"),
    "equal ones": (torch.tensor([0, 1, 1, 2, 3, 4]), None, "pairs"),
    "a fall": (torch.tensor([0, 1, 2, 0, 1, 2]), None, "pairs"),
    "a fall in one sequence": (torch.stack([HERE, HERE.flip(0)]), None, "pairs"),
    "behind a cache": (HERE[5:], HERE, "everything"),
    "far behind a cache": (HERE[:2] + 9, HERE, "everything"),
    "before a cached token": (torch.tensor([[9], [3]]), HERE, "pairs"),
    "several behind a cache": (HERE[3:], HERE, "pairs"),
    "the same keys from elsewhere": (HERE, HERE.clone(), "in_order"),
    "as many keys elsewhere": (HERE, HERE + 1, "pairs"),
    "no queries": (HERE[:0], HERE, "pairs"),
}


@pytest.mark.parametrize(("q", "k", "want"), PLACES.values(), ids=PLACES)
def test_what_is_found(q, k, want):
    mask = Mask(q, k)
    names = {"in_order", "everything"}
    assert {name for name in names if getattr(mask, name)} == {want} & names and mask.doc_lens is None
    pairs = None if want == "everything" else causal_mask(q, q if k is None else k)
    assert_close(mask.dense, None if pairs is None else pairs[:, None] if pairs.dim() == 3 else pairs)
    if want == "everything":
        assert causal_mask(q, k).all()


def both(call, masks, parameters):
    """What two masks give, with the gradients of everything."""
    for mask in masks:
        y = call(mask)
        upstream = torch.linspace(-1, 1, y.numel(), dtype=y.dtype).view_as(y)
        yield y, torch.autograd.grad(y, parameters, upstream, allow_unused=True)


def test_queries_in_blocks_give_what_the_pairs_give(encoding, place, qkv, monkeypatch):
    """Door 3 for keys in order: some queries at a time, without the keys behind them."""
    monkeypatch.setattr("d2lpos.transformer.attention.BLOCK", 4)  # six queries: a block, and half of one
    inputs = [torch.cat([x, x[:1]]).requires_grad_() for x in qkv]  # three rows, and two heads
    for positions in place(range(6)), place([[0, 1, 2, 3, 4, 5], [0, 2, 3, 8, 9, 11], [4, 5, 6, 7, 8, 9]]):
        one, other = both(
            lambda mask: attend(*inputs, positions, positions, encoding, mask),  # noqa: B023, called at once
            (Mask(positions), causal_mask(positions, positions)),
            [*inputs, *encoding.parameters()],
        )
        assert_close(one, other)


def test_a_bias_of_a_long_text_is_made_in_parts(largest, monkeypatch):
    monkeypatch.setattr("d2lpos.transformer.attention.BLOCK", 50)
    layer, x = Attention(16, 2, ALiBi(2), causal=True), torch.randn(1, 200, 16)
    with torch.no_grad():
        assert largest(lambda: layer(x, torch.arange(200))) <= 2 * 50 * 200


def test_plain_order_builds_no_pairs(largest):
    layer, x = Attention(16, 2, RoPE(8), causal=True), torch.randn(1, 200, 16)
    with torch.no_grad():
        assert largest(lambda: layer(x, torch.arange(200))) < 200 * 200
        assert largest(lambda: layer(x, torch.arange(200).flip(0))) >= 200 * 200


@pytest.mark.filterwarnings("ignore:There is a performance drop")
def test_under_vmap_values_are_not_looked_at():
    layer, x = Attention(16, 2, RoPE(8), causal=True).double(), torch.randn(1, 6, 16).double()
    positions = torch.stack([HERE, HERE.flip(0), torch.tensor([3, 1, 4, 1, 5, 9])])
    with torch.no_grad():
        for over, axis in (positions, 0), (positions.T, 1):
            got = vmap(lambda p: layer(x, p), in_dims=axis)(over)
            assert_close(got, torch.stack([layer(x, p) for p in positions]))


# Packed texts


LONG = 2 * WORTHWHILE
PACKED = torch.tensor([0] * LONG + [1] * (LONG // 2) + [5] * LONG)
ROWS = torch.stack([PACKED, PACKED.flip(0)])


def begin_again(segments):
    index = torch.arange(segments.shape[-1])
    first = torch.cat([torch.ones_like(segments[..., :1]), segments.diff(dim=-1)], dim=-1) != 0
    return index - (index * first).cummax(dim=-1).values


@pytest.mark.parametrize(
    ("segments", "positions", "texts"),
    [
        (PACKED, begin_again(PACKED), (LONG, LONG // 2, LONG)),
        (PACKED, torch.arange(len(PACKED)), (LONG, LONG // 2, LONG)),
        (ROWS, begin_again(ROWS), (LONG, LONG // 2, LONG) * 2),
        (ROWS, torch.arange(len(PACKED)), (LONG, LONG // 2, LONG) * 2),
        (PACKED, torch.arange(len(PACKED)).flip(0), None),
        (torch.cat([PACKED, PACKED]), torch.arange(2 * len(PACKED)), None),
        (HERE, HERE, None),
    ],
    ids=["begin again", "go on", "by sequence", "by sequence, go on", "fall", "come again", "short"],
)
def test_texts_that_are_found(segments, positions, texts):
    assert Mask(positions, segments=segments).doc_lens == texts
    want = segment_mask(segments, segments) & causal_mask(positions, positions)
    assert_close(Mask(positions, segments=segments).dense, want[:, None] if want.dim() == 3 else want)


def test_texts_without_an_order_may_stand_anywhere():
    fall = torch.arange(len(PACKED)).flip(0)
    assert Mask(fall, segments=PACKED, causal=False).doc_lens == (LONG, LONG // 2, LONG)


@pytest.mark.parametrize(("segments", "causal"), [(PACKED, True), (ROWS, False)], ids=["one row for all-True", "by sequence-False"])
def test_packed_texts_are_the_texts_one_by_one_on_both_paths(encoding, place, causal, segments):
    """Whatever the path, a text in a packed row is the text alone; gradients too."""
    layer = Attention(16, 2, encoding, causal, kv_heads=1 if "score" not in encoding.doors else 2).double()
    x = torch.randn(2, len(PACKED), 16).double().requires_grad_()
    positions = place(begin_again(segments))
    assert Mask(positions, segments=segments, causal=causal).doc_lens
    by_pairs = segment_mask(segments, segments)
    rows = segments.expand(2, -1)

    def alone(_):
        lines = []
        for b in range(2):
            here = positions.expand(2, -1)[b]
            cuts = [0, *(rows[b].diff().nonzero().squeeze(-1) + 1).tolist(), len(PACKED)]
            texts = [slice(*cut) for cut in pairwise(cuts)]
            lines.append(torch.cat([layer(x[b, None, text], here[text]) for text in texts], dim=1))
        return torch.cat(lines)

    calls = [lambda _: layer(x, positions, segments=segments), lambda _: layer(x, positions, by_pairs), alone]
    wanted = [x, *layer.parameters()]
    fast, slow, single = (next(both(call, [None], wanted)) for call in calls)
    for one in fast, slow:
        assert_close(one, single)


def test_a_window_counts_its_own_token_and_ends_alike_on_both_sides():
    here = torch.arange(6)
    assert window_mask(here[2:3], here, 2).tolist() == [[False, True, True, True, False, False]]
