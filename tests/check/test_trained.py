"""The checks of chapter 9: what is asked of trained models, found in them; and right answers written otherwise."""

from functools import cache, partial

import numpy as np
import pytest
import torch
from torch.nn.functional import cosine_similarity

from d2lpos import RoPE
from d2lpos.check import trained as check
from d2lpos.check.trained.frozen import MOST
from d2lpos.check.trained.layout import met as check_met
from d2lpos.check.trained.layout import partners, told_by_lengths, told_by_one_head
from d2lpos.lab.probe import Probe, tokens
from d2lpos.positions.position_ids import from_padding
from d2lpos.pretrained import load_minilm, load_smollm2, losses, stand_in
from d2lpos.pretrained.smollm2 import reader
from d2lpos.rotary.scaling import freeze_pairs
from d2lpos.transformer import Mask, attention_weights, causal_mask
from tests.check.right import accepted, right
from tests.weights import need

LAYOUTS = ("half", "interleaved")


@cache
def smollm2(layout="half"):
    need("smollm2")
    return load_smollm2(layout=layout)


@cache
def text():
    """512 tokens of Persuasion, from its first chapter on."""
    need("smollm2")
    return tokens(Probe("chapter"))


# What the trained models answer


def test_the_head_that_looks_one_back_leads_by_a_tenth():
    """By 0.15, as measured: 0.75 against 0.60."""
    model, weights = smollm2(), []

    def watch(layer, q, k):
        here = torch.arange(q.shape[2])
        weights.append(attention_weights(q, k, here, here, model.encoding, causal_mask(here, here))[0])

    with torch.no_grad():
        model.read(model.embed(text()), watch=watch)
    weights = torch.stack(weights)
    assert check.previous_head.reference(weights) == right(check.previous_head, "found")
    first, second = weights.diagonal(-1, dim1=2, dim2=3).mean(dim=-1).flatten().topk(2).values
    assert first - second > 0.1


def likelier(model):
    """For each layer, how many times larger the products of neighbors are than those of rows half a head apart."""
    tables = [check_met(block.q.weight, block.k.weight, 9, 3) for block in model.blocks]
    return torch.stack([one.mean() / other.mean() for one, other in map(partners, tables)])


def test_products_tell_the_layout_of_every_layer():
    """1.45 times larger at least in the one layout, 1.25 times in the other."""
    for layout in LAYOUTS:
        blocks = smollm2(layout).blocks
        assert {check.layout.reference(b.q.weight, b.k.weight, 9, 3) for b in blocks} == {layout}
    assert len(blocks) == 30
    assert likelier(smollm2("interleaved")).min() > 1.4
    assert likelier(smollm2("half")).max() < 1 / 1.2


def test_one_head_may_mislead():
    """Of 270 heads, asked alone, 1 tells the file's layout wrongly, and 5 tell halves wrongly."""
    missed = {
        layout: sum(
            told_by_one_head(at)(block.q.weight, block.k.weight, 9, 3) != layout
            for block in smollm2(layout).blocks
            for at in range(9)
        )
        for layout in LAYOUTS
    }
    assert missed == {"interleaved": 1, "half": 5}


def test_lengths_do_not():
    """Of 30 layers in halves, those of queries tell 24 and those of keys 8; no layer is nearer to a tie than 0.001."""
    layers = {
        (layout, name): sum(
            told_by_lengths(getattr(block, name).weight, heads) == layout for block in smollm2(layout).blocks
        )
        for layout in LAYOUTS
        for name, heads in (("q", 9), ("k", 3))
    }
    assert layers == {("half", "q"): 24, ("half", "k"): 8, ("interleaved", "q"): 30, ("interleaved", "k"): 30}


def test_layer_7_of_the_file():
    need("smollm2")
    from gguf import dequantize

    parts = {part.name: part for part in reader().tensors}
    wq, wk = (
        torch.tensor(dequantize(part.data, part.tensor_type))
        for part in (parts[f"blk.7.attn_{name}.weight"] for name in "qk")
    )
    assert check.layout.reference(wq, wk, 9, 3) == right(check.layout, "in_file")
    block = smollm2("interleaved").blocks[7]
    assert torch.equal(wq, block.q.weight)
    assert torch.equal(wk, block.k.weight)
    assert likelier(smollm2("interleaved"))[7] > 2


