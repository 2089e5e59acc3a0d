"""What two models are asked: on a small model with two bases; and how sentences are judged."""

import string
from functools import partial

import pytest
import torch

from d2lpos import Encoding, RoPE
from d2lpos.lab import Probe, real_both, two_models
from d2lpos.lab.real import Apart
from d2lpos.lab.real_both import both
from d2lpos.lab.real_inside import AlikeKeys, masks
from d2lpos.lab.two_models import judged
from d2lpos.pretrained import Gemma3
from d2lpos.rotary.scaling import yarn
from d2lpos.runtime.threads import one_thread
from tests.core.test_gemma3 import SMALL
from tests.core.test_smollm2 import loud
from tests.lab.test_probe import Still
from tests.lab.test_real_inside import weights_of

TEXT = torch.randint(300, (1, 32), generator=torch.Generator().manual_seed(1))
HERE = torch.arange(32)


@pytest.fixture
def model(monkeypatch):
    """A model whose windows and whole-text layers have two bases, and whose heads share keys; it is asked among few tokens."""
    torch.manual_seed(0)
    model = loud(Gemma3(**SMALL | {"vocabulary": 300, "head_dim": 64, "kv_heads": 2}))
    monkeypatch.setattr(real_both, "loaded", lambda *_: model)
    monkeypatch.setattr(real_both, "tokens", lambda *_: TEXT)
    monkeypatch.setattr(real_both, "COMMON", 10)
    with one_thread():
        yield model


def asked(part):
    return {row["case"]: row for row in both(Probe("real-both", part, "stand-in", "rule", length=32), "cpu")}


def loss_of(model, **how):
    """The mean loss among the common tokens, those of ASCII and the text's own."""
    logits = model.logits(model.read(model.embed(TEXT), **how))[0, :-1]
    some = sorted({*range(10), *map(ord, string.printable), *TEXT[0].tolist()})
    chance = logits[:, some].softmax(dim=-1)
    return -sum(chance[at, some.index(token)].log() for at, token in enumerate(TEXT[0, 1:].tolist())).item() / 31


@torch.no_grad()
def test_losses_are_those_of_the_model_with_one_thing_changed(model, monkeypatch):
    far = {layer for layer, own in enumerate(model.own) if own.base == 1_000_000}
    near = {*range(7)} - far
    assert near and far

    def each(how, layers=range(7)):
        return {"encoding": [how(own) if layer in layers else own for layer, own in enumerate(model.own)]}

    def still(pairs, layers=range(7)):
        return each(partial(Still, pairs=[*pairs]), layers)

    ways = {"as trained": {}, "no rotation": {"encoding": Encoding()}, "shifted by 100,000": {"positions": HERE + 100_000}}
    ways["other layout"] = each(lambda own: RoPE(64, own.base, "interleaved"))
    ways |= {f"{name} pace": each(partial(Still, pace=pace)) for name, pace in (("half", 0.5), ("double", 2))}
    ways["queries one ahead"] = each(partial(Apart, ahead=1))
    ways["gap of 7,000"] = {"positions": torch.tensor([*range(16), *range(7016, 7032)])}
    for by in 11_000, 14_000:
        ways[f"first four {by:,} away"] = {"positions": torch.tensor([*range(4), *range(by + 4, by + 32)])}
    ways |= {f"band {at}": still(range(4 * at, 4 * at + 4)) for at in range(8)}
    ways |= {f"pair {at}": still([at]) for at in (0, 1, 2, 3, 8, 18)}
    ways |= {"all but pair 0": still(range(1, 32)), "slow: still": still(range(22, 26))}
    for name, at in ("fast", 0), ("slow", 22):
        for case, start in ("alike but the first", 1), ("alike", 0):
            ways[f"{name}: {case}"] = each(partial(AlikeKeys, pairs=range(at, at + 4), start=start))
    ways["ntk by 2"] = each(lambda own: RoPE(64, own.base * 2 ** (64 / 62)))
    lengths = {10_000: 512, 1_000_000: 32_768}
    ways["yarn by 2"] = each(lambda own: RoPE(64, own.base, scaling=partial(yarn, factor=2, length=lengths[own.base])))
    ways |= {f"window, {first} first": {"window": (16, first)} for first in (0, 4)}
    ways |= {"windows still": still(range(32), near), "whole-text layers still": still(range(32), far)}
    ways |= {"band 4 in windows": still(range(16, 20), near)}
    ways |= {f"part {at} to {at} of band 4": still([at]) for at in range(16, 20)}
    ways |= {f"base {base:,} for all": {"encoding": RoPE(64, base)} for base in (10_000, 1_000_000)}
    want = {case: loss_of(model, **how) for case, how in ways.items()}
    read, hows, x, far_off = model.read, [], torch.randn(2, 1, 2, 4, 64), torch.tensor([0, 3, 1000, 70_000])
    given = x.clone()
    with monkeypatch.context() as patch:
        patch.setattr(model, "read", lambda x, **how: hows.append(how) or read(x, **how))
        rows = asked("turns")
    assert {case: row["loss"] for case, row in rows.items()} == pytest.approx(want, abs=5e-6)
    for both_ways in zip(hows, map(ways.get, rows), strict=True):  # of some, 32 tokens show next to nothing
        each_own = [own if isinstance(own, list) else 7 * [own] for own in (how.get("encoding", model.own) for how in both_ways)]
        torch.testing.assert_close(*([own.rotate(*x, far_off, far_off) for own in every] for every in each_own))
    assert torch.equal(x, given)
    bands = [want[f"band {at}"] for at in range(8)]
    want = {"as trained": want["as trained"]} | {f"layer {at}": loss_of(model, **still(range(32), [at])) for at in range(7)}
    assert {case: row["loss"] for case, row in asked("layers").items()} == pytest.approx(want, abs=1e-4)
    usual = want["as trained"]
    want = {"as trained": usual} | {f"longer: band {at}": bands[at] for at in range(4, 8)}
    assert {case: row["loss"] for case, row in asked("longer").items()} == pytest.approx(want, abs=1e-4)
    rows = asked("more")
    assert rows["middle: still"]["loss"] == pytest.approx(loss_of(model, **still([18])), abs=1e-4)
    alike = each(partial(AlikeKeys, pairs=[18], start=1))
    assert rows["middle: alike but the first"]["loss"] == pytest.approx(loss_of(model, **alike), abs=1e-4)


