"""Wrong answers to the exercises of chapter 11."""

import torch

from d2lpos.check import plumbing as check

from . import wrong

wrong(check.couple, "fails 1 of 2 properties Property: digits of one place have one id")(
    lambda tokens: check.couple.reference(tokens).clamp(max=tokens.shape[1] // 3)
)
wrong(check.packed, "Two tensors are asked for: positions and mask")("return here - cu_seqlens[text], → return")
wrong(check.packed, "positions and mask are (5,) and (5, 5) here")(
    "here - cu_seqlens[text], (text → (here - cu_seqlens[text])[None], (text[None]"
)


@wrong(check.tree, "fails 1 of 3 properties Property: positions are depths, from 0")
def begins_again_with_each_branch(parents):
    """Counts on where a token follows its parent in the row, and otherwise begins at the branch."""
    if (parents < 0).sum() > 1:
        return check.tree.reference(parents)
    place = torch.zeros_like(parents)
    for token in range(1, len(parents)):
        if parents[token] == token - 1:
            place[token] = place[token - 1] + 1
    return place, check.tree.reference(parents)[1]


@wrong(check.tree, "fails 1 of 3 properties Property: a token sees itself and its ancestors alone")
def three_steps_up(parents):
    """Deep enough for the drafts at hand."""
    one = torch.zeros(len(parents), len(parents))
    children = (parents >= 0).nonzero().flatten()
    one[children, parents[children]] = 1
    up = torch.eye(len(parents)) + one + one @ one + one @ one @ one
    return check.tree.reference(parents)[0], up > 0


@wrong(check.turns, "fails 1 of 3 properties Property: generators that commute")
def by_rodrigues(places, a, b):
    """In three dimensions there is a formula: sine and cosine of the angle, and no series."""
    step = places[:, 0, None, None] * a + places[:, 1, None, None] * b
    angle = (step.square().sum(dim=(1, 2), keepdim=True) / 2).sqrt()
    sine = torch.sinc(angle / torch.pi)
    half = torch.sinc(angle / 2 / torch.pi)
    return torch.eye(len(a)) + sine * step + half.square() / 2 * step @ step


wrong(check.turns.answers[0], "Two axes may share a plane.")(["axial"])
wrong(check.turns.answers[0], "Where each axis has planes of its own")(["mixed"])
wrong(check.turns.answers[0], "Turn a ball about one axis, then about another.")(["axial", "lie"])


@wrong(check.levels, "A number goes to the nearest level")
def cut_off(keys, bits, group):
    rows = []
    for start in range(0, len(keys), group):
        part = keys[start : start + group].clone()
        if len(part) == group:
            low, step = part.min(dim=0).values, (part.max(dim=0).values - part.min(dim=0).values) / (2**bits - 1)
            part = low + torch.nan_to_num((part - low) / step).int() * step
        rows.append(part)
    return torch.cat(rows)


@wrong(check.next_round, "The counter still counts tokens that were not accepted.")
def never_rolled_back(length, accepted, drafted):
    counter = length + drafted
    return length + accepted, counter.unsqueeze(1) + torch.arange(1, drafted + 1)


wrong(check.next_round, "Two tensors are asked for: kept and positions")("return kept, → return")
wrong(check.next_round, "Two tensors are asked for: kept and positions")("return kept, → return kept.tolist(),")
wrong(check.next_round, "kept and positions are (1,) and (1, 3) here")("kept[:, None] + 1 → kept[0] + 1")


@wrong(check.shared, "compare them by ==")
def one_and_the_same(old, new, block, adapters):
    return check.shared.reference(old, new, block, (None, None)) if adapters[0] is adapters[1] else 0


@wrong(check.joined, "the prompt takes them up")
def first_of_the_row(prompt, lengths, first, question):
    turns = [-1] * prompt
    for length in lengths:
        start = len(turns)
        turns += [-1 if prompt + place < first else start for place in range(length)]
    return torch.tensor(turns + [-1] * question)


wrong(check.joined, "fails 1 of 2 properties Property: kept keys turn on to their places")(
    "start += length → start += lengths[0]"
)


@wrong(check.turned, "do not turn")
def everything_moves(capacity, keep, discard, n):
    counts = []
    for _ in range(n):
        if len(counts) == capacity:
            del counts[keep : keep + discard]
            counts = [count + 1 for count in counts]
        counts.append(0)
    return counts


wrong(check.turned.answers[1], "no key turns into them")(4095)


@wrong(check.stands_still, "Below a power of two the numbers lie half as far apart")
def within_half_a_unit(pairs, omega, digits):
    x = torch.view_as_complex(pairs.contiguous())
    moved = torch.view_as_real(x * torch.exp(1j * omega) - x)
    unit = 2.0 ** (pairs.abs().log2().floor() + 1 - digits)
    return (2 * moved.abs() < unit).all(dim=-1)


@wrong(check.rolled_back, "The rejected tokens are still in the state.")
def whole_draft(state, k, v, gates, accepted):
    for k_t, v_t, gate in zip(k.unbind(1), v.unbind(1), gates.unbind(1), strict=True):
        state = gate[:, None, None] * state + k_t.unsqueeze(2) @ v_t.unsqueeze(1)
    return state
wrong(check.tree, "positions are depths, from 0")("mask.sum(dim=1) - 1 → (mask.sum(dim=1) - 1).clamp(max=8)")
wrong(check.couple, "expected 10, got 9")("cummax(dim=1).values → cummax(dim=1).values.maximum(digits - 9)")
wrong(check.shared, "Expected 2, got 4")("[a == b for a, b in zip(old, new, strict=False)] → [b in old for b in new]")
wrong(check.shared, "adapters = ('law', 'lab')")("adapters[0] != adapters[1] → f'{adapters[0]}'[0] != f'{adapters[1]}'[0]")
wrong(check.stands_still, "two numbers with one exponent")("digits) == pairs → digits).abs() == pairs.abs()")
wrong(check.hit, "needed = 0")("max(blocks - needed, 0) → max(blocks - max(needed, 1), 0)")
wrong(check.rolled_back, "state (3, 3, 3)")("for t in → k, v = (v, k) if k.shape == v.shape else (k, v)\n    for t in")
wrong(check.zigzag, "rank = 2, ranks = 8")("2 * ranks - 1 - rank → (2 * ranks if rank > 3 else 8) - 1 - rank")
wrong(check.couple, "Input: tokens (1, 40)")("return digits - digits.masked_fill(digit, 0).cummax(dim=1).values → return (digits - digits.masked_fill(digit, 0).cummax(dim=1).values).clamp(max=16)")
wrong(check.shared, "block = 12")("// block * block → // min(block, 4) * min(block, 4)")
wrong(check.checkpoints, "state = 214630400")("tokens // every * state → torch.tensor(tokens // every * state).int()")
