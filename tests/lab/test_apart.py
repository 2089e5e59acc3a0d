"""Pieces that were read apart, on the stand-in: each method beside one pass over a row that has everything."""

import copy
import math
import re
from dataclasses import replace

import pytest
import torch

from d2lpos import RoPE
from d2lpos.lab import Probe, apart, records, run_probe
from d2lpos.lab.apart import APE, GRID, LEFT_OUT, judged, weighted
from d2lpos.lab.probe import encoder, loaded
from d2lpos.lab.reuse import LEAD, Request
from d2lpos.pretrained import losses
from d2lpos.transformer import attention_weights

PROBE = Probe("real-apart", "four pieces", "stand-in", "rule", length=320)


def test_temperature_sharpens_within_the_document_and_scale_is_a_power_of_its_weight():
    """Of six tokens 1 to 3 are the document."""
    torch.manual_seed(0)
    q, k, v, here = torch.randn(1, 4, 6, 8), torch.randn(1, 2, 6, 8), torch.randn(1, 2, 6, 8), torch.arange(6)
    document, mask, rope = (here > 0) & (here < 4), here <= here[:, None], RoPE(8)
    attention, shares = weighted(document, here == 5, {"document": document}, 0.5, 0.8)
    y = attention(q, k, v, here, here, rope, mask)
    turned_q, turned_k = rope.rotate(q, k, here, here)
    scores = turned_q[0, :, 5] @ turned_k[0].repeat_interleave(2, dim=0).mT / math.sqrt(8)
    scores, v = scores.diagonal().T, v[0].repeat_interleave(2, dim=0)
    inside = (2 * scores[:, document]).exp()
    total, rest = inside.sum(dim=-1) ** (0.8 * 0.5), scores[:, ~document].exp()
    of_document = inside / inside.sum(dim=-1, keepdim=True) * total[:, None]
    weights = torch.zeros_like(scores)
    weights[:, document], weights[:, ~document] = of_document, rest
    weights = weights / weights.sum(dim=-1, keepdim=True)
    torch.testing.assert_close(y[0, :, 5], torch.einsum("hk,hkd->hd", weights, v))
    assert shares["document"] == [pytest.approx(weights[:, document].sum(dim=-1).mean().item())]


@pytest.fixture(scope="module", autouse=True)
def model():
    """The stand-in with a third layer, whose keys alone are chosen from where CacheBlend reads."""
    model = copy.deepcopy(loaded("stand-in"))
    model.blocks.append(model.blocks[0])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("d2lpos.lab.reuse.loaded", lambda *_: model)
        yield model


@pytest.fixture(scope="module")
def rows():
    made = {row["case"]: row for row in run_probe(PROBE)["rows"]}
    assert [*made] == [row["case"] for row in records("real-apart")[0]["rows"]]
    return made


@pytest.mark.parametrize(("case", "same_places"), [("the prefix stays", False), (APE.format(1.0, 1.0), True)])
def test_a_prefix_that_stays_is_one_pass_in_which_each_piece_sees_it_and_itself(model, rows, case, same_places):
    """Each piece reads a second copy of the prefix, just before its own first place, that nothing else sees."""
    lead, request = encoder("stand-in")(LEAD), Request(PROBE, "cpu", before=LEAD)
    size, start, end = request.size_of_piece, request.room[0], request.room[0] + 320
    before, document, after = request.row[0, :start], request.row[0, start:end], request.row[0, end:][request.of[end:] == 1]
    begins = [start + (0 if same_places else size * number) for number in range(4)]
    behind = torch.arange(len(after)) + (start + size if same_places else end)
    parts = [(before, torch.arange(start), -1)]
    for number, begin in enumerate(begins):
        parts += [(torch.tensor(lead), torch.arange(begin - len(lead), begin), 10 + number)]
        parts += [(document[size * number :][:size], torch.arange(begin, begin + size), number)]
    parts += [(after, behind, 20)]
    text, positions = torch.cat([part for part, *_ in parts])[None], torch.cat([places for _, places, _ in parts])
    who = torch.cat([torch.full((len(part),), number) for part, _, number in parts])
    index = torch.arange(len(who))
    seen = (who == who[:, None]) | (who[:, None] < 10) & (who == who[:, None] + 10) & (who[:, None] >= 0)
    mask = (index <= index[:, None]) & (seen | (who[:, None] == 20) & (who < 10))
    each = losses(model, text, positions=positions, mask=mask)[0, -len(after) + 1 :]
    assert rows[case]["loss"] == pytest.approx(each.mean().item(), abs=2e-6)


def test_ways_that_are_also_in_reuse_lose_the_same(rows):
    theirs = [row for row in run_probe(replace(PROBE, study="real-reuse"))["rows"] if row["case"] in rows]
    assert len(theirs) == 6
    for row in theirs:
        assert {name: rows[row["case"]][name] for name in row} == pytest.approx(row, abs=3e-6)