@torch.no_grad()
def test_heads_look_where_their_weights_lie_and_shares_are_means(model):
    rows, usual = asked("looks"), []
    model.read(model.embed(TEXT), watch=lambda layer, q, k: usual.append((q, k)))
    for layer, head in (0, 0), (1, 2):
        q, k = usual[layer]
        for name, how in {"as trained": {}, "pair 0 still": {"pairs": [0]}, "half": {"pace": 0.5}, "double": {"pace": 2}}.items():
            turned, keys = Still(model.own[layer], **how).rotate(q, k.repeat_interleave(2, dim=1), HERE, HERE)
            one = (turned @ keys.mT / 8)[0, head].masked_fill(HERE > HERE[:, None], -torch.inf).softmax(dim=-1)[5:]
            back = [one[range(27), [at - n for at in range(5, 32)]].mean().item() for n in range(5)]
            assert rows[f"layer {layer}, head {head}"][name] == pytest.approx([*back, one[:, 0].mean().item()], abs=6e-5)
    slow = []
    for own, (_, k) in zip(model.own, usual, strict=True):
        longest = (k[0, ..., :32] ** 2 + k[0, ..., 32:] ** 2).sqrt().mean(dim=1).argmax(dim=1)
        slow += [own.base ** (-pair / 32) * 32 < 2 * torch.pi for pair in longest.tolist()]
    assert rows[real_both.LONG]["share"] == pytest.approx(sum(slow) / 14) and 0 < sum(slow) < 14
    other, middle, by_name = TEXT.clone(), TEXT.clone(), masks(32, "cpu")
    other[0, 0] = middle[0, 0] = TEXT[0, 24]
    middle[0, 8] = TEXT[0, 0]
    late, want = slice(20, None), {}
    for case, how in {"the first token": {}, "from 1,000,000 on": {"positions": HERE + 1_000_000},
                      "all positions equal": {"positions": 0 * HERE}, "another word first": {"ids": other}}.items():  # fmt: skip
        want[case] = weights_of(model, **{"ids": TEXT} | how)[..., 1:, 0].mean().item()
    for case, at in ("(a) the first hidden", 1), ("(d) token 128 sees itself", 16):
        want[case] = weights_of(model, TEXT, mask=by_name[case])[..., late, at].mean().item()
    assert {case: rows[case]["share"] for case in want} == pytest.approx(want, abs=6e-5)
    share = weights_of(model, middle)[..., late, 8].mean().item()
    assert asked("more")["first word in the middle"]["share"] == pytest.approx(share, abs=6e-5)


