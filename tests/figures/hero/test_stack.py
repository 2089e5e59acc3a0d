"""The figure "stack" shows what the records of trained stacks hold, and nothing else."""

from collections import defaultdict
from itertools import groupby, product
from statistics import fmean

import pytest

from d2lpos.figures.hero import SORTS, data, hero
from d2lpos.lab import STUDIES, TASKS, frame, records
from d2lpos.lab.models import LAYERS
from tests.figures.hero.drawn import printed, walked
from tests.figures.hero.test_hero_math import SIGHT, TRAINED

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
    numbers = data("stack")
    runs = [run for run in STUDIES["stacks-needle"].runs(range(1)) if run.stack == MIXED]
    assert (numbers["trained"], numbers["window"]) == (TRAINED, SIGHT) == (runs[0].length, runs[0].length // 2)
    assert numbers["lengths"] == list(runs[0].tested)
    assert numbers["guess"] == round(1000 / TASKS["needle"].outputs)
    shown = {
        (", ".join(f"{len([*run])} {kind}" for kind, run in groupby(one["layers"])), how == "sharper", length): seeds
        for one, how in product(numbers["stacks"], ("as trained", "sharper"))
        for length, seeds in zip(numbers["lengths"], one["found"][how], strict=True)
    }
    assert shown.keys() == measured.keys()
    for key, seeds in shown.items():
        assert [share / 1000 for share in seeds] == pytest.approx(measured[key], abs=0.51e-3), key


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


def test_kinds_have_the_names_that_they_have_in_the_lab():
    assert {*LAYERS} - {*SORTS} == {"gate", "logit"} and {*SORTS} < {*LAYERS}  # these two see the whole text


def test_on_paper_the_ruler_stands_below_the_bars():
    parts = "...document.querySelector('[data-hero]').shadowRoot.querySelectorAll('.paper,[aria-label^=Share]')"
    ends = f"[{parts}].map(e => e.getBoundingClientRect()).map(e => [e.left, e.right])"
    *bars, plot = printed(hero("stack"), ends)
    assert len(bars) == 5 and {tuple(map(round, bar)) for bar in bars} == {tuple(map(round, bars[0]))}
    assert plot[0] > 662 / 3 and plot[0] < bars[0][0] < bars[0][1] < plot[1]
