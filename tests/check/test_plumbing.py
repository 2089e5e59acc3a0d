"""The checks of chapter 11: their references another way, and right answers written otherwise."""

import cmath
import math

import pytest
import torch

from d2lpos import RoPE
from d2lpos.check import plumbing as check
from d2lpos.check.plumbing.couple import SUMS
from d2lpos.check.plumbing.turns import AXIAL, BALL, MIXED, TILTED
from d2lpos.content.decay import recurrence
from d2lpos.lab import synthetic
from d2lpos.lab.synthetic import EQUALS, PLUS, addition
from d2lpos.positions import segments_from_cu_seqlens
from d2lpos.transformer import attention_weights, causal_mask, resume_at, segment_mask
from tests.check.right import accepted, right

# What the references are worth


def pairs_seen(positions):
    """So many keys do all queries at these positions see."""
    return (positions + 1).sum().item()


def test_all_ranks_have_as_many_pairs():
    assert len({pairs_seen(check.zigzag.reference(rank, 4, 4096)) for rank in range(4)}) == 1


def test_the_last_quarter_has_nearly_seven_times_the_pairs_of_the_first():
    quarters = [pairs_seen(part) for part in torch.arange(4096).chunk(4)]
    assert quarters[3] / quarters[0] == right(check.zigzag, "most")
    hints = list(check.zigzag.answers[0].mistakes.values())
    assert hints[1] == (quarters[3] - 1024) / (quarters[0] - 1024)
    assert hints[5] == quarters[3] / (sum(quarters) / 4)


def attended(x, positions, mask):
    """One layer of attention with RoPE, (n, 8)."""
    one = x[None, None]
    return attention_weights(one, one, positions, positions, RoPE(8), mask)[0, 0] @ x


def test_packed_texts_are_read_as_each_alone():
    x, row = torch.randn(11, 8), torch.tensor([0, 4, 6, 11])
    positions, mask = check.packed.reference(row)
    together = attended(x, positions, mask)
    for text, part in zip(x.split([4, 2, 5]), together.split([4, 2, 5]), strict=True):
        here = torch.arange(len(text))
        assert torch.allclose(part, attended(text, here, causal_mask(here, here)), atol=1e-6)


def test_the_pairs_that_leak():
    mask = check.packed.reference(torch.tensor([0, 4, 6, 11]))[1]
    causal = torch.ones(11, 11).tril().bool()
    assert (causal & ~mask).sum() == right(check.packed, "leaks")
    apart = segments_from_cu_seqlens(torch.tensor([0, 4, 6, 11]))
    hints = list(check.packed.answers[0].mistakes.values())
    other = ~segment_mask(apart, apart)
    assert [part.sum().item() for part in (mask, causal, other, ~mask)] == hints


def branch(parents, token):
    """The indices from the root to a token."""
    line = [token]
    while parents[line[0]] >= 0:
        line.insert(0, parents[line[0]])
    return line


@pytest.mark.parametrize("parents", [[-1, 0, 0, 1, 1, 2, 4], [-1, -1, 1, 0, 2, 2], [-1, 0, 1, 2]])
def test_each_branch_of_a_tree_is_read_as_alone(parents):
    x = torch.randn(len(parents), 8)
    positions, mask = check.tree.reference(torch.tensor(parents))
    together = attended(x, positions, mask)
    for token in range(len(parents)):
        line = branch(parents, token)
        here = torch.arange(len(line))
        assert torch.equal(positions[line], here)
        alone = attended(x[line], here, causal_mask(here, here))
        assert torch.allclose(together[token], alone[-1], atol=1e-6)


def plane(i, j, d=4):
    made = torch.zeros(d, d, dtype=torch.float64)
    made[j, i], made[i, j] = 1, -1
    return made


PAIRS = {
    "axial": (plane(0, 1), plane(2, 3)),
    "mixed": (plane(0, 1) + 3 * plane(2, 3), 2 * plane(0, 1) - plane(2, 3)),
    "lie": (plane(0, 1), plane(1, 2)),
}


