"""Heads that draft for a trained model, and a model that is tuned with YaRN or without."""

from copy import deepcopy
from dataclasses import replace
from functools import partial
from itertools import product

import pytest
import torch
from torch import nn
from torch.nn.functional import one_hot

from d2lpos import Encoding, RoPE
from d2lpos.lab import PROBES, Probe, run_probe
from d2lpos.lab import tuned as lab
from d2lpos.lab.models import place
from d2lpos.lab.probe import loaded
from d2lpos.lab.real import Apart
from d2lpos.lab.text import language
from d2lpos.lab.tuned import Head, hidden_states
from d2lpos.rotary.scaling import unscaled, yarn

TARGET = loaded("characters")


def rows_of(study):
    [probe] = PROBES[study].runs(range(1), smoke=True)
    return run_probe(probe)["rows"]


YARN = partial(yarn, factor=4, length=48)
TAUGHT = {"10,000": RoPE(16), "1,000,000": RoPE(16, 1_000_000.0), "YaRN": RoPE(16, scaling=YARN)}


@torch.no_grad()
def test_a_draft_is_accepted_as_often_as_both_would_say_the_same(monkeypatch):
    """Heads that nobody has trained, each run as its case says: the mean of Σ min(p, q) over the second half."""
    torch.manual_seed(1)
    heads = {}

    def untrained(target, encoding, probe, steps):
        heads[encoding.base, encoding.scaling is unscaled] = head = Head(target, encoding)
        return head

    monkeypatch.setattr(lab, "trained", untrained)
    monkeypatch.setattr(lab, "TESTED", 3)
    tokens, _ = language(3, 48, torch.Generator().manual_seed(2**31), split="test", flowing=True)
    hidden, here = hidden_states(TARGET, tokens), torch.arange(47)
    p = TARGET(tokens, torch.arange(48), torch.ones(48, 48, dtype=torch.bool).tril())[:, 1:].softmax(dim=-1)
    ways = {f"trained 10,000, run {name}": ("10,000", one, here) for name, one in TAUGHT.items()}
    for name in "1,000,000", "YaRN":
        ways |= {f"trained {name}, run {name}": (name, TAUGHT[name], here), f"trained {name}, run 10,000": (name, RoPE(16), here)}
    ways |= {"other layout": ("10,000", RoPE(16, layout="interleaved"), here), "no rotation": ("10,000", Encoding(), here)}
    ways |= {"all one later": ("10,000", RoPE(16), here), "queries one later": ("10,000", Apart(RoPE(16), 1), here)}
    ways["a picture's tokens counted"] = ("10,000", RoPE(16), torch.tensor([*range(23), *range(47, 71)]))
    rows = {row["case"]: row["accepted"] for row in lab.draft_heads(Probe("draft-heads", "EAGLE", "characters", length=48), "cpu")}
    assert rows.keys() == ways.keys()
    for case, (name, encoding, places) in ways.items():
        head = heads[TAUGHT[name].base, name != "YaRN"]
        a, b, last = head.norms
        joined = head.join(torch.cat([a(TARGET.tokens(tokens[:, 1:])), b(hidden[:, :-1])], dim=-1))
        q = TARGET.head(last(head.block(joined, places, encoding=encoding))).softmax(dim=-1)
        assert rows[case] == pytest.approx(torch.minimum(p, q).sum(dim=-1)[:, 23:].mean().item(), abs=2e-5)