def test_a_model_that_turns_needs_the_mask_alone():
    """With it, no loss changes by more than rounding; without it, some change by more than 2 nats."""
    model, one = smollm2(), text()[:, :64]
    real = torch.arange(72)[None] >= 8
    filled = torch.cat([torch.zeros(1, 8, dtype=torch.long), one], dim=1)
    positions, mask = check.padded.reference(real)
    alone = losses(model, one)
    apart = {
        name: (losses(model, filled, **how)[:, 8:] - alone).abs().max().item()
        for name, how in (
            ("neither", {}),
            ("positions", {"positions": positions}),
            ("mask", {"mask": mask}),
            ("both", {"positions": positions, "mask": mask}),
        )
    }
    unchanged = {name for name, most in apart.items() if most < 1e-3}
    assert unchanged == {"mask", "both"}  # so the mask is all that is needed
    assert right(check.padded, "needed") == "mask"
    assert min(apart["neither"], apart["positions"]) > 2


def test_pairs_from_14_on_can_be_held():
    """To hold pair 14, too, costs 0.03, and pair 13 costs 0.07: each 0.02 from what is allowed. Fewer cost nothing."""
    model, allowed, losses_of = smollm2(), 0.05, {}

    def loss(p):
        rule = partial(freeze_pairs, pairs=range(p, 32))
        encoding = RoPE(64, 100_000.0, scaling=rule)
        losses_of[p] = losses(model, text()[:, :256], encoding=encoding).mean().item()
        return losses_of[p]

    first = right(check.frozen, "first")
    assert check.frozen.reference(loss, 32, allowed) == first
    limit = losses_of[32] + allowed
    assert min(abs(one - limit) for one in losses_of.values()) > 0.015
    assert {first - 1, first} <= set(losses_of)
    assert len(losses_of) < MOST
    assert loss(18) < losses_of[32] - 0.003


def test_the_table_was_cut_at_128_and_at_512():
    """With any limit from 0.56 to 0.71."""
    need("minilm")
    table = load_minilm().table
    for below in (0.56, 0.65, 0.71):
        assert set(check.cuts.reference(table, below)) == right(check.cuts, "lengths")


# What the references rest on


def batch(*beginnings, n=6):
    """Texts that begin in these columns, in padding, and what is real."""
    drawn = torch.randint(256, (len(beginnings), n), generator=torch.Generator().manual_seed(0))
    return drawn, torch.arange(n) >= torch.tensor(beginnings)[:, None]


@pytest.mark.parametrize("table", [False, True])
def test_a_padded_text_reads_as_it_does_alone(table):
    """With RoPE, and with a table whose rows are added to the tokens."""
    model, (filled, real) = stand_in(), batch(0, 2, 5)
    rows = torch.randn(6, 24, generator=torch.Generator().manual_seed(1)) * table
    positions, mask = check.padded.reference(real)
    read = partial(model.read, encoding=[None] * 2) if table else model.read
    there = model.logits(read(model.embed(filled) + rows[positions], positions, mask=mask))
    for text, columns, logits in zip(filled, real, there, strict=True):
        here = torch.arange(int(columns.sum()))
        alone = model.logits(read(model.embed(text[None, columns]) + rows[here], here))
        torch.testing.assert_close(logits[columns], alone[0])
        by_column = torch.arange(6)[columns]
        moved = model.logits(read(model.embed(text[None, columns]) + rows[by_column], by_column))
        same = torch.allclose(moved, alone, atol=1e-3)
        assert same == (not table or bool(columns.all()))  # a table needs the positions, too


@pytest.mark.parametrize("pairs", [1, 2, 7, 32, 33])
def test_halving_finds_an_edge(pairs):
    draw = torch.Generator().manual_seed(pairs)
    for falling in (True, False):
        for _ in range(20):
            curve = torch.randint(12, (pairs + 1,), generator=draw)
            curve = curve.sort(descending=True).values if falling else curve
            asked = []
            edge = check.frozen.reference(lambda p: asked.append(p) or int(curve[p]), pairs, 2)  # noqa: B023
            fits = curve <= curve[-1] + 2
            assert fits[edge]
            assert edge == 0 or not fits[edge - 1]
            assert not falling or edge == int(fits.int().argmax())
            assert len(asked) <= 1 + pairs.bit_length() == 1 + int(np.ceil(np.log2(pairs + 1)))


