"""What fifteen passages are asked: on the stand-in, and against what other studies tell of the same text."""

import pytest
import torch

from d2lpos import RoPE
from d2lpos.lab import PROBES, Probe
from d2lpos.lab.observed import on_fifteen
from d2lpos.lab.probe import loaded, tokens
from d2lpos.lab.probes import run_probe
from d2lpos.lab.real import heads
from d2lpos.lab.real_inside import PARTS, AlikeKeys, inside, masks
from d2lpos.transformer import attention_weights, causal_mask

HOW = {"study": "real-inside", "model": "stand-in", "text": "rule", "length": 32}


def test_alike_keys_change_some_pairs_of_some_tokens_alone():
    own, p = RoPE(8), torch.zeros(5)
    q, k = torch.randn(2, 1, 2, 5, 8)
    for start in (0, 1):
        same, alike = AlikeKeys(own, [1, 2], start).rotate(q, k, p, p)
        assert torch.equal(same, own.rotate(q, k, p, p)[0])
        assert torch.equal(alike[..., [0, 3, 4, 7]], k[..., [0, 3, 4, 7]])
        assert torch.equal(alike[:, :, :start], k[:, :, :start])
        mean = k[:, :, 1:, [1, 2, 5, 6]].mean(dim=2, keepdim=True)
        torch.testing.assert_close(alike[:, :, start:, [1, 2, 5, 6]], mean.expand(-1, -1, 5 - start, -1))


def test_masks_hide_what_their_names_say():
    by_name = masks(32, "cpu")
    causal = by_name.pop("as it is")
    changed = {name.split()[0]: (mask != causal).nonzero().tolist() for name, mask in by_name.items()}
    assert changed["(a)"] == [[query, 0] for query in range(1, 32)]
    assert changed["(b)"] == [[query, 0] for query in range(2, 32)]
    assert changed["(c)"] == [[0, 1]]
    assert changed["(d)"] == [[16, key] for key in range(16)]
    assert changed["(e)"] == [[0, key] for key in range(1, 10)]


def test_the_first_token_has_the_share_that_its_heads_give_it():
    rows = inside(Probe(part="sinks", **HOW), "cpu")
    each = heads(Probe(**HOW), "cpu")
    mean = sum(row["first"] for row in each) / len(each)
    assert rows[0]["share"] == pytest.approx(mean, abs=2e-4)


def test_leads_are_differences_of_scores():
    model, probe = loaded("stand-in"), Probe(part="sinks", **HOW)
    leads = next(row["leads"] for row in inside(probe, "cpu") if row["case"] == "lead in early layers")
    here, differences = torch.arange(32), []

    def watch(layer: int, q: torch.Tensor, k: torch.Tensor) -> None:
        scores = attention_weights(q, k, here, here, model.encoding, causal_mask(here, here))[0].double().log()
        differences.append(
            torch.stack([scores[:, n, 0] - scores[:, n, 1 : n + 1].mean(dim=-1) for n in range(1, 32)]).mean()
        )

    model.read(model.embed(tokens(probe)), watch=watch)
    assert sum(leads) == pytest.approx(differences[0].item(), abs=1e-3)


def test_each_part_says_its_cases_once_and_losses_make_a_table():
    records = [run_probe(Probe(part=part, **HOW)) for part in PARTS]
    for record in records:
        keys = [(row["case"], row.get("layer"), row.get("head")) for row in record["rows"]]
        assert len(set(keys)) == len(keys)
    table = on_fifteen(records)
    assert table.index[0] == "as trained, 32 tokens" and list(table) == ["made by rule"]
    assert {probe.part for probe in PROBES["real-inside"].full} == set(PARTS)
