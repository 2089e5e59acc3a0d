"""The figure "patch": its fits are the best ones, and its words and its caption tell what they draw."""

from itertools import product

import pytest
import torch

from d2lpos.figures.hero import TARGETS, VIEWS, hero
from d2lpos.figures.patch import (
    FITTED,
    HEADINGS,
    NAMES,
    SMALL,
    aimed,
    describe_state,
    fit,
    fits,
    left,
    number,
    numbers,
    parts,
    places,
    problem,
    side,
    table,
    waves,
    weights,
)
from tests.figures.hero.drawn import walked

ALL = range(FITTED)

# What the figure tells of each target in each grid, and what it draws: [readout, words, opacities, bars, outlines].
WALK = """async () => {
  const root = document.querySelector('[data-hero]').shadowRoot, all = {};
  const inputs = name => [...root.querySelectorAll(`[name=${name}]`)],
    every = (e, s) => [...e.querySelectorAll(s)];
  for (const [i, aim] of inputs('aim').entries()) for (const [j, view] of inputs('view').entries()) {
    aim.click(); view.click();
    for (const [name, step] of [['column', 'ArrowLeft'], ['row', 'ArrowUp']]) // to row 3 and column 3 of 8
      for (let k = 0; k < 16; k++) {
        const hand = root.querySelector(`[aria-label="${name} of the query"]`), key = new KeyboardEvent('keydown', { key: step });
        if (+hand.value > (j ? 6 : 3)) hand.dispatchEvent(key);
      }
    for (let k = 0; k < 3; k++) await new Promise(requestAnimationFrame);
    all[`${i} ${j}`] = [every(root, '.out b').map(e => e.textContent), root.querySelector('.said').textContent,
      every(root, '.pair svg').map(svg => [every(svg, '.cell').map(e => +e.getAttribute('fill-opacity')),
        every(svg, '.bar').map((e, k, bars) => +e.getAttribute(2 * k < bars.length ? 'width' : 'height')),
        every(svg, '.aim').map(aim => every(svg, '.cell').findIndex(cell => {
          const [a, b] = [aim, cell].map(e => e.getBoundingClientRect());
          return b.left < a.left && a.right < b.right && b.top < a.top && a.bottom < b.bottom;
        }))])];
  }
  return all;
}"""


@pytest.fixture(scope="module")
def made():
    return fits()


@pytest.fixture(scope="module")
def walk():
    return walked(hero("patch"), WALK, reduced_motion="reduce")


def on_target(kind, target, view, row, column):
    query, at = number(view, row, column), places(view)
    hits = aimed(target, at - at[query])
    return weights(kind, target, view, query)[hits].sum().item() if hits.any() else None


def mean(kind, target):
    """Over all queries that see the target, where the fit was made."""
    shares = [on_target(kind, target, "8 × 8", row, column) for row, column in product(ALL, ALL)]
    shares = [share for share in shares if share is not None]
    return sum(shares) / len(shares)


def test_the_file_holds_what_is_fitted_now(made):
    assert made.keys() == numbers().keys() == NAMES.keys() == set(TARGETS)
    for target, of in numbers().items():
        assert of["left"] == pytest.approx(made[target]["left"], abs=1.1e-3)
        for kind in HEADINGS:
            ours, stored = (torch.tensor(one[kind]) for one in (made[target], of))
            torch.testing.assert_close(ours, stored, rtol=0, atol=2.1e-3)


