"""The figure "grid" shows what the records hold, and nothing else."""

import re
from itertools import groupby

import pytest

from d2lpos.figures.grid import numbers
from d2lpos.figures.hero import STUDIES, hero
from d2lpos.lab import frame, records, summary
from d2lpos.lab.plot import named
from tests.figures.hero.drawn import walked

# The tables of all studies, measures, splits and lengths, as a reader meets them one after the other.
TABLES = """() => {
  const all = {}, root = document.querySelector('[data-hero]').shadowRoot;
  const [study, measure] = root.querySelectorAll('select'), hand = root.querySelector('[aria-label=length]');
  const other = root.querySelector('[type=checkbox]');
  const choose = (e, value) => { e.value = value; e.dispatchEvent(new Event('change')); };
  const [studies, measures] = [study, measure].map(e => () => [...e.options].map(o => o.value));
  for (const name of studies()) {
    choose(study, name);
    for (const value of measures()) {
      choose(measure, value);
      for (const unseen of other.parentNode.style.display ? [false] : [false, true]) {
        other.checked = unseen; other.dispatchEvent(new Event('change'));
        for (let at = 0; at <= hand.max; at++) {
          hand.value = at; hand.dispatchEvent(new Event('input'));
          const rows = [...root.querySelectorAll('tr')].slice(1).map(r => [...r.children].map(c => c.textContent));
          const length = hand.getAttribute('aria-valuetext').split(' ')[0];
          all[[name, value, unseen ? 'unseen' : 'test', length]] = rows;
        }
      }
    }
  }
  return all;
}"""


@pytest.fixture(scope="module")
def frames():
    return {study: named(frame(records(study))) for study in STUDIES}


@pytest.fixture(scope="module")
def expected(frames):
    """From study, value, split and length to rows of name, mean, low, high and n, all written out."""
    by_view = {}
    for study, rows in frames.items():
        for value in numbers(study)["values"]:
            for row in summary(rows, ["name", "split", "length"], value).itertuples():
                cell = [f"{number:.3f}" for number in (row.mean, row.low, row.high)]
                cell = [re.sub(r"^-(0\.0+)$", r"\1", number).replace("-", "−") for number in cell]
                by_view.setdefault(f"{study},{value},{row.split},{row.length}", {})[row.name] = [*cell, row.n]
    return by_view


def test_the_tables_hold_every_mean_interval_and_number_of_seeds(expected):
    tables = walked(hero("grid"), TABLES)
    assert tables.keys() == expected.keys()
    for view, rows in tables.items():
        shown = {name: [mean, *between.split(" to "), int(n)] for name, mean, between, n in rows if n != "0"}
        assert shown == expected[view], view


@pytest.mark.parametrize("study", STUDIES)
def test_every_seed_is_a_dot(frames, study):
    data, groups = numbers(study), frames[study].sort_values("seed").groupby(["split", "name", "length"])
    shown = {
        (value, split, name, length): [dot / 1000 for dot in cell[3:]]
        for split, values in data["cells"].items()
        for value, rows in values.items()
        for (name, _), cells in zip(data["rows"], rows, strict=True)
        for length, cell in zip(data["lengths"], cells, strict=True)
        if cell
    }
    assert shown == {
        (value, *at): seeds[value].round(3).tolist() for value in data["values"] for at, seeds in groups
    }


@pytest.mark.parametrize("study", STUDIES)
def test_every_row_is_there_once_and_door_by_door(study):
    names, families = zip(*numbers(study)["rows"], strict=True)
    assert len(set(names)) == len(names)
    assert len(list(groupby(families))) == len(set(families))


def test_without_scripts_the_table_is_below_the_words():
    still = hero("grid", study="needle", length=128).html.split("<script")[0]
    assert re.search(r"<th>KERPLE</th>\s*<td>1\.000 ± 0\.001</td>", still) and "at 128" in still
