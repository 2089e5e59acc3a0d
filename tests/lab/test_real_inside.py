"""What fifteen passages are asked: on the stand-in, and against what other studies tell of the same text."""

import pytest
import torch

from d2lpos import RoPE
from d2lpos.lab import Probe
from d2lpos.lab.probe import loaded, tokens
from d2lpos.lab.real_inside import AlikeKeys, inside, masks
from d2lpos.pretrained import losses
from d2lpos.transformer import causal_mask
from tests.lab.test_probe import Still

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


def weights_of(model, ids, positions=None, mask=None, encoding=None):
    """Of all layers, (layer, batch, head, query, key)."""
    here, each = torch.arange(ids.shape[1]), []
    positions, mask = here if positions is None else positions, causal_mask(here, here) if mask is None else mask

    def watch(layer, q, k):
        k = k.repeat_interleave(q.shape[1] // k.shape[1], dim=1)
        q, k = (model.own[layer] if encoding is None else encoding).rotate(q, k, positions, positions)
        each.append((q @ k.mT / q.shape[-1] ** 0.5).masked_fill(~mask, -torch.inf).softmax(dim=-1))

    model.read(model.embed(ids), positions=positions, mask=mask, watch=watch)
    return torch.stack(each)


def rows_of(*parts, **how):
    return [row for part in parts for row in inside(Probe(part=part, **HOW | how), "cpu")]


def test_losses_are_those_of_pairs_that_stand_of_alike_keys_and_of_other_bases_and_paces():
    model, text = loaded("stand-in"), tokens(Probe(**HOW))
    own, here = model.encoding, torch.arange(32)
    ways = {"as trained": own, "no rotation": Still(own, range(4))}
    ways |= {f"pairs {some[0]} to {some[-1]} still": Still(own, some) for some in ([1, 2, 3], [2, 3], [0], [1], [2])}
    ways |= {f"pairs {n} to {n} alike but for the first": AlikeKeys(own, [n], 1) for n in range(3)}
    ways |= {f"pairs {n} to {n} alike, the first too": AlikeKeys(own, [n], 0) for n in range(3)}
    ways |= {f"base {base:,}": RoPE(8, base=base) for base in (10_000, 30_000, 300_000, 1_000_000)}
    ways |= {f"{name} pace{where}": Still(own, pace=pace) for name, pace in (("half", 0.5), ("double", 2)) for where in ("", " in 2 layers")}
    loss = {case: losses(model, text, encoding=way).mean().item() for case, way in ways.items()}
    for gap in (8000, 11_000, 14_000, 16_000):
        positions = torch.cat([here[:4], here[4:] + gap])
        loss[f"the first four {gap:,} away"] = losses(model, text, positions=positions).mean().item()
    assert {row["case"]: row["loss"] for row in rows_of("together", "alone")} == pytest.approx(loss, abs=2e-5)


def test_shares_are_means_of_weights_over_layers_heads_and_late_queries():
    how = {"text": "persuasion", "seed": 4}  # in which the tokens that are named get more than any other
    model, text, here = loaded("stand-in"), tokens(Probe(**HOW | how)), torch.arange(32)
    rows = {row["case"]: row for row in rows_of("sinks", **how)}
    other, causal = text.clone(), causal_mask(here, here)
    other[0, 0] = text[0, 24]
    first = {
        "as it is: the first": weights_of(model, text), "from 1,000,000 on": weights_of(model, text),
        "another word first": weights_of(model, other), "all positions equal": weights_of(model, text, here * 0 + 3),
    }
    for word in (" the", " and", " castle", " blue", ".", "\n", "7", "42", "48213", "3.14", " ", " she"):
        other[0, 0] = ord(word[0])
        first[f"{word!r} first"] = weights_of(model, other[:, :16])
    want = {case: one[..., 1:, 0].mean().item() for case, one in first.items()}
    for number in range(10, 150, 10):
        mask, at = causal.clone(), number // 8
        mask[at, :at] = False
        want[f"token {number} sees itself alone"] = weights_of(model, text, mask=mask)[..., 19:, at].mean().item()
    assert {case: rows[case]["share"] for case in want} == pytest.approx(want, abs=2e-4)
    for case, mask in masks(32, "cpu").items():
        share = weights_of(model, text, mask=mask)[..., 19:, :].mean(dim=(0, 1, 2, 3))
        others = torch.cat([share[2:16], share[17:19]]).max()
        want = {"token 0": share[0], "token 1": share[1], "token 128": share[16], "any other": others}
        assert rows[case]["shares"] == pytest.approx({name: one.item() for name, one in want.items()}, abs=6e-5)
        assert rows[case]["loss"] == pytest.approx(losses(model, text, mask=mask)[0, 18:].mean().item(), abs=2e-6)


def test_heads_look_back_at_another_pace_of_their_own_layer():
    model, text = loaded("stand-in"), tokens(Probe(**HOW))
    rows = rows_of("paces")
    assert [(row["layer"], row["head"]) for row in rows] == 3 * [(0, 0)] + 3 * [(1, 2)]
    for row, pace in zip(rows, 2 * (0.5, 1, 2), strict=True):
        one = weights_of(model, text, encoding=Still(model.encoding, pace=pace))[row["layer"], 0, row["head"], 5:]
        back = [one[range(27), [at - n for at in range(5, 32)]].mean().item() for n in range(5)]
        assert row["case"] == f"pace {pace:g}" and row["back"] == pytest.approx(back, abs=6e-5)
        assert row["first"] == pytest.approx(one[:, 0].mean().item(), abs=6e-5)


def test_leads_are_differences_of_scores():
    model, probe = loaded("stand-in"), Probe(part="sinks", **HOW)
    late, early = (row["leads"] for row in inside(probe, "cpu") if row["case"].startswith("lead in"))
    scores = weights_of(model, tokens(probe))[:, 0].double().log()  # (layer, head, query, key), but for a number of each query
    differences = [
        torch.stack([one[:, n, 0] - one[:, n, 1 : n + 1].mean(dim=-1) for n in range(1, 32)]).mean() for one in scores
    ]
    assert sum(early) == pytest.approx(differences[0].item(), abs=1e-3)
    assert sum(late) == pytest.approx(sum(differences).item() / 2, abs=1e-3)  # of the stand-in's layers, both
