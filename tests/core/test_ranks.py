"""A packed row on four simulated processors: ring, zigzag and Ulysses give what one processor gives."""

import pytest
import torch

from d2lpos import RoPE, positions
from d2lpos.positions import contiguous, from_segments, segments_from_cu_seqlens, zigzag
from d2lpos.transformer import attend

RANKS, ROPE = 4, RoPE(8)
ROWS = [torch.tensor(row) for row in ([0, 8, 16], [0, 24, 32, 64], [0, 64], [0, 16, 24, 32, 40, 56])]
DEALS = {
    "contiguous": lambda ends: contiguous(int(ends[-1]), RANKS),
    "zigzag of each text": lambda ends: zigzag(ends, RANKS),
    "zigzag of the row": lambda ends: zigzag(ends[[0, -1]], RANKS),
}
each_row = pytest.mark.parametrize("ends", ROWS, ids=str)
each_deal = pytest.mark.parametrize("deal", list(DEALS.values()), ids=list(DEALS))


def drawn(n):
    return torch.randn(3, 1, 4, n, 8, generator=torch.Generator().manual_seed(n), dtype=torch.float64)


def one_processor(ends, heads=slice(None)):
    q, k, v = drawn(int(ends[-1]))[:, :, heads]
    texts, row = segments_from_cu_seqlens(ends), torch.arange(int(ends[-1]))
    places = from_segments(texts)
    return attend(q, k, v, places, places, ROPE, (texts[:, None] == texts) & (row <= row[:, None]))


def ring(ends, held, places, texts):
    """Each rank turns what it holds, keys travel round, and parts of a softmax are joined by their largest score."""
    q, k, v = drawn(int(ends[-1]))
    result = torch.empty_like(q)
    turned = [ROPE.rotate(q[:, :, mine], k[:, :, mine], at, at) for mine, at in zip(held, places, strict=True)]
    for r, mine in enumerate(held):
        most, total, weighed = torch.tensor(-torch.inf), 0, 0
        for other in [*range(r, -1, -1), *range(RANKS - 1, r, -1)]:
            sees = (texts[r][:, None] == texts[other]) & (held[other] <= mine[:, None])
            scores = (turned[r][0] @ turned[other][1].mT / 8**0.5).masked_fill(~sees, -torch.inf)
            new = torch.maximum(most, scores.amax(dim=-1, keepdim=True))
            weights, before = (scores - new).exp().nan_to_num(0), (most - new).exp().nan_to_num(0)
            total = total * before + weights.sum(dim=-1, keepdim=True)
            weighed, most = weighed * before + weights @ v[:, :, held[other]], new
        result[:, :, mine] = weighed / total
    return result


@each_row
@each_deal
def test_a_ring_is_one_processor_where_positions_and_texts_were_made_before_the_deal(ends, deal):
    held, texts = deal(ends), segments_from_cu_seqlens(ends)
    assert held.shape == (RANKS, len(texts) // RANKS) and (held.diff(dim=1) > 0).all()
    assert held.flatten().sort().values.tolist() == list(range(len(texts)))
    right = one_processor(ends)
    torch.testing.assert_close(ring(ends, held, from_segments(texts)[held], texts[held]), right, atol=1e-13, rtol=0)
    own = torch.stack([from_segments(texts[mine]) for mine in held])  # each rank counts what it holds
    assert (ring(ends, held, own, texts[held]) - right).abs().max() > 0.01


@each_row
def test_ulysses_is_one_processor_to_the_last_digit(ends):
    """Tokens are exchanged for heads; borders of texts are read from the positions of all ranks."""
    texts = segments_from_cu_seqlens(ends)
    gathered = from_segments(texts)[contiguous(len(texts), RANKS)].flatten()
    assert torch.equal(positions.cu_seqlens(positions.segments_from_positions(gathered)), ends.int())
    parts = [one_processor(ends, slice(head, head + 1)) for head in range(RANKS)]
    assert torch.equal(torch.cat(parts, dim=1), one_processor(ends))


@each_row
def test_a_zigzag_of_each_text_shares_the_work_exactly(ends):
    pairs = from_segments(segments_from_cu_seqlens(ends)) + 1
    assert len({pairs[mine].sum().item() for mine in zigzag(ends, RANKS)}) == 1


def test_megatrons_numbers_for_two_texts_of_four_on_two_ranks():
    ends = torch.tensor([0, 4, 8])
    held = zigzag(ends, 2)
    assert from_segments(segments_from_cu_seqlens(ends))[held].tolist() == [[0, 3, 0, 3], [1, 2, 1, 2]]
    assert held[0].tolist() == [0, 3, 4, 7]  # rows of a table that was made for the packed row
    assert from_segments(segments_from_cu_seqlens(ends // 2)).tolist() == [0, 1, 0, 1]  # from a rank's own borders


def test_borders_are_read_from_the_positions_of_the_whole_row_alone():
    def borders(ids):
        return positions.cu_seqlens(positions.segments_from_positions(ids)).tolist()

    places = from_segments(segments_from_cu_seqlens(torch.tensor([0, 24, 32])))
    assert len(borders(places[zigzag(torch.tensor([0, 24, 32]), 2)[0]])) == 5  # four texts of two
    assert (places[contiguous(32, RANKS)[1]] != 0).all()  # no text begins on this rank
    assert borders(torch.cat([places, torch.arange(4)])) == [0, 24, 32, 36]  # padding, counted from 0
    assert borders(torch.arange(6).expand(3, 6).flatten()) == [0, 6, 12, 18]  # M-RoPE's rows, laid end to end


@pytest.mark.parametrize(("call", "error"), [
    (lambda: contiguous(6, 4), "length must be a multiple of ranks = 4; got 6"),
    (lambda: contiguous(8, 0), "ranks must be positive; got 0"),
    (lambda: zigzag(torch.tensor([0, 8, 12]), 4), "multiple of 2 · ranks = 8 tokens; got 4"),
    (lambda: zigzag(torch.tensor([1, 8]), 2), "rise from 0; got"),
])  # fmt: skip
def test_bad_calls(call, error):
    with pytest.raises(ValueError, match=error):
        call()