@pytest.mark.parametrize("name", PAIRS)
def test_turns_are_relative_where_generators_commute(name):
    """A step is one matrix, wherever it begins."""
    a, b = PAIRS[name]
    start, step = torch.tensor([[0, 0], [1, 0], [2, 5], [-3, 4]]).double(), torch.tensor([2.0, 1.0]).double()
    from_here, to_there = (check.turns.reference(start + by, a, b) for by in (0 * step, step))
    between = from_here.mT @ to_there
    same = torch.allclose(between, between[:1].expand_as(between), atol=1e-9)
    assert same == torch.equal(a @ b, b @ a) == (name in right(check.turns, "relative"))


def test_the_cases_that_commute_do_and_the_others_do_not():
    for a, b in (AXIAL, MIXED):
        assert torch.equal(a @ b, b @ a)
    for a, b in (BALL, TILTED):
        assert (a @ b - b @ a).abs().max() > 0.2


def value(tokens, ids):
    """The three numbers of a row, by the ids of their digits."""
    parts = ((tokens == PLUS) | (tokens == EQUALS)).cumsum(dim=0)
    worth = tokens * 10 ** (ids - 1) * (tokens < PLUS)
    return [worth[(parts == n) & (ids > 0)].sum().item() for n in range(3)]


def test_tokens_are_those_of_the_task():
    from d2lpos.check.plumbing.couple import EQUALS, PAD, PLUS

    assert (PLUS, EQUALS, PAD) == (synthetic.PLUS, synthetic.EQUALS, synthetic.PAD)


