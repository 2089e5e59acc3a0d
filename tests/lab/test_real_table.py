"""What a table remembers and what vectors know of order, on a model that is known, and on MiniLM."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch
from torch import nn

from d2lpos.lab import real_table, records
from d2lpos.lab.real_table import BESIDE, BIT, FILLER, MORE, moved, ordered, remembered
from d2lpos.pretrained import load_minilm
from tests.weights import need


def encoded(text):
    """A token for each letter, between two of their own."""
    return [1, *map(ord, text), 2]


class Known:
    """Adds to a vector of each token and position the mean over all tokens that are not hidden."""

    def __call__(self, tokens, positions=None, real=None):
        positions = torch.arange(tokens.shape[1]) if positions is None else positions
        angles = torch.stack([tokens * 0.7, tokens + positions * 0.01, positions * 0.05 * torch.ones_like(tokens)], dim=-1)
        x = angles.sin() + torch.tensor([0.3, 0.2, 0.4])
        seen = torch.ones_like(tokens, dtype=torch.bool) if real is None else real
        return x + (x * seen[..., None]).sum(dim=1, keepdim=True) / seen.sum()

    def vectors(self, tokens, positions=None):
        return nn.functional.normalize(self(tokens, positions).mean(dim=1), dim=-1)


def alike(text, positions, other=None, others=None):
    """The cosine of two texts whose tokens stand at these positions; that of a text with itself where it is."""
    other = text if other is None else other
    one, two = (Known()(torch.tensor([encoded(t)]), torch.tensor([*p])).mean(dim=1)[0] for t, p in (
        (text, positions), (other, range(len(other) + 2) if others is None else others)
    ))  # fmt: skip
    return pytest.approx(nn.functional.cosine_similarity(one, two, dim=0).item(), abs=6e-5)


def test_a_sentence_is_compared_with_itself_elsewhere(monkeypatch):
    monkeypatch.setattr(real_table, "encoder", lambda name: encoded)
    rows = moved(Known(), "cpu")
    assert [row["text"] for row in rows] == [BIT, *BESIDE.values(), *(text for three in MORE for text in three)]
    for row in rows:
        n = len(row["text"]) + 2
        places = {"all at 0": [0] * n, "all at 5": [5] * n, "reversed": range(n)[::-1], "times 2": range(0, 2 * n, 2)}
        for shift in (1, 16, 64, 120, 240, 400, 490):
            places |= {f"by {shift}": range(shift, n + shift), f"by {shift}, [CLS] at 0": [0, *range(shift + 1, n + shift)]}
        assert {name: row[name] for name in places} == {name: alike(row["text"], at) for name, at in places.items()}
        home = Known()(torch.tensor([encoded(row["text"])]))[0, 1:-1].mean(dim=0)
        for times in (1, 4, 16):
            many = len(FILLER) * times
            long = torch.tensor([[1, *map(ord, FILLER * times + row["text"]), 2]])
            old = torch.tensor([*range(many + 1), *range(1, n)])
            hidden = torch.tensor([[True, *[False] * many, *[True] * (n - 1)]])
            for how, case in ((), ""), ((old,), ", at its old places"), ((None, hidden), " that is masked"):
                there = Known()(long, *how)[0, many + 1 : -1].mean(dim=0)
                want = nn.functional.cosine_similarity(home, there, dim=0).item()
                assert row[f"after {many} of filler{case}"] == pytest.approx(want, abs=6e-5)


def test_sentences_are_compared_with_others_where_they_are_and_in_one_place(monkeypatch):
    monkeypatch.setattr(real_table, "encoder", lambda name: encoded)
    pairs = [(BIT, *one) for one in BESIDE.items()]
    pairs += [(a, name, b) for a, *more in MORE for name, b in zip(("reversed roles", "paraphrase"), more, strict=True)]
    rows = ordered(Known(), "cpu")
    published = [row for row in records("real-table")[0]["rows"] if row["case"] == "order"]
    for some in rows, published:
        assert [(row["text"], row["beside"], row["other"]) for row in some] == pairs
    for row in rows:
        text, other = row["text"], row["other"]
        assert row["cosine"] == alike(text, range(len(text) + 2), other)
        for at in (0, 5):
            assert row[f"all at {at}"] == alike(text, [at] * (len(text) + 2), other, [at] * (len(other) + 2))


def test_what_a_table_remembers_is_what_numpy_says_to_four_decimals():
    model = SimpleNamespace(table=torch.randn(9, 5), tokens=nn.Embedding(20, 5))
    rows, words = model.table.double().numpy(), np.linalg.norm(model.tokens.weight.detach().double().numpy(), axis=1)
    centered = rows - rows.mean(axis=0)
    norms, lengths = (np.linalg.norm(x, axis=1) for x in (rows, centered))
    cosines = centered @ centered.T / np.outer(lengths, lengths) - 9 * np.eye(9)
    energy = np.linalg.eigvalsh(centered.T @ centered)[::-1]
    want = {
        "norms": norms, "centered norms": lengths, "mean row's norm": np.linalg.norm(rows.mean(axis=0)),
        "words' norms": np.quantile(words, [0.05, 0.5, 0.95]), "next": (rows[1:] * rows[:-1]).sum(axis=1) / norms[1:] / norms[:-1],
        "centered next": cosines.diagonal(1), "nearest": cosines.argmax(axis=1), "energy": energy / energy.sum(),
    }  # fmt: skip
    assert remembered(model) == {name: pytest.approx(np.round(one, 4).tolist(), abs=1e-9) for name, one in want.items()}


def test_published_cosines_come_out_again(monkeypatch):
    need("minilm")
    model, rows = load_minilm(), records("real-table")[0]["rows"]
    published = {(row["case"], row["text"], row.get("beside")): row for row in rows if "text" in row}
    for row in ordered(model, "cpu"):
        assert row == pytest.approx(published["order", row["text"], row["beside"]], abs=2e-4)
    monkeypatch.setattr(real_table, "MORE", [])
    monkeypatch.setattr(real_table, "BESIDE", {})
    [row] = moved(model, "cpu")
    assert row == pytest.approx(published["moved", BIT, None], abs=2e-4)
