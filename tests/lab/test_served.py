"""What is asked of a model that is served: keys in few bits, drafts that stand elsewhere."""

from functools import partial

import pytest
import torch

from d2lpos import RoPE
from d2lpos.lab import PROBES, Probe, records, run_probe
from d2lpos.lab import drafts as served
from d2lpos.lab.bits import RoundedKeys, StoredKeys, rounded
from d2lpos.lab.probe import loaded, tokens
from d2lpos.lab.regroup import InParts
from d2lpos.pretrained import losses

KEYS = torch.randn(2, 3, 12, 8, generator=torch.Generator().manual_seed(0))
HERE = torch.arange(12)


def nearest(x, bits, axis):
    """Each number as the nearest of so many that lie evenly between the least and the largest along an axis."""
    low, high = (one.unsqueeze(-1) for one in x.float().aminmax(dim=axis, keepdim=True))
    levels = (low + (high - low) * torch.linspace(0, 1, 2**bits)).expand(*x.shape, -1)
    return levels.take_along_dim((x[..., None] - levels).abs().argmin(dim=-1, keepdim=True), dim=-1)[..., 0]


def test_each_way_is_a_pass_with_keys_on_such_levels():
    model, probe = loaded("stand-in"), Probe("real-bits", "", "stand-in", "rule", length=40)
    ways = {f"{n} bits by {by}": partial(nearest, bits=n, axis=axis) for n in (8, 4, 3, 2) for by, axis in (("token", -1), ("channel", -2))}
    two = ways["2 bits by channel"]

    def some(k, features):
        k = k.clone()
        k[..., features] = two(k[..., features])
        return k

    ways |= {
        "2 bits by channel, 32 tokens": lambda k: torch.cat([two(k[:, :, :32]), two(k[:, :, 32:])], dim=2),
        "2 bits by channel, first token kept": lambda k: torch.cat([k[:, :, :1], two(k[:, :, 1:])], dim=2),
        "2 bits by channel, fast half": partial(some, features=[0, 1, 4, 5]),
        "2 bits by channel, slow half": partial(some, features=[2, 3, 6, 7]),
        "as trained": lambda k: k,
    }
    rows = run_probe(probe)["rows"]
    assert [row["case"] for row in rows] == [row["case"] for row in records("real-bits")[0]["rows"]] and len(rows) == 2 * len(ways) - 1
    for row in rows:
        before = row["turn"] == "before"
        keys = StoredKeys(model.encoding, ways[row["way"]], before)
        assert row["loss"] == pytest.approx(losses(model, tokens(probe), encoding=keys).mean().item(), abs=2e-6)
        assert row["case"] == row["way"] + (f", {row['turn']} the turn" if row["turn"] else "")


@pytest.mark.parametrize("layout", ["half", "interleaved"])
def test_keys_are_stored_before_they_turn_or_after(layout):
    own = RoPE(8, layout=layout)
    before, after = (RoundedKeys(own, 2, "channel", before).rotate(KEYS, KEYS, HERE, HERE)[1] for before in (True, False))
    torch.testing.assert_close(before, own.rotate_at(rounded(KEYS, 2, "channel"), HERE))
    torch.testing.assert_close(after, rounded(own.rotate_at(KEYS, HERE), 2, "channel"))


def test_a_group_of_one_number_stays_as_it_is():
    assert torch.equal(rounded(torch.full((2, 3), 0.3), 2, "channel"), torch.full((2, 3), 0.3))


@pytest.mark.parametrize(("change", "error"), [({"by": "head"}, "by must be one of"), ({"bits": 0}, "bits must be"), ({"group": 0}, "group must be")])
def test_bad_calls(change, error):
    with pytest.raises(ValueError, match=error):
        rounded(KEYS, **{"bits": 3, "by": "token"} | change)


@pytest.mark.parametrize("layout", ["half", "interleaved"])
def test_spared_tokens_and_pairs_keep_their_keys(layout):
    one = RoundedKeys(RoPE(8, layout=layout), 1, "channel", before=True, first=2, pairs=slice(2))
    stored = one.stored(KEYS)
    assert torch.equal(stored[:, :, :2], KEYS[:, :, :2])
    spared = [2, 3, 6, 7] if layout == "half" else [4, 5, 6, 7]
    assert torch.equal(stored[..., spared], KEYS[..., spared])
    assert not torch.isclose(stored[:, :, 2:], KEYS[:, :, 2:])[..., [0, 1]].all()


def test_drafts_are_passes_with_queries_elsewhere_for_some_keys(monkeypatch):
    """As `InParts` has them: of the stand-in's two layers, the second is left out."""
    assert [*served.LEFT_OUT] == [12, 13, 14, 15]
    monkeypatch.setattr(served, "LEFT_OUT", (1,))
    [probe] = PROBES["real-drafts"].runs(range(1), smoke=True)
    model, text, here = loaded("stand-in"), tokens(probe), torch.arange(32)
    late, of_round = here >= 16, (here - 16) // 4
    before = late[:, None] & (of_round[:, None] != of_round)
    places = {
        "as trained": (here, 0), "all one later": (here + 1, 0), "one gap before the drafts": (here + late, 0),
        "one more gap each round": (here + late * (of_round + 1), 0),
        "still within a round": (torch.where(late, 16 + 4 * of_round, here), 0),
        "round one later": (here, 1), "round one earlier": (here, -1),
    }
    kinds = {"itself": {}, "26 of 30 layers": {"last": 1}}
    wanted = {(kind, case): (*places[case], kinds[kind]) for kind in kinds for case in places}
    few = StoredKeys(model.encoding, partial(nearest, bits=2, axis=-2), before=True)
    wanted["keys in 2 bits", "as trained"] = here, 0, {"encoding": few}
    rows = {(row.pop("draft"), row.pop("case")): row for row in run_probe(probe)["rows"]}
    assert list(rows) == list(wanted)
    p = model(text)[0, 16:].softmax(dim=-1)
    for case, (positions, ahead, how) in wanted.items():
        moved = InParts(model.encoding, lambda q, k, ahead=ahead: [(q + ahead, k, before), (q, k, ~before)])
        x = model.read(model.embed(text), positions, **{"encoding": moved if ahead else None} | how)
        q = model.logits(x)[0, 16:].softmax(dim=-1)
        share = 1 - (p - q).abs().sum(dim=-1) / 2
        assert rows[case]["accepted"] == pytest.approx(share.mean().item(), abs=2e-5)
        assert rows[case]["places"] == pytest.approx([share[i::4].mean().item() for i in range(4)], abs=1e-4)
        assert rows[case]["agree"] == round((p.argmax(dim=-1) == q.argmax(dim=-1)).float().mean().item(), 4)