@pytest.mark.parametrize("length", [5, 8, 13, 30])
def test_ids_tell_what_a_digit_is_worth(length):
    tokens, _ = addition(20, length, torch.Generator().manual_seed(length))
    ids = check.couple.reference(tokens)
    whole = (length - 2) % 3 > 0  # the last digit of the sum is there
    for row, places in zip(tokens, ids, strict=True):
        a, b, total = value(row, places)
        assert (a + b == total) if whole else (a + b) % 10 ** ((length - 2) // 3) == total
    assert torch.equal(ids > 0, tokens < PLUS)


def test_the_cases_are_sums():
    for rows in SUMS:
        tokens = torch.tensor(rows)
        for row, places in zip(tokens, check.couple.reference(tokens), strict=True):
            a, b, total = value(row, places)
            assert a + b == total


# Right answers, written otherwise


def by_slices(rank, ranks, length):
    n = length // (2 * ranks)
    text = list(range(length))
    return torch.tensor(text[rank * n : (rank + 1) * n] + text[length - (rank + 1) * n : length - rank * n])


def as_cards_are_folded(rank, ranks, length):
    """Both halves of the chunks, the second turned around, side by side."""
    early, late_ = torch.arange(length).view(2 * ranks, -1).chunk(2)
    return torch.cat([early, late_.flip(0)], dim=1)[rank]


def by_bucketize(cu_seqlens):
    here = torch.arange(cu_seqlens[-1])
    text = torch.bucketize(here, cu_seqlens[1:], right=True)
    return here - cu_seqlens[text], (text[:, None] == text) & torch.ones(len(here), len(here)).tril().bool()


def text_by_text(cu_seqlens):
    n = int(cu_seqlens[-1])
    positions, mask = torch.zeros(n).long(), torch.zeros(n, n).bool()
    for begin, end in zip(cu_seqlens[:-1].tolist(), cu_seqlens[1:].tolist(), strict=True):
        for i in range(begin, end):
            positions[i] = i - begin
            mask[i, begin : i + 1] = True
    return positions, mask


def step_by_step(parents):
    """All tokens go up at once, as long as somebody is not at a root."""
    n = len(parents)
    depth, mask, at = torch.zeros(n).long(), torch.eye(n).bool(), torch.arange(n)
    while (on := parents[at] >= 0).any():
        at = torch.where(on, parents[at], at)
        depth += on
        mask[torch.arange(n), at] = True
    return depth, mask


def by_recursion(parents):
    def line(token):
        return [] if token < 0 else [*line(parents[token].item()), token]

    mask = torch.zeros(len(parents), len(parents), dtype=torch.bool)
    for token in range(len(parents)):
        mask[token, line(token)] = True
    return [torch.tensor([len(line(token)) - 1 for token in range(len(parents))]), mask]


def place_by_place(places, a, b):
    return torch.stack([torch.matrix_exp(x * a + y * b) for x, y in places])


def by_small_steps(places, a, b):
    """Many short series, one after the other."""
    step = (places[:, 0, None, None] * a + places[:, 1, None, None] * b).double() / 2**16
    turn = torch.eye(len(a)) + step + step @ step / 2
    for _ in range(16):
        turn = turn @ turn
    return turn


def number_by_number(tokens):
    ids = torch.zeros_like(tokens)
    for r, row in enumerate(tokens.tolist()):
        place = 0
        for c, token in enumerate(row):
            place = place + 1 if token < 10 else 0
            ids[r, c] = place
    return ids


def from_the_last_sign(tokens):
    here = torch.arange(tokens.shape[1], dtype=torch.int32)
    last = torch.where(tokens >= PLUS, here, -1).cummax(dim=1).values
    return here - last


def pair_by_pair(pairs, omega, digits):
    """With complex numbers, and each number as a multiple of its spacing."""

    def stays(old, new):
        spacing = 2.0 ** (math.floor(math.log2(abs(new))) + 1 - digits)
        return old == round(new / spacing) * spacing

    kept = []
    for (x, y), by in zip(pairs.tolist(), omega.tolist(), strict=True):
        turned = complex(x, y) * cmath.exp(1j * by)
        kept.append(stays(x, turned.real) and stays(y, turned.imag))
    return torch.tensor(kept)


def by_the_package(layers, place):
    sized = [(kind, size) if kind in ("window", "chunk") else kind for kind, size in layers]
    return place - resume_at(sized, place)


def from_the_longest(full, window, states, needed):
    lengths = [0]
    for n, saved in enumerate(states, 1):
        near = window[max(n - needed, 0) : n]
        if saved and sum(full[:n]) == n and False not in near:
            lengths.append(n)
    return lengths[-1]


def by_recurrence(state, k, v, gates, accepted):
    rows = []
    for row, n in enumerate(accepted.tolist()):
        inputs = k[row, :n], k[row, :n], v[row, :n], gates[row, :n].log()
        rows.append(recurrence(*inputs, state[row])[1] if n else state[row])
    return torch.stack(rows)


def by_stretches(tokens, every, state):
    whole, rest = divmod(tokens, every)
    return whole * state, (whole * every * (every - 1) + rest * (rest - 1)) / 2 / tokens


test_accepted = accepted({
    check.zigzag: [by_slices, as_cards_are_folded],
    check.packed: [by_bucketize, text_by_text],
    check.tree: [step_by_step, by_recursion],
    check.turns: [place_by_place, by_small_steps],
    check.couple: [number_by_number, from_the_last_sign],
    check.stands_still: [pair_by_pair],
    check.read_again: [by_the_package],
    check.hit: [from_the_longest],
    check.rolled_back: [by_recurrence],
    check.checkpoints: [by_stretches],
})


def test_a_rounded_ratio_is_right():
    assert check.zigzag.answers[0](6.994)


def test_the_state_and_the_keys_of_one_layer():
    heads, size, kernel = 32, 128, 4  # of Qwen3.5 4B; 16 heads of queries and keys, and 4 heads of keys beside 256 features
    state = 4 * heads * size * size + 2 * (kernel - 1) * (2 * 16 + heads) * size
    assert state == check.checkpoints.reference(4096, 4096, 2_146_304)[0]
    assert state // (2 * 2 * 4 * 256) == right(check.checkpoints, "even")