def test_a_sentence_holds_where_its_interval_is_above_zero():
    for in_code, apart, word in (0.6, 0.01, "holds"), (-0.6, 0.01, "holds in 2, fails in 1 of 3"), (0.2, 1, "holds in 2 of 3"):
        rises = {"persuasion": 0.6, "pride": 0.6, "code": in_code}
        records = [
            {
                "run": {"model": "gemma3", "text": text, "seed": seed},
                "rows": [{"case": "as trained", "loss": 1.0}, {"case": "gap of 7,000", "loss": 1.0 + rise}],
            }
            for text, mean in rises.items()
            for seed, rise in enumerate(mean + apart * one * (text == "code") for one in (-1, 0, 1))
        ]
        table = judged(records)["Gemma 3"]
        assert table["A gap of 7,000 in the middle costs 0.1 nats or more"] == word
        assert table["Only the offset counts"] == "not asked"


def made(**rises):
    return [{"case": case, "loss": 2 + rise} for case, rise in rises.items()]


def test_each_sentence_has_the_number_of_its_words():
    """A passage that is made up, and the numbers of the sentences, in their order, as one finds them with a pencil."""
    rows = made(**{
        "as trained": 0, "shifted by 100,000": -0.015, "no rotation": 4, "other layout": 3.5, "half pace": 1.5, "double pace": 1,
        "queries one ahead": 4.5, "gap of 7,000": 0.3, "first four 11,000 away": 0.04, "first four 14,000 away": 0.7,
        "window, 0 first": 1.2, "window, 4 first": 0.5, "all but pair 0": 3.2, "fast: alike but the first": 2.2,
        "slow: still": 0.3, "slow: alike but the first": 0.5, "slow: alike": 1.3, "ntk by 2": 0.01, "yarn by 2": 0.04,
        "middle: still": 0.9, "middle: alike but the first": 0.2,
    })  # fmt: skip
    rows += made(**{f"pair {at}": rise for at, rise in {0: 2, 1: 0.4, 2: 0.1, 3: 0.1, 8: 0.2, 18: 0.3}.items()})
    rows += made(**{f"band {at}": rise for at, rise in enumerate((2.5, 0.9, 0.2, 0.1, 0.05, 0.06, 0.07, 0.11))})
    rows += made(**{f"longer: band {at}": rise for at, rise in {4: 0.06, 5: 0.1, 6: 0.3, 7: 0.9}.items()})
    layers = (0.1, 0.8, 0.7, 0.05, 0.6, 0.05, 0.05, 0.05, 0.05, 0.05, 0.55, 0.1)
    rows += made(**{f"layer {at}": rise for at, rise in enumerate(layers)})
    shares = {
        "the first token": 0.4, "from 1,000,000 on": 0.42, "all positions equal": 0.37, "another word first": 0.3,
        "(a) the first hidden": 0.15, "(d) token 128 sees itself": 0.25, "first word in the middle": 0.05, two_models.LONG: 0.6,
    }  # fmt: skip
    rows += [{"case": case, "share": share} for case, share in shares.items()]
    rows += [  # 0 to 4 tokens back, and the first
        {"case": "layer 1, head 2", "as trained": [0.1, 0.8, 0.02, 0.01, 0.01, 0.05], "pair 0 still": [0.2, 0.3, 0.1, 0.1, 0.1, 0.25],
         "half": [0.1, 0.2, 0.5, 0.1, 0.05, 0.05], "double": [0.6, 0.2, 0.08, 0.1, 0.01, 0.01]},
        {"case": "layer 2, head 1", "as trained": [0.2, 0.5, 0.1, 0.1, 0.05, 0.1], "pair 0 still": [0.1, 0.15, 0.1, 0.1, 0.3, 0.2],
         "half": [0.1, 0.3, 0.4, 0.1, 0.05, 0.05], "double": [0.6, 0.2, 0.05, 0.1, 0.01, 0.01]},
    ]  # fmt: skip
    parts = [rows[:30], rows[:1] + rows[30:]]  # a passage is asked in parts
    run = {"model": "gemma3", "text": "code", "seed": 0}
    numbers = two_models.margins({"run": run, "rows": part} for part in parts).loc["gemma3", "code", 0]
    assert numbers.tolist() == pytest.approx([
        0.005, 0.5, 0.5, 0.5, 0.2, 0.4, 1.6, -0.01, 0.2, 0.2, 0.125, -0.05, 0.15, 0.02, -0.02, 0.06, 0.2, 1.1, 0.1,
        0.01, 0.85, 0.2, 0.1, 0.3, 0.2, 0.3, 0.1, 0.02, 0.05, 0.15, 0.2, -0.05, 0.7, 0.01, 1.3,
    ])  # fmt: skip