@pytest.mark.parametrize(("target", "kind"), [("diagonal", "axial"), ("ring", "mixed"), ("right", "axial")])
def test_no_other_amplitudes_do_better(target, kind):
    offsets, wanted = problem(target)
    features = waves(kind, offsets)

    def loss(a):
        return SMALL * a.square().sum() - (wanted * (features @ a).log_softmax(1)).sum(1).mean()

    fitted = fit(features, wanted).requires_grad_()
    [slope] = torch.autograd.grad(loss(fitted), fitted)
    assert slope.abs().max() < 1e-8  # and the loss is convex
    for seed in range(3):
        step = torch.randn(len(fitted), generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
        assert loss(fitted + 0.1 * step) > loss(fitted)


def test_even_weights_leave_all_and_the_target_itself_leaves_nothing():
    offsets, wanted = problem("diagonal")
    assert left(table(offsets), torch.zeros(30, dtype=torch.float64), wanted) == pytest.approx(1)
    hits = -1e3 * (1 - aimed("diagonal", offsets).double())
    assert left(hits[..., None], torch.ones(1, dtype=torch.float64), wanted) == pytest.approx(0)


def test_the_table_holds_every_sum_of_a_function_of_rows_and_one_of_columns():
    offsets, _ = problem("ring")
    down, right = offsets.unbind(-1)
    both = torch.arange(1 - FITTED, FITTED).double()
    weights = torch.cat([both.square(), both.sin()])
    torch.testing.assert_close(table(offsets) @ weights, down.square() + right.sin())


def test_the_query_is_at_the_same_place_in_every_grid():
    for row, column in product(ALL, ALL):
        corners = [divmod(number(view, row, column), side(view)) for view in VIEWS]
        assert corners == [(row, column), *[(2 * row, 2 * column)] * 2]


@pytest.mark.parametrize("view", VIEWS)
def test_the_words_without_scripts_are_true(view):
    n = side(view)
    for target, row, column in product(TARGETS, (0, 3), (3, 7)):
        text = describe_state(target, view, row, column)
        assert text.startswith(f"A picture of {n} × {n} patches")
        assert ("counted" in text, "to scale" in text) == (view == "counted", view == "to scale")
        assert f"fitted on 8 × 8 patches to look at {NAMES[target]}." in text
        shares = [on_target(kind, target, view, row, column) for kind in HEADINGS]
        where = f"the patch in row {row * n // 8}, column {column * n // 8}"
        if shares[0] is None:
            assert f"From {where} it is out of the picture." in text
        else:
            assert f"Of the attention of {where}, {parts(shares[0])} goes there where each" in text
            assert f"column, {parts(shares[1])} where pairs turn by both; an even share is " in text
        gone = [parts(numbers()[target]["left"][kind]) for kind in HEADINGS]
        assert text.endswith(f"the first leave {gone[0]}, the second {gone[1]}.")
    assert "out of the picture" in describe_state("right", "8 × 8", 3, 7)


def spoken(share):
    return parts(share).replace("over", ">").replace("under", "<")


def test_every_target_is_told_and_drawn_as_python_has_it_in_every_grid(walk):
    for (i, target), (j, view) in product(enumerate(TARGETS), enumerate(VIEWS)):
        (where, *texts), words, drawn = walk[f"{i} {j}"]
        n, query = side(view), number(view, 3, 3)
        hits = aimed(target, places(view) - places(view)[query])
        assert where == f"row {query // n}, column {query % n}"
        shares = [weights(kind, target, view, query) for kind in HEADINGS]
        peak = torch.stack(shares).max()
        tops = torch.stack([share.view(n, n).sum(axis) for share in shares for axis in (0, 1)]).max()
        for share, percent, (cells, bars, aims) in zip(shares, texts, drawn, strict=True):
            assert percent == spoken(share[hits].sum())
            torch.testing.assert_close(torch.tensor(cells).double(), share / peak, rtol=0, atol=6e-4)
            rows, columns = share.view(n, n).sum(1), share.view(n, n).sum(0)
            lengths = torch.tensor(bars).double() / 16
            torch.testing.assert_close(lengths, torch.cat([rows, columns]) / tops, rtol=0, atol=1e-3)
            assert aims == hits.nonzero().flatten().tolist()
        words, gone = words.replace("\xa0", " "), [spoken(numbers()[target]["left"][kind]) for kind in HEADINGS]
        assert f"An even share would be {spoken(hits.double().mean())}." in words
        assert f"axial leaves {gone[0]} of the target’s variance, mixed {gone[1]}" in words
        assert ("were never fitted" in words) == (view != "8 × 8")
        assert ("a free choice" in words) == (target in ("diagonal", "ring"))
