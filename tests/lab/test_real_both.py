"""What two models are asked: on the stand-in, by layer on a model with two bases, and how sentences are judged."""

import pytest
import torch

from d2lpos import Encoding
from d2lpos.lab import Probe, real_both
from d2lpos.lab.probe import loaded, tokens
from d2lpos.lab.real_both import both
from d2lpos.lab.real_inside import weighed
from d2lpos.lab.two_models import judged
from d2lpos.pretrained import Gemma3, losses
from d2lpos.transformer import causal_mask
from d2lpos.transformer.attention import attention_weights
from tests.core.test_gemma3 import SMALL
from tests.core.test_smollm2 import loud

HOW = {"study": "real-both", "model": "stand-in", "text": "rule", "length": 32}


def asked(part):
    probe = Probe(part=part, **HOW)
    return {row["case"]: row for row in both(probe, "cpu")}, loaded("stand-in"), tokens(probe)


@torch.no_grad()
def test_losses_are_those_of_the_model_with_one_thing_changed():
    rows, model, text = asked("turns")
    here = torch.arange(32)
    for case, how in {
        "as trained": {},
        "no rotation": {"encoding": Encoding()},
        "gap of 7,000": {"positions": here + 7000 * (here > 15)},
        "half pace": {"positions": here / 2},
        "window, 4 first": {"window": (16, 4)},
    }.items():
        assert rows[case]["loss"] == pytest.approx(losses(model, text, **how).mean().item(), abs=1e-4)
    by_layer, *_ = asked("layers")
    first_off = losses(model, text, encoding=[None, model.encoding]).mean().item()
    assert by_layer["layer 0"]["loss"] == pytest.approx(first_off, abs=1e-4)


@torch.no_grad()
def test_each_layer_is_asked_with_the_encoding_that_it_has():
    model, text, here = loud(Gemma3(**SMALL)), torch.randint(60, (1, 20)), torch.arange(20)
    shares = []

    def watch(layer, q, k):
        w = attention_weights(q, k, here, here, model.own[layer], causal_mask(here, here))
        shares.append(w.mean(dim=(1, 2)))

    model.read(model.embed(text), mask=causal_mask(here, here), watch=watch)
    got, _ = weighed(model, text, here, causal_mask(here, here), slice(None))
    torch.testing.assert_close(got, torch.stack(shares).mean(dim=0).to(got))
    changed = real_both.changed(model, lambda own: real_both.held(own, [0]), [5])
    assert [one.base for one in changed] == [one.base for one in model.own]
    assert [one is own for one, own in zip(changed, model.own, strict=True)] == [True] * 5 + [False, True]


def test_a_sentence_holds_where_its_interval_is_above_zero():
    for in_code, word in ((0.6, "holds"), (-0.6, "holds in 2, fails in 1 of 3")):
        rises = {"persuasion": 0.6, "pride": 0.6, "code": in_code}
        records = [
            {
                "run": {"model": "gemma3", "text": text, "seed": seed},
                "rows": [{"case": "as trained", "loss": 1.0}, {"case": "gap of 7,000", "loss": 1.0 + rise}],
            }
            for text, mean in rises.items()
            for seed, rise in enumerate((mean - 0.01, mean, mean + 0.01))
        ]
        table = judged(records)["Gemma 3"]
        assert table["A gap of 7,000 in the middle costs 0.1 nats or more"] == word
        assert table["Only the offset counts"] == "not asked"
