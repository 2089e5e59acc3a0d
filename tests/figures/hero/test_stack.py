"""The figure "stack" shows what the records of trained stacks hold, and nothing else."""

from collections import defaultdict
from itertools import product
from statistics import fmean

import pytest

from d2lpos.figures.board import fixed
from d2lpos.figures.hero import SORTS, hero
from d2lpos.figures.stack import LEAD, TRAINED, WINDOW, beside, describe_state, name, numbers, recorded
from d2lpos.lab import STUDIES, TASKS, frame, records
from d2lpos.lab.models import LAYERS
from tests.figures.hero.drawn import printed, walked

MIXED = ("window", "window", "window", "none")

# What the figure tells of every stack on record, read either way, at every recorded length, and where its dots are.
WALK = """() => {
  const root = document.querySelector('[data-hero]').shadowRoot, of = name => root.querySelector(`[aria-label="${name}"]`);
  const sets = [...of('stacks on record').querySelectorAll('label')], slider = of('length of the text'), all = {};
  const plot = [...root.querySelectorAll('svg')].at(-1), at = text => [...plot.querySelectorAll('text')].find(e => e.textContent === text);
  const [low, high] = ['0', '100 %'].map(t => +at(t).getAttribute('y'));
  for (const sharper of [false, true]) {
    root.querySelector('[type=checkbox]').checked !== sharper && root.querySelector('[type=checkbox]').click();
    for (const label of sets) {
      label.firstChild.click();
      for (const length of [32, 64, 128, 256]) {
        slider.value = length; slider.dispatchEvent(new Event('input'));
        const dots = [...root.querySelectorAll('.dot.now')].filter(e => e.style.display !== 'none').map(e => (low - 5 - e.getAttribute('cy')) / (low - high));
        all[[label.textContent, sharper, length]] = [[...root.querySelectorAll('.out b')].map(e => e.textContent), dots, root.querySelector('.said').textContent.replaceAll('\\xa0', ' ')];
      }
    }
  }
  return all;
}"""


@pytest.fixture(scope="module")
def measured():
    """From the name of a stack, whether it is read with sharper logits, and the length to the accuracy of each seed."""
    every = defaultdict(list)
    table = frame(records("stacks-needle")).sort_values("seed")
    assert set(table["trained"]) == {TRAINED}
    for row in table.itertuples():
        stack = "4 none" if row.encoding == "none" else row.stack or "4 full"
        every[stack, row.reading == "sharper", row.length].append(row.accuracy)
    return every


@pytest.fixture(scope="module")
def walk():
    return walked(hero("stack"), WALK)


def test_the_numbers_are_those_of_the_records(measured):
    data = numbers()
    runs = [run for run in STUDIES["stacks-needle"].runs(range(1)) if run.stack == MIXED]
    assert (data["trained"], data["window"]) == (TRAINED, WINDOW) == (runs[0].length, runs[0].length // 2)
    assert data["lengths"] == list(runs[0].tested)
    assert data["guess"] == round(1000 / TASKS["needle"].outputs)
    shown = {
        (name(one["layers"]), sharper, length): seeds
        for one, sharper in product(data["stacks"], (False, True))
        for length, seeds in zip(data["lengths"], recorded(one["layers"], sharper), strict=True)
    }
    assert shown.keys() == measured.keys()
    for key, seeds in shown.items():
        assert seeds == pytest.approx(measured[key], abs=0.51e-3), key


def test_every_stack_on_record_tells_its_mean_its_range_and_its_seeds(measured, walk):
    assert walk.keys() == {f"{stack},{str(sharper).lower()},{n}" for stack, sharper, n in measured}
    for (stack, sharper, length), seeds in measured.items():
        (shown, _, share, spread), dots, words = walk[f"{stack},{str(sharper).lower()},{length}"]
        assert shown == str(length)
        mean, _, at = share.partition(" at ")
        assert at == str(length)
        lower, upper = (99.45, 100.0) if mean == "> 99 %" else [float(mean[:-2]) + by for by in (-0.56, 0.56)]
        assert lower <= 100 * fmean(seeds) <= upper
        ends = [float(end) for end in spread.removesuffix(" %").split(" … ")]
        assert [ends[0], ends[-1]] == pytest.approx([100 * min(seeds), 100 * max(seeds)], abs=0.56)
        assert dots == pytest.approx(seeds, abs=0.01)
        assert f"found {mean} of needles that stand anywhere in {length} tokens" in words


def test_the_words_without_scripts_are_true(measured):
    for stack in (*(one["layers"] for one in numbers()["stacks"]), ["none", "full", "window", "none"]):
        for sharper, length in product((False, True), (32, 90, 256)):
            text = describe_state(stack, sharper, length, True)
            assert f"{', '.join(stack)}, reads a text of {length} tokens" in text
            assert f"leads all other scores by {LEAD} nats" in text
            assert ("sharper" in text) == sharper
            assert ("theory does not say" in text) == ("full" in stack and length > TRAINED)
            assert ("cannot see it" in text) == ("window" in stack)
            at = numbers()["lengths"][beside(length)]
            seeds = measured.get((name(stack), sharper, at))
            if seeds is None:
                assert text.endswith("No such stack was trained.")
                continue
            assert f"in {at} tokens, {len(seeds)} trained model" in text
            mean = fmean(round(share, 3) for share in seeds)
            assert f" found {'over 99' if 0.995 < mean < 1 else fixed(100 * mean, 0)} %" in text
    texts = [describe_state(MIXED, sharper, 256, True) for sharper in (False, True)]
    assert "Then layer 4 could give it 81 % of its weight" in texts[0]
    assert "layer 4 could give it over 99 % of its weight" in texts[1]
    assert "layers 1, 2 and 3 cannot see it" in texts[0]
    assert "Windows pass things on, in all over 60 tokens" in describe_state(["window"] * 4, False, 256, True)
    assert "pass things on" not in describe_state(["window", "full", "full", "full"], False, 256, True)


def test_kinds_have_the_names_that_they_have_in_the_lab():
    assert {*LAYERS} - {*SORTS} == {"gate", "logit"} and {*SORTS} < {*LAYERS}  # these two see the whole text


def test_on_paper_the_ruler_stands_below_the_bars():
    parts = "...document.querySelector('[data-hero]').shadowRoot.querySelectorAll('.paper,[aria-label^=Share]')"
    ends = f"[{parts}].map(e => e.getBoundingClientRect()).map(e => [e.left, e.right])"
    *bars, plot = printed(hero("stack"), ends)
    assert len(bars) == 5 and {tuple(map(round, bar)) for bar in bars} == {tuple(map(round, bars[0]))}
    assert plot[0] > 662 / 3 and plot[0] < bars[0][0] < bars[0][1] < plot[1]
