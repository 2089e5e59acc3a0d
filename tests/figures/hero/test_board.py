"""The figure "board" shows what the records of trained models hold, and nothing else."""

import re
from statistics import fmean

import pytest

from d2lpos.figures.board import numbers
from d2lpos.figures.hero import hero
from d2lpos.lab import records
from tests.figures.hero.drawn import fixed, printed, walked

LAYERS, PAIRS = range(30), range(32)
ALL = [(layer, pair) for layer in (*LAYERS, None) for pair in (*PAIRS, None)]

# What the figure tells of every cell, row, column and of the corner, and with nothing still in the end.
WALK = """() => {
  const root = document.querySelector('[data-hero]').shadowRoot, of = name => root.querySelector(`[aria-label=${name}]`);
  const texts = selector => [...root.querySelectorAll(selector)].map(e => e.textContent);
  const tell = () => [texts('.out b').slice(2), texts('.parts svg .end').slice(-4), texts('.said b')];
  const [layer, pair] = ['layer', 'pair'].map(of), all = {};
  for (let l = 0; l <= 30; l++) for (let p = 0; p <= 32; p++) {
    layer.value = 30 - l; pair.value = p; pair.dispatchEvent(new Event('input'));
    all[[l < 30 ? l : 'None', p < 32 ? p : 'None']] = tell();
  }
  root.querySelector('[type=checkbox]').click();
  return [all, tell()];
}"""


@pytest.fixture(scope="module")
def measured():
    """From layer and pair to the rise of the loss and the weights of the heads, means over passages; "base" is as trained."""
    read = records("real-board")
    bases = {r["run"]["seed"]: r["rows"][0] for r in read if r["run"]["part"] == "columns"}
    cells_of = {}
    for record in read:
        base = bases[record["run"]["seed"]]
        for row in record["rows"]:
            both = zip(row["previous"], base["previous"], strict=True)
            weights = [old if new is None else new for new, old in both]
            key = "base" if row["case"] == "as trained" else (row["layer"], row["pair"])
            rise = row["loss"] - (0 if key == "base" else base["loss"])
            cells_of.setdefault(key, []).append([rise, *weights])
    return {key: [fmean(column) for column in zip(*cells, strict=True)] for key, cells in cells_of.items()}


@pytest.fixture(scope="module")
def sentences():
    """From layer and pair to the words with which the sentence goes on."""
    rows = [row for record in records("real-sentence") for row in record["rows"]]
    by_cell = {(row["layer"], row["pair"]): row["goes on"] for row in rows if row["case"] != "as trained"}
    return by_cell | {"base": next(row["goes on"] for row in rows if row["case"] == "as trained")}


@pytest.fixture(scope="module")
def walk():
    return walked(hero("board"), WALK)


def test_every_number_of_the_records_is_there_and_was_read_in_the_same_text(measured):
    runs = [record["run"] for record in records("real-board")]
    assert {(run["text"], run["length"]) for run in runs} == {("persuasion", 512)}
    data = numbers()
    assert data["passages"] == len({run["seed"] for run in runs})
    assert measured.keys() == {"base", *ALL}
    cells = {"base": [0] * 5, (None, None): data["none"]}
    cells |= {(None, pair): data["columns"][pair] for pair in PAIRS}
    for layer in LAYERS:
        cells |= {(layer, None): data["rows"][layer]}
        cells |= {(layer, pair): data["cells"][layer][pair] for pair in PAIRS}
    for key, (rise, *weights) in measured.items():
        loss, *changes = cells[key]
        loss += data["base"][0] if key == "base" else 0
        assert loss / 10_000 == pytest.approx(rise, abs=0.51e-4), key
        shown = [(was + by) / 1000 for was, by in zip(data["base"][1:], changes, strict=True)]
        assert shown == pytest.approx(weights, abs=0.51e-3), key


def test_every_state_tells_its_numbers_and_words(measured, sentences, walk):
    walked, trained = walk
    assert walked.keys() == {f"{layer},{pair}" for layer, pair in ALL}
    base = measured["base"]
    for key in ALL:
        (loss, rise), weights, (before, now) = walked[",".join(map(str, key))]
        number = float(rise.replace("−", "-"))
        assert number == pytest.approx(measured[key][0], abs=0.56e-3), key
        assert rise.startswith("+") == (number > 0)
        assert float(loss) == pytest.approx(base[0] + measured[key][0], abs=0.51e-2), key
        for text, was, after in zip(weights, base[1:], measured[key][1:], strict=True):
            shown = [float(part) for part in text.split(" → ")]
            assert [shown[0], shown[-1]] == pytest.approx([was, after], abs=0.56e-2), key
        endings = [words.strip().replace("\n", "↵") for words in (sentences["base"], sentences[key])]
        assert [before, now] == endings, key
    assert trained[0] == [fixed(numbers()["base"][0] / 10_000, 2), "–"]


def test_the_words_on_the_whole_board_are_true(measured):
    cells = {(layer, pair): measured[layer, pair][0] for layer in LAYERS for pair in PAIRS}
    text = hero("board").description
    layer, pair = max(cells, key=cells.get)
    late = max(abs(rise) for (_, pair), rise in cells.items() if pair >= 13)
    columns = sorted(((measured[None, pair][0], pair) for pair in PAIRS), reverse=True)
    row, which = max((measured[layer, None][0], layer) for layer in LAYERS)
    for words, *rises in (
        (f"most for pair {pair} of layer {layer}, by #", cells[layer, pair]),
        ("Pairs 13 to 31, which get around less than once in 512 tokens, change it by at most #", late),
        (
            f"in all layers, pair {columns[0][1]} costs # and any other at most #",
            columns[0][0],
            columns[1][0],
        ),
        (f"all of layer {which} costs #, and all pairs of all layers #", row, measured[None, None][0]),
    ):
        match = re.search(words.replace("#", r"(\d\.\d{3})"), text)
        assert [float(number) for number in match.groups()] == pytest.approx(rises, abs=0.56e-3), words
    falls, rises = map(int, re.search(r"below 0\.005, (\d+) are falls and (\d+) rises", text).groups())
    small = [rise for rise in cells.values() if abs(rise) < 0.005]
    assert falls <= sum(rise < 0 for rise in small) and rises <= sum(rise > 0 for rise in small)
    assert falls + rises >= sum(abs(rise) > 0.5e-4 for rise in small)


def test_on_paper_it_stands_on_the_page_with_its_title():
    assert 500 < printed(hero("board"), "document.querySelector('[data-hero]').clientHeight") < 620
