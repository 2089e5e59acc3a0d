"""Every prediction can be made in the page, and the answer that the page shows is the chapter's."""

import re
from collections import Counter
from pathlib import Path

import nbformat
import pytest
import torch
from d2lpos_ext.asks import hints
from d2lpos_ext.cells import note, tags
from d2lpos_ext.predictions import question
from nbformat.v4 import new_markdown_cell
from notebooks import every
from pandas import DataFrame

from d2lpos.bias.t5 import bucket
from d2lpos.lab import frame, records
from d2lpos.lab.text import characters, decode
from d2lpos.rotary.rope import angles, frequencies, rotate
from d2lpos.transformer.dropout import drop

ROOT = Path(__file__).parents[2]
NEXT = 3  # cells of code below a prediction, whose outputs may hold its answer
BOOK = {path: nbformat.read(path, as_version=4).cells for path in every(ROOT)}
CELLS = [
    (path, at, cell)
    for path, cells in BOOK.items()
    for at, cell in enumerate(cells)
    if "predict" in tags(cell)
]
ASKS = {ask["id"]: (ask, path, at) for path, at, cell in CELLS if (ask := note(cell, "ask"))}
DRAWN = [name for name, (ask, *_) in ASKS.items() if ask["kind"] == "sketch"]
NUMBERS = [name for name, (ask, *_) in ASKS.items() if ask["kind"] == "number"]
KEYS = {
    "choice": {"options", "right"},
    "number": {"from", "to", "step", "right", "within"},
    "sentence": set(),
    "sketch": {"legend", "x", "labels", "y", "right", "within", "by"},
}
FREE = {"legend", "unit", "by", "given", "tells"}


def answer_in(name: str) -> str:
    """The answer of a prediction, and what the cells below it have shown."""
    _, path, at = ASKS[name]
    cells = BOOK[path]
    below = [cell for cell in cells[at:] if cell.cell_type == "code"][:NEXT]
    outputs = [out for cell in below for out in cell.outputs]
    shown = [out.get("text", "") + out.get("data", {}).get("text/plain", "") for out in outputs]
    return "\n".join([cells[at].source.partition("<details>")[2], *shown])


def mean(study, value, lengths, of="length", **case):
    """The mean of recorded runs over their seeds, at each of some lengths."""
    rows = frame(records(study)).query("split == 'test'")
    for key, wanted in case.items():
        rows = rows[rows[key] == wanted]
    return [rows[rows[of] == one][value].mean() for one in lengths]


def batches_that_train(rows):
    """As in chapter 3: in how many batches of 32 paragraphs one is longer than a row's number."""
    lengths = torch.tensor([len(text.split()) for text in decode(characters("train")).split("\n\n")])
    lengths = lengths[lengths > 0]
    torch.manual_seed(0)
    batches = lengths[torch.randperm(len(lengths))].split(32)
    return [sum((batch > row).any().item() for batch in batches) for row in rows]


def alike(offsets):
    """As in chapter 4A: how well the scores of 2000 random queries and keys correlate in the two layouts."""
    torch.manual_seed(0)
    q, k = torch.randn(2, 2000, 64)
    layouts = ("interleaved", "half")
    turned = [
        [rotate(k, angles(torch.tensor([n]), frequencies(64)), layout) for layout in layouts] for n in offsets
    ]
    return [torch.corrcoef(torch.stack([(q * k).sum(dim=-1) for k in pair]))[0, 1].item() for pair in turned]


def computed(name: str) -> torch.Tensor:
    ask = ASKS[name][0]
    known = {"x": ask.get("x"), "shown": answer_in(name), "re": re, "DataFrame": DataFrame}
    known |= {f.__name__: f for f in (mean, batches_that_train, alike, bucket, drop, records)}
    return torch.as_tensor(eval(ask["by"], known | {"torch": torch}), dtype=torch.double)


def test_every_prediction_is_asked_for():
    assert len(CELLS) > 50
    assert [(path.name, at) for path, at, cell in CELLS if not note(cell, "ask")] == []
    assert len(DRAWN) >= 3 and len(NUMBERS) >= 5


def test_a_prediction_without_a_question_is_an_error():
    asked = {"d2lpos": {"ask": {"id": "1.none"}}}
    cell = new_markdown_cell("**Predict first.** Count them.\n\n<details>Why?</details>", metadata=asked)
    with pytest.raises(ValueError, match=r"prediction 1\.none has no sentence that ends in a question mark, and no legend"):
        question(cell)


def test_names_are_unique_and_begin_with_the_chapter():
    names = Counter(note(cell, "ask")["id"] for *_, cell in CELLS)
    assert names.most_common(1)[0][1] == 1
    for name, (_, path, _) in ASKS.items():
        chapter = re.sub(r"^0?(p?\d+[a-z]?)-.*", r"\1", path.stem).upper()
        assert name.rpartition(".")[0].upper() == chapter
        assert re.fullmatch(r"[\w.]+", name)


@pytest.mark.parametrize("name", ASKS)
def test_question_is_complete(name):
    ask, *_ = ASKS[name]
    keys = set(ask) - {"id", "kind", "overlooks"} - FREE
    assert keys == KEYS[ask["kind"]] - FREE, f"{name} has {keys}"
    assert set(ask) >= KEYS[ask["kind"]]
    assert all(ask.get("legend", "?")) and all(hints(ask).values())


@pytest.mark.parametrize("name", ASKS)
def test_each_wrong_answer_is_told_what_it_overlooks(name):
    ask, *_ = ASKS[name]
    match ask["kind"]:
        case "choice":
            assert len(ask["options"]) >= 3 and len(set(ask["options"])) == len(ask["options"])
            wrong = {str(at) for at in range(len(ask["options"]))} - {str(ask["right"])}
        case "number":
            assert ask["from"] <= ask["right"] <= ask["to"]
            room = {"below": ask["right"] - ask["from"], "above": ask["to"] - ask["right"]}
            wrong = {side for side, left in room.items() if left > ask["within"]}
        case "sketch":
            wrong = {"below", "above"}
        case "sentence":
            wrong = {"always"}
    assert set(hints(ask)) == wrong


@pytest.mark.parametrize("name", DRAWN)
def test_curve_is_what_is_computed(name):
    ask, *_ = ASKS[name]
    low, high = ask["y"]
    right = torch.tensor(ask["right"], dtype=torch.double)
    assert len(right) == len(ask["x"]) <= 9 and low <= right.min() and right.max() <= high
    # What is stored is rounded, and seen on a plot of some 200 px.
    torch.testing.assert_close(right, computed(name), rtol=0, atol=(high - low) / 200)
    flat = (low + high) / 2
    assert (right - flat).abs().max() > ask["within"], "a curve that nobody has drawn would be right"


@pytest.mark.parametrize("name", NUMBERS)
def test_number_is_what_the_chapter_says(name):
    ask, *_ = ASKS[name]
    if "by" in ask:
        torch.testing.assert_close(
            torch.tensor(float(ask["right"])).double(), computed(name), rtol=0.005, atol=ask["step"] / 2
        )
    else:
        assert re.search(rf"(?<![\d.]){ask['right']}(?![\d]|\.\d)", answer_in(name)), (
            f"{ask['right']} is not in {answer_in(name)}"
        )