def test_a_table_that_was_never_cut_has_no_cuts():
    places = torch.arange(100) / 10
    smooth = torch.stack([places.cos(), places.sin()], dim=-1)
    assert check.cuts.reference(smooth, 0.9) == []
    smooth[49] *= -1
    assert check.cuts.reference(smooth, 0.9) == [50]
    smooth[99] *= -1
    assert check.cuts.reference(smooth, 0.9) == [50, 100]


# Right answers, written otherwise


def by_loops(weights):
    best = {}
    for layer, heads in enumerate(weights):
        for head, rows in enumerate(heads):
            best[layer, head] = np.mean([float(rows[i, i - 1]) for i in range(1, len(rows))])
    return max(best, key=best.get)


def by_a_shifted_product(weights):
    back = torch.diag(torch.ones(weights.shape[-1] - 1), -1)
    mean = (weights * back).sum(dim=(-1, -2))
    return np.unravel_index(mean.argmax().item(), mean.shape)


def members(rows, layout):
    return rows.chunk(2, dim=1) if layout == "half" else (rows[:, 0::2], rows[:, 1::2])


def by_cosines(wq, wk, heads, kv_heads, power=1):
    q, k = wq.view(heads, -1, wq.shape[1]), wk.view(kv_heads, -1, wk.shape[1])
    k = k.repeat_interleave(heads // kv_heads, dim=0)

    def met(layout):
        (q1, q2), (k1, k2) = members(q, layout), members(k, layout)
        both = cosine_similarity(q1, k2, dim=-1), cosine_similarity(q2, k1, dim=-1)
        return sum(one.abs().pow(power).mean() for one in both)

    return max(LAYOUTS, key=met)


def by_the_part_that_a_turn_adds(wq, wk, heads, kv_heads):
    """How large what stands before the sine in a score is, on average."""
    k = wk.view(kv_heads, -1, wk.shape[1]).repeat_interleave(heads // kv_heads, dim=0)
    q = wq.view(heads, -1, wq.shape[1])

    def lean(layout):
        (q1, q2), (k1, k2) = members(q, layout), members(k, layout)
        return (q1 * k2 - q2 * k1).sum(dim=-1).abs().mean()

    return max(LAYOUTS, key=lean)


def position_one_for_padding(real):
    """As transformers counts."""
    positions = (real.long().cumsum(-1) - 1).masked_fill(~real, 1)
    return positions, check.padded.reference(real)[1]


def padding_sees_all(real):
    n = real.shape[1]
    here = torch.arange(n)
    mask = (here <= here[:, None]) & real[:, None, None, :] | ~real[:, None, :, None]
    return from_padding(real).int(), mask


def padding_sees_its_past(real):
    segments = Mask(torch.arange(real.shape[1]), segments=real.long()).dense
    return [from_padding(real), segments]


def from_above(loss, pairs, allowed):
    limit = loss(pairs) + allowed
    good, bad = pairs, -1
    while good > bad + 1:
        middle = (good + bad + 1) // 2
        if loss(middle) > limit:
            bad = middle
        else:
            good = middle
    return good


def by_distances(table, below):
    unit = table / table.norm(dim=-1, keepdim=True)
    far = 1 - (unit.diff(dim=0) ** 2).sum(dim=-1) / 2 < below
    both = far & torch.cat([far[1:], torch.tensor([True])])
    return both.nonzero().flatten() + 2


def by_matrix(table, below):
    unit = torch.nn.functional.normalize(table, dim=-1).numpy()
    near = unit @ unit.T
    last = len(near) - 1
    return tuple(
        r + 1 for r in range(1, last + 1) if near[r, r - 1] < below and (r == last or near[r, r + 1] < below)
    )


RIGHT_ANSWERS = {
    check.previous_head: [by_loops, by_a_shifted_product],
    check.layout: [by_cosines, by_the_part_that_a_turn_adds],
    check.padded: [position_one_for_padding, padding_sees_all, padding_sees_its_past],
    check.frozen: [from_above],
    check.cuts: [by_distances, by_matrix],
}
test_accepted = accepted(RIGHT_ANSWERS)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("answer", RIGHT_ANSWERS[check.layout])
def test_what_the_check_accepts_is_right_in_the_trained_model(answer, layout):
    blocks = smollm2(layout).blocks
    assert {answer(block.q.weight, block.k.weight, 9, 3) for block in blocks} == {layout}
