"""Keys that are dropped by what has looked at them."""

import copy
from dataclasses import replace

import pytest
import torch

from d2lpos.lab import PROBES, eviction, records, run_probe
from d2lpos.lab.eviction import Cache, evict, worth
from d2lpos.lab.probe import loaded, tokens
from d2lpos.lab.real import hidden
from d2lpos.pretrained import SmolLM2, losses

MODEL = loaded("stand-in")
[PROBE] = PROBES["real-eviction"].runs(range(1), smoke=True)


def weights_of(model, text):
    """The weights (layer, query head, query, key) of a whole pass, by the model's own formula, two heads to a key."""
    x, here, every = model.embed(text[None]), torch.arange(len(text)), []
    for block in model.blocks:
        q, k, v = (t[:, [0, 0, 1, 1]] if len(t[0]) == 2 else t for t in block.projected(x))
        q, k = model.encoding.rotate(q, k, here, here)
        scores = q @ k.mT / 8**0.5
        every.append(scores.masked_fill(here > here[:, None], -torch.inf).softmax(dim=-1))
        x = block.close(x, every[-1] @ v)
    return torch.cat(every)


@torch.no_grad()
def test_weights_are_summed_over_queries_and_over_heads_that_share_keys():
    torch.manual_seed(0)
    model = SmolLM2(vocabulary=256, dim=32, layers=2, heads=4, kv_heads=2, inner=32).eval()
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.3)
    text = tokens(PROBE)[0, :48]
    of_keys = weights_of(model, text).unflatten(1, (2, 2)).sum(dim=2)  # (layer, key head, query, key)
    for pieces, last in (16, 16), (48, 32):
        cache = Cache(model, torch.tensor([False]))
        for piece in text.split(pieces):
            cache.read(piece)
        for layer, of_layer in enumerate(of_keys):
            torch.testing.assert_close(cache.layers[layer][3][0], of_layer.sum(dim=1), atol=1e-3, rtol=1e-3)
            torch.testing.assert_close(cache.weights[layer][0], of_layer[:, -last:], atol=1e-4, rtol=1e-3)


def test_each_policy_keeps_what_its_authors_keep():
    total = torch.tensor([[0.5, 9.0, 0.1, 7.0, 0.2, 0.3, 0.1, 0.1]])
    last = torch.zeros(2, 3, 8)
    last[:, 0, 7] = 1  # an earlier query
    last[:, -1] = torch.tensor([[0.1, 0.0, 0.3, 0.0, 0.2, 0.0, 0.4, 0.0], [0.1, 0.15, 0.3, 0.0, 0.2, 0.0, 0.25, 0.0]])
    def kept(policy, capacity):
        return worth(policy, last, total, capacity)[0].topk(capacity).indices.sort().values.tolist()
    assert kept("window and 4 first", 6) == [0, 1, 2, 3, 6, 7]
    assert kept("H2O", 4) == [1, 3, 6, 7]
    assert kept("TOVA", 4) == [0, 2, 4, 6]
    far = torch.zeros(1, 33, 60)
    far[:, 0, 15] = 9  # before the last 32 queries
    far[:, -1, [0, 9, 20]] = torch.tensor([0.7, 1, 0.8])
    chosen = worth("SnapKV", far, torch.zeros(1, 60), 38)[0].topk(38).indices.sort().values.tolist()
    assert chosen == [0, 7, 8, 9, 10, 11, *range(28, 60)]  # the first, of three neighbors, five of one key, and the last 32


@torch.no_grad()
def test_keys_that_stay_keep_their_places_or_are_counted():
    """In a model of one layer: as a pass over the tokens that stay."""
    one = copy.deepcopy(MODEL)
    del one.blocks[1]
    text, cache = tokens(PROBE)[0, :24], Cache(one, torch.tensor([False, True]))
    cache.read(text[:20])
    evict(cache, ("window and 4 first",) * 2, capacity=12)
    left = torch.tensor([0, 1, 2, 3, *range(12, 24)])
    assert cache.layers[0][2][:, 0].tolist() == [left[:12].tolist()] * 2
    x = cache.read(text[20:])
    for case, places in enumerate((left, torch.arange(16))):
        whole = one.read(one.embed(text[None, left]), places)
        torch.testing.assert_close(x[case], whole[0, 12:], atol=1e-4, rtol=1e-4)


@torch.no_grad()
def test_the_share_of_a_number_that_stays_is_of_its_digits():
    text, cache = tokens(PROBE)[0], Cache(MODEL, torch.tensor([False]))
    cache.read(text[:24])
    evict(cache, ("window and 4 first",), capacity=12)
    [row] = eviction.answers(cache, ["some"], text[24:121], [(12, [1, 2], [3, 4, 5, 6])])  # of 14 to 17, 16 and 17
    assert row["stays"] == [0.5] and row["first"] == 1


@torch.no_grad()
def test_rows_of_the_study(monkeypatch):
    """With room for all, each case says what the model says that goes on from the prompt, here all that is asked but a digit."""
    monkeypatch.setattr(eviction, "CAPACITY", 640)
    prompt, asked = hidden(PROBE, 4)

    def says(text, digits=()):
        return list(digits) if len(digits) == 5 else says(text, [*digits, MODEL(torch.tensor([[*text, *digits]]))[0, -1].argmax().item()])

    asked = [(place, question, says(prompt + question)) for place, question, _ in asked]
    asked[1][2][-1] += 1
    monkeypatch.setattr(eviction, "hidden", lambda *_: (prompt, asked))
    hay = 640 - sum(len(question) + 7 for _, question, _ in asked)  # five digits and the end of a sentence
    after = tokens(replace(PROBE, length=hay + 97))[0, hay:]
    loss = losses(MODEL, torch.cat([torch.tensor(prompt), after])[None])[0, -96:].mean().item()
    begun, read = [], Cache.read
    monkeypatch.setattr(Cache, "read", lambda self, text: begun.append((self.length, len(text))) or read(self, text))
    rows = {row["case"]: row for row in run_probe(PROBE)["rows"]}
    branches = [97, *(len(question) + 5 for _, question, _ in asked)]
    assert begun[21:36] == [(640, size) for size in branches] * 3  # behind the prompt, read at once and in 20 pieces
    ends = [640 + len(question) - 1 for _, question, _ in asked]
    assert begun[36:] == [part for end in ends for part in ((640, end - 640), (end, 6))]
    assert [*rows] == [row["case"] for row in records("real-eviction")[0]["rows"]]
    assert all(row["stays"] == [1.0] * 4 and row["first"] == 1 for row in rows.values() if row["loss"] is not None)
    assert {(row["right"], row["of"], *row["digits"]) for row in rows.values()} == {(19, 20, 5, 4, 5, 5)}
    for row in rows.values():
        assert row["loss"] is None or row["loss"] == pytest.approx(loss, abs=2e-5)