@pytest.mark.parametrize("part", ["EAGLE", "MTP"])
def test_a_head_learns_what_the_target_says_next_or_the_text(monkeypatch, part):
    fitted = {}
    monkeypatch.setattr(lab, "fit", lambda head, loss, *how: fitted.update({how: (head, loss)}) or head)
    probe = Probe("draft-heads", part, "characters", length=20)
    for seed in 5, 5, 6:
        lab.trained(TARGET, RoPE(16), replace(probe, seed=seed), 300)
    (head, loss), (other, _) = fitted.values()
    assert list(fitted) == [(8, 20, seed, 300, 5e-3) for seed in (5, 6)]
    assert torch.equal(head.join.weight, lab.trained(TARGET, RoPE(16), replace(probe, seed=5), 1).join.weight)
    assert not torch.equal(head.join.weight, other.join.weight)
    tokens, targets = language(2, 20, torch.Generator().manual_seed(0))
    q = head(TARGET, hidden_states(TARGET, tokens)[:, :-1], tokens[:, 1:], torch.arange(19)).log_softmax(dim=-1)
    right = one_hot(targets[:, 1:], q.shape[-1]).float()
    if part == "EAGLE":
        right = TARGET(tokens, torch.arange(20), torch.ones(20, 20, dtype=torch.bool).tril())[:, 1:].softmax(dim=-1)
    torch.testing.assert_close(loss(tokens, targets), -(right * q).sum(dim=-1).mean())


def test_batches_are_those_of_the_seed_and_the_rate_falls_along_a_line():
    """AdamW moves a number by the rate where its slope is always 1."""
    one, seen = nn.Module(), []
    one.number = nn.Parameter(torch.zeros(()))
    lab.fit(one, lambda tokens, targets: seen.append(tokens) or one.number, 2, 9, 7, 10, 1e-3)
    draw = torch.Generator().manual_seed(7)
    assert all(torch.equal(tokens, language(2, 9, draw, flowing=True)[0]) for tokens in seen) and len(seen) == 10
    assert one.number.item() == pytest.approx(-1e-3 * sum(1 - 0.098 * step for step in range(10)), rel=1e-3)


@torch.no_grad()
def test_each_model_is_read_both_ways_and_loses_on_the_same_last_tokens(monkeypatch):
    asked = []

    def fake(model, encoding, length, seed, steps):
        asked.append((encoding.scaling is unscaled, length, seed, steps))
        model = deepcopy(model)
        model.head.weight *= len(asked)
        return model

    monkeypatch.setattr(lab, "fit", lambda model, loss, *how: how)
    assert lab.tuned(TARGET, RoPE(16), 160, 3, 100) == (12, 160, 3, 100, 1e-3)
    monkeypatch.setattr(lab, "tuned", fake)
    monkeypatch.setattr(lab, "TESTED", 2)
    rows = lab.yarn_served(Probe("yarn-served", model="characters", seed=3, length=160), "cpu")
    assert asked == [(without, length, 3, 100) for length in (128, 160) for without in (True, False)]
    tokens, targets = language(2, 160, torch.Generator().manual_seed(2**31), split="test", flowing=True)
    names = ["not tuned", "without, on 128", "with, on 128", "without, on 160", "with, on 160"]
    assert [(row["characters"], row["case"], row["read"]) for row in rows] == [*product((128, 160), names, ("without", "with"))]
    for row in rows:
        model, n = deepcopy(TARGET), row["characters"]
        model.head.weight *= max(1, names.index(row["case"]))
        encoding = RoPE(16, scaling=partial(yarn, factor=4, length=128)) if row["read"] == "with" else RoPE(16)
        place(model, [encoding] * 3)
        logits = model(tokens[:, -n:], torch.arange(n), torch.ones(n, n, dtype=torch.bool).tril())[:, -128:]
        right = logits.log_softmax(dim=-1).gather(2, targets[:, -128:, None])
        assert row["loss"] == pytest.approx(-right.mean().item(), abs=2e-5)


def test_a_tuned_model_is_read_both_ways_and_the_model_stays_as_it_was():
    before = [parameter.clone() for parameter in TARGET.parameters()]
    rows = {(row["case"], row["read"]): row["loss"] for row in rows_of("yarn-served")}
    assert rows["not tuned", "without"] < rows["not tuned", "with"] > rows["with, on 128", "with"]
    assert all(torch.equal(one, parameter) for one, parameter in zip(before, TARGET.parameters(), strict=True))
    assert TARGET.encoding.scaling.__name__ == "unscaled"
