"""A packed row on four simulated processors: ring, zigzag and Ulysses give what one processor gives."""

import pytest
import torch

from d2lpos import RoPE
from d2lpos.positions import (
    contiguous,
    cu_seqlens,
    from_segments,
    segments_from_cu_seqlens,
    segments_from_positions,
    zigzag,
)  # fmt: skip
from d2lpos.transformer import attend

RANKS, HEADS, SIZE = 4, 4, 8
ROWS = [[0, 8, 16], [0, 24, 32, 64], [0, 64], [0, 16, 24, 32, 40, 56]]
DEALS = {
    "contiguous": lambda ends: contiguous(int(ends[-1]), RANKS),
    "zigzag of each text": lambda ends: zigzag(ends, RANKS),
    "zigzag of the row": lambda ends: zigzag(ends[[0, -1]], RANKS),
}
ends_of_rows = pytest.mark.parametrize("ends", [torch.tensor(row) for row in ROWS], ids=str)
deals = pytest.mark.parametrize("deal", list(DEALS.values()), ids=list(DEALS))


def drawn(n):
    return torch.randn(3, 1, HEADS, n, SIZE, generator=torch.Generator().manual_seed(n), dtype=torch.float64)


def sees(of, here, k_of, k_here):
    """Who sees whom, from texts and places in the row that came with the tokens."""
    return (of[:, None] == k_of) & (k_here <= here[:, None])


def one_processor(ends):
    q, k, v = drawn(int(ends[-1]))
    texts, row = segments_from_cu_seqlens(ends), torch.arange(int(ends[-1]))
    places = from_segments(texts)
    return attend(q, k, v, places, places, RoPE(SIZE), sees(texts, row, texts, row))


def ring(ends, held, places, texts):
    """Each rank turns its queries and keys, keys travel round, and parts of the softmax are joined by their largest score."""
    q, k, v = drawn(int(ends[-1]))
    rope, result = RoPE(SIZE), torch.empty_like(q)
    turned = [rope.rotate(q[:, :, mine], k[:, :, mine], places[r], places[r]) for r, mine in enumerate(held)]
    for r, mine in enumerate(held):
        most = torch.full(q[:, :, mine, :1].shape, -torch.inf, dtype=q.dtype)
        total, weighed = torch.zeros_like(most), torch.zeros_like(q[:, :, mine])
        for step in range(RANKS):
            other = (r - step) % RANKS
            visible = sees(texts[r], mine, texts[other], held[other])
            scores = (turned[r][0] @ turned[other][1].mT / SIZE**0.5).masked_fill(~visible, -torch.inf)
            new = torch.maximum(most, scores.amax(dim=-1, keepdim=True))
            weights, before = (scores - new).exp().nan_to_num(0), (most - new).exp().nan_to_num(0)
            total = total * before + weights.sum(dim=-1, keepdim=True)
            weighed, most = weighed * before + weights @ v[:, :, held[other]], new
        result[:, :, mine] = weighed / total
    return result


@ends_of_rows
@deals
def test_each_token_is_on_one_rank_and_each_rank_has_as_many(ends, deal):
    held = deal(ends)
    assert held.shape == (RANKS, int(ends[-1]) // RANKS)
    assert held.flatten().sort().values.tolist() == list(range(int(ends[-1])))
    assert (held.diff(dim=1) > 0).all()


@ends_of_rows
@deals
def test_a_ring_is_one_processor_where_positions_and_texts_were_made_before_the_deal(ends, deal):
    held, texts = deal(ends), segments_from_cu_seqlens(ends)
    got = ring(ends, held, from_segments(texts)[held], texts[held])
    torch.testing.assert_close(got, one_processor(ends), atol=1e-13, rtol=0)


@ends_of_rows
def test_ulysses_is_one_processor_to_the_last_digit(ends):
    """Tokens are exchanged for heads; positions of all ranks are gathered, and borders of texts are read from all of them."""
    q, k, v = drawn(int(ends[-1]))
    own = from_segments(segments_from_cu_seqlens(ends))[contiguous(int(ends[-1]), RANKS)]
    places, row = own.flatten(), torch.arange(int(ends[-1]))
    texts = segments_from_positions(places)
    assert torch.equal(cu_seqlens(texts), ends.int())
    mask = sees(texts, row, texts, row)
    parts = [attend(q[:, [h]], k[:, [h]], v[:, [h]], places, places, RoPE(SIZE), mask) for h in range(HEADS)]
    torch.testing.assert_close(torch.cat(parts, dim=1), one_processor(ends), atol=0, rtol=0)


@ends_of_rows
def test_a_zigzag_of_each_text_shares_the_work_exactly(ends):
    texts, row = segments_from_cu_seqlens(ends), torch.arange(int(ends[-1]))
    work = [sees(texts, row, texts, row)[mine].sum().item() for mine in zigzag(ends, RANKS)]
    assert len(set(work)) == 1


def test_megatrons_numbers_for_two_texts_of_four_on_two_ranks():
    ends = torch.tensor([0, 4, 8])
    held = zigzag(ends, 2)
    assert from_segments(segments_from_cu_seqlens(ends))[held].tolist() == [[0, 3, 0, 3], [1, 2, 1, 2]]
    assert held[0].tolist() == [0, 3, 4, 7]  # rows of a table that was made for the packed row
    local = ends // 2  # where texts begin among a rank's own tokens
    assert from_segments(segments_from_cu_seqlens(local)).tolist() == [0, 1, 0, 1]


@ends_of_rows
@deals
def test_ranks_that_count_their_own_tokens_are_wrong(ends, deal):
    held, texts = deal(ends), segments_from_cu_seqlens(ends)
    own = torch.stack([from_segments(texts[mine]) for mine in held])
    assert (ring(ends, held, own, texts[held]) - one_processor(ends)).abs().max() > 0.01


def test_borders_are_read_from_the_positions_of_the_whole_row_alone():
    ends = torch.tensor([0, 24, 32])
    texts = segments_from_cu_seqlens(ends)
    places = from_segments(texts)
    held = zigzag(ends, 2)[0]
    assert segments_from_positions(places[held]).unique().numel() == 4  # of two texts
    third = contiguous(32, RANKS)[1]
    assert (places[third] != 0).all()  # no text begins on it, so no 0 tells where its text began
    padded = torch.cat([places, torch.arange(4)])  # padding counted from 0 is a text of its own
    assert cu_seqlens(segments_from_positions(padded)).tolist() == [0, 24, 32, 36]
    three_rows = torch.arange(6).expand(3, 6)  # M-RoPE's, laid end to end
    assert cu_seqlens(segments_from_positions(three_rows.flatten())).tolist() == [0, 6, 12, 18]
    still = torch.zeros(4, dtype=torch.int64)
    assert cu_seqlens(segments_from_positions(still)).tolist() == [0, 1, 2, 3, 4]


def test_bad_calls():
    with pytest.raises(ValueError, match=r"length must be a multiple of ranks = 4; got 6"):
        contiguous(6, 4)
    with pytest.raises(ValueError, match=r"ranks must be positive; got 0"):
        contiguous(8, 0)
    with pytest.raises(TypeError, match=r"ranks must be an integer; got 2.0"):
        zigzag(torch.tensor([0, 8]), 2.0)
    with pytest.raises(ValueError, match=r"multiple of 2 · ranks = 8 tokens; got 4"):
        zigzag(torch.tensor([0, 8, 12]), 4)
    with pytest.raises(ValueError, match=r"cu_seqlens must be \(texts \+ 1,\) and rise from 0"):
        zigzag(torch.tensor([1, 8]), 2)
