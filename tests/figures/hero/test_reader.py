"""The engine that reads in the page computes what PyTorch does, with the very weights that the pages load."""

import json
import math
from functools import cache, partial
from itertools import pairwise, product
from pathlib import Path

import pytest
import torch
from torch.nn.functional import cross_entropy

from d2lpos.figures.machine import PASSAGES, positions, shuffled, trained
from d2lpos.lab.text import characters, decode
from d2lpos.pretrained.char_models import CHAR_MODELS, LONGEST, attention, load, path, surprise, tokens
from d2lpos.rotary.rope import RoPE
from d2lpos.rotary.scaling import linear, ntk
from d2lpos.runtime.threads import one_thread
from tests.node import node

HERE = Path(__file__).parent
TEXT = PASSAGES["austen"][1][:200]
PLAIN = torch.arange(len(TEXT))
# Longer than in training in all of them; in the last, keys stand after their query.
SETTINGS = {
    "as they are": PLAIN,
    "from 777": PLAIN + 777,
    "all equal": torch.full_like(PLAIN, 5),
    "doubled": 2 * PLAIN,
    "shuffled": positions(len(TEXT), "shuffled", 0),
}
RULES = {"as trained": None, "linear": linear, "ntk": ntk}
AT = 150


def ask(*jobs: dict) -> list:
    """What node says of each job."""
    return json.loads(node(HERE / "reads.mjs", stdin=json.dumps(jobs)))


def job(model: str, text: str = TEXT, **how) -> dict:
    return {"model": model, "file": str(path(model)), "text": text} | how


@cache
def outputs() -> dict:
    """Each model in each setting; RoPE under each rule, too."""
    cases = [(model, setting, "as trained") for model in CHAR_MODELS for setting in SETTINGS]
    cases += [("rope", "as they are", rule) for rule in RULES]
    jobs = [job(model, positions=SETTINGS[at].tolist(), rule=rule, look=AT) for model, at, rule in cases]
    return dict(zip(cases, ask(*jobs), strict=True))


def ready(name: str, rule: str):
    """The model in PyTorch, under a rule, and its card."""
    model, card = load(name)
    if RULES[rule]:
        encoding = RoPE(16, scaling=partial(RULES[rule], factor=LONGEST / card["train_length"]))
        model.encoding = encoding
        for block in model.blocks:
            block.attention.encoding = encoding
    return model, card


CASES = [(model, setting, "as trained") for model in CHAR_MODELS for setting in SETTINGS]


@pytest.mark.parametrize(
    ("name", "setting", "rule"), [*CASES, *(("rope", "as they are", r) for r in RULES if r != "as trained")]
)
@one_thread()
@torch.no_grad()
def test_logits_losses_and_weights_are_those_of_pytorch(name, setting, rule):
    model, card = ready(name, rule)
    ids, heard = tokens(card, TEXT), outputs()[name, setting, rule]
    assert heard["tokens"] == ids.tolist()
    assert heard["seen"][-1] == len(TEXT) and max(b - a for a, b in pairwise([0, *heard["seen"]])) <= 2
    past = torch.ones(len(TEXT), len(TEXT), dtype=torch.bool).tril()
    logits = model(ids[None], SETTINGS[setting], past)[0]
    torch.testing.assert_close(torch.tensor(heard["logits"]).view_as(logits), logits, rtol=0, atol=1e-3)
    loss = surprise(model, ids, SETTINGS[setting])
    assert math.isnan(loss[0]) and heard["loss"][0] is None
    torch.testing.assert_close(torch.tensor(heard["loss"][1:]), loss[1:], rtol=0, atol=1e-3)
    rows = attention(model, ids, SETTINGS[setting]).flatten(0, 1)[:, AT, : AT + 1]
    assert card["heads"] * card["layers"] == len(heard["look"]) == len(rows)
    torch.testing.assert_close(torch.tensor(heard["look"]), rows, rtol=0, atol=1e-3)
    shares, order = logits[AT - 1].softmax(-1).topk(3)
    assert [c for c, _ in heard["top"]] == [card["vocabulary"][token] for token in order]
    assert [share for _, share in heard["top"]] == pytest.approx(shares.tolist(), abs=1e-4)


def test_the_loss_of_its_passage_is_that_of_the_model_before_it_was_packed():
    passage = characters("test", flowing=True)[: LONGEST + 1]
    heard = ask(*(job(name, decode(passage[:-1])) for name in CHAR_MODELS))
    for name, one in zip(CHAR_MODELS, heard, strict=True):
        logits = torch.tensor(one["logits"]).view(LONGEST, -1)
        losses = load(name)[1]["passage"]["float"]
        assert cross_entropy(logits, passage[1:]).item() == pytest.approx(losses["whole"], abs=0.01)
        assert torch.tensor(one["loss"][1:129]).mean().item() == pytest.approx(losses["within"], abs=0.01)


def test_a_character_is_read_as_one_like_it_or_asked_for_never():
    card = load("none")[1]
    text = "“É…”\t— Xß中 a"
    [heard] = ask(job("none", text))
    assert "".join([*card["vocabulary"], "#"][token] for token in heard["tokens"]) == '"E." - x## a'
    assert heard["tokens"] == tokens(card, text).tolist()
    assert [i for i, loss in enumerate(heard["loss"]) if loss is None] == [0, 8, 9]
    loss = surprise(*load("none")[:1], tokens(card, text), torch.arange(len(text)))
    assert [i for i, value in enumerate(loss.tolist()) if math.isnan(value)] == [0, 8, 9]


def test_a_text_that_is_too_long_is_refused():
    long, uneven = ask(job("none", "a" * 513), job("none", "abc", positions=[0, 1]))
    assert long["error"] == "tokens must be at most 512, with a position each; got 513 and 513"
    assert uneven["error"].endswith("got 3 and 2")


def test_python_and_the_figure_place_a_text_alike():
    cases = list(product((5, 200), ("runs", "stands", "double", "shuffled"), (0, 600)))
    calls = [*(["machine", "positions", [*case, trained()]] for case in cases), ["machine", "shuffled", [TEXT]]]
    *heard, mixed = json.loads(node(HERE / "calls.mjs", stdin=json.dumps(calls)))
    for case, places in zip(cases, heard, strict=True):
        assert positions(*case).tolist() == places
    assert shuffled(TEXT) == mixed != TEXT
    assert sorted(mixed.split()) == sorted(TEXT.split())