def test_a_sixth_of_the_document_is_chosen_by_the_second_layer_s_values_and_t_and_s_are_those_of_the_row(rows):
    request, behind = Request(PROBE, "cpu"), Request(PROBE, "cpu", before=LEAD)
    own, fresh, alone = request.own, request.add_row("", request.index >= 0, None), request.stored_alone([])
    far = (fresh[1][1] - alone[1][1]).square().sum(dim=(0, 1, 3)).where(own, -1)
    request.add_row("CacheBlend's 16 %", ~own | (far >= far.sort().values[-51]), [*fresh[:2], alone[2]])
    there = behind.here - (behind.of > 0) * 240  # of four pieces at the same places
    there[behind.own] = behind.room[0] + torch.arange(80).repeat(4)
    attention, _ = weighted(behind.own, behind.own, {}, 0.4, 0.8)
    kept = behind.stored_alone(encoder("stand-in")(LEAD))
    behind.add_row(APE.format(0.4, 0.8), ~behind.own, kept, positions=there, attention=attention)
    for row in (request.rows[-1], behind.rows[-1]):
        assert {name: rows[row["case"]][name] for name in row} == pytest.approx(row, abs=3e-6)


def weights_of(model, row, here, mask):
    """The weights of a whole pass, (query, key), a mean over layers and heads."""
    weights = []

    def watch(layer: int, q: torch.Tensor, k: torch.Tensor) -> None:
        weights.append(attention_weights(q, k, here, here, model.encoding, mask)[0])

    model.read(model.embed(row), positions=here, mask=mask, watch=watch)
    return torch.stack(weights).mean(dim=(0, 1))


def test_shares_are_the_weights_that_the_passages_next_tokens_give(model, rows):
    request, place = Request(PROBE, "cpu"), torch.arange(80)
    asked = (request.of == 1).nonzero()[:-1, 0]
    means = weights_of(model, request.row, request.here, request.causal)[asked].mean(dim=0)  # (key,)
    shares = rows["computed fresh"]["shares"]
    start, rest = request.room[0], request.own & ~request.first
    assert shares["document"] == pytest.approx(means[rest].sum().item(), abs=2e-5)
    assert shares["prompt"] == pytest.approx(means[1:start].sum().item(), abs=2e-5)
    alone = [weights_of(model, piece, place, place <= place[:, None])[16:, 0].mean() for piece in request.row[:, request.own].chunk(4, dim=1)]
    assert rows["turned on"]["alone"] == pytest.approx(sum(alone).item() / 4, abs=2e-5)
    lengths = torch.cat([v[:, :, request.own].norm(dim=-1).unflatten(2, (4, 80)) for _, v in request.stored_alone([])])
    assert rows["turned on"]["value"] == pytest.approx((lengths[..., 0] / lengths[..., 1:].mean(dim=-1)).mean().item(), abs=2e-5)
    assert shares["row's first"] == pytest.approx(means[0].item(), abs=2e-5)
    assert shares["pieces' first"] == pytest.approx(means[request.first].sum().item(), abs=2e-5)
    assert shares["new"] == pytest.approx(means[request.of > 0].sum().item(), abs=2e-5)


def made_up(text: str, seed: int, **numbers: float) -> dict:
    """A record in which all sentences but the last four hold, and these by what code has more of."""
    more = 0.05 * numbers["more"] if text == "code" else numbers.get("apart", 0) * seed
    losses_by_case = {"computed fresh": 3.0, "turned on": 3.2, LEFT_OUT: 3.1, "first 1 anew": 3.1, "first 16 anew": 3.1}
    losses_by_case |= {"CacheBlend's 16 %": 3.05, "read behind a lead that is dropped": 3.1, "the prefix stays": 3.0}
    losses_by_case |= {APE.format(*pair): 3.5 - numbers.get("own", 0.1) * (pair == GRID[1 + seed]) - 0.2 * (pair == GRID[3]) for pair in GRID}
    shares = {"computed fresh": (0.3, 0.0, 0.5), "turned on": (0.1, 0.2 + more, 0.4 - more), LEFT_OUT: (0.3, 0.0, 0.5)}
    rows = []
    for case, loss in losses_by_case.items():
        row = {"case": case, "loss": loss}
        if case in shares:
            row["shares"] = dict(zip(("row's first", "pieces' first", "document"), shares[case], strict=True))
        if case == "turned on":
            row |= {"alone": 0.5 + more, "value": 0.5 + more}
        rows.append(row)
    return {"run": {"text": text, "seed": seed}, "rows": rows}


@pytest.mark.parametrize(("more", "verdict"), [(1, "holds"), (-1, "fails"), (0, "open")])
def test_sentences_are_judged_by_text_and_code_beside_both_novels(more, verdict):
    table = judged([made_up(text, seed, more=more) for text in ("persuasion", "pride", "code") for seed in (0, 1)])
    numbered = re.findall(r'\b\d+\. "(.*?)"', apart.__doc__)
    assert table["n"].tolist() == [2] * 30 and list(dict.fromkeys(table["sentence"])) == numbered
    own, beside = table[:18], table[18:]
    assert set(own["verdict"]) == {"holds"}
    assert set(beside.loc[beside["text"] == "code", "verdict"]) == {verdict}


@pytest.mark.parametrize("more", [1, -1])
def test_it_is_open_where_code_lies_within_the_interval_of_a_novel(more):
    table = judged([made_up(text, seed, more=more, apart=0.02) for text in ("pride", "code") for seed in (0, 1)])
    assert table.loc[table["text"] == "code", "verdict"].tolist()[6:] == 4 * ["open"]


@pytest.mark.parametrize(("own", "change"), [(0.1, -0.2), (0.5, 0.0)])
def test_temperature_and_scale_are_taken_from_the_other_passages(own, change):
    """What is best on a passage itself does not count: with 0.5 each passage takes the other's best, which is none here."""
    table = judged([made_up("code", seed, more=0, own=own) for seed in (0, 1)]).set_index("sentence")
    assert table.loc["T and S", "mean"] == pytest.approx(change)
