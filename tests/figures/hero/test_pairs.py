"""The figure "pairs" shows what the records of a trained model hold, and nothing else."""

import re
from statistics import fmean

import pytest

from d2lpos.figures.hero import data, hero
from d2lpos.lab import records
from tests.figures.hero.drawn import fixed, walked

PAIRS = range(32)

# What the figure tells of each pair, and with none still in the end.
WALK = """() => {
  const root = document.querySelector('[data-hero]').shadowRoot, slider = root.querySelector('input'), of = selector => root.querySelector(selector).textContent;
  return [...Array(33).keys()].map(pair => {
    slider.value = pair; slider.dispatchEvent(new Event('input'));
    return [of('text.mid.b'), of('.text b'), of('.says')];
  });
}"""


@pytest.fixture(scope="module")
def measured():
    """From a pair that stands still in all layers to the rises of the loss, a passage each; "base" is the loss as trained."""
    losses = {"base": []}
    for record in records("real-board"):
        if record["run"]["part"] == "columns":
            base, *rows = record["rows"]
            losses["base"].append(base["loss"])
            for row in rows:
                if row["layer"] is None and row["pair"] is not None:
                    losses.setdefault(row["pair"], []).append(row["loss"] - base["loss"])
    return losses


@pytest.fixture(scope="module")
def sentences():
    """From a pair to the words with which the sentence goes on; "base" is as trained."""
    rows = [row for record in records("real-sentence") for row in record["rows"]]
    words = {row["pair"]: row["goes on"] for row in rows if row["layer"] is None and row["pair"] is not None}
    return words | {"base": next(row["goes on"] for row in rows if row["case"] == "as trained")}


def test_every_number_is_that_of_the_records_which_read_the_same_text(measured):
    runs = [record["run"] for record in records("real-board")]
    assert {(run["text"], run["length"]) for run in runs} == {("persuasion", 512)}
    assert measured.keys() == {"base", *PAIRS} and {len(each) for each in measured.values()} == {2}
    shown = data("pairs")
    assert shown["loss"] == pytest.approx(fmean(measured["base"]), abs=0.51e-4)
    assert shown["rises"] == pytest.approx([fmean(measured[pair]) for pair in PAIRS], abs=0.51e-4)


def test_every_state_tells_its_numbers_and_words(measured, sentences):
    *walk, trained = walked(hero("pairs"), WALK)
    loss = fmean(measured["base"])
    assert trained[0] == "" and f"the loss is {fixed(data('pairs')['loss'], 2)} nats" in trained[2]
    for pair, (label, words, says) in zip(PAIRS, walk, strict=True):
        rise = fmean(measured[pair])
        assert float(label.replace("−", "-")) == pytest.approx(rise, abs=0.56e-3), pair
        assert label.startswith("+") == (float(label.replace("−", "-")) > 0)
        assert words == sentences[pair].strip().replace("\n\n", " ¶ "), pair
        verb, *numbers = re.search(r"the loss (\w+) (?:from|at) ([\d.]+)(?: to ([\d.]+))? nats", says).groups()
        assert verb == ("stays" if abs(rise) < 0.005 else "rises" if rise > 0 else "falls"), pair
        told = [float(number) for number in numbers if number]
        assert told == pytest.approx([loss, loss + rise][: len(told)], abs=0.56e-2), pair


def test_the_words_on_all_pairs_are_true(measured, sentences):
    rises = {pair: fmean(measured[pair]) for pair in PAIRS}
    most, next_most = sorted(rises, key=rises.get, reverse=True)[:2]
    text = hero("pairs").description
    words = rf"a loss of ([\d.]+) nats.*mean over 2 passages.* rises by ([\d.]+) for pair {most}, the fastest, and by at most ([\d.]+)"
    told = [float(number) for number in re.search(words, text).groups()]
    assert told == [round(fmean(measured["base"]), 2), round(rises[most], 3), round(rises[next_most], 3)] and most == 0
    goes = [sentences[key].strip().replace("\n\n", " ¶ ") for key in ("base", 0)]
    assert f"“{data('pairs')['begins']}” the model writes “{goes[0]}”, and with pair 0 still it writes “{goes[1]}”" in text
