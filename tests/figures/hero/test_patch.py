"""The figure "patch": its fits are the best ones, and it draws and tells the weights that attention gives."""

from itertools import product

import pytest
import torch

from d2lpos.figures import patch
from d2lpos.figures.hero import TARGETS, VIEWS, data, hero
from d2lpos.figures.patch import aimed, fit, fits, left, omega, problem, table, waves
from d2lpos.positions.grid import cells, coordinates
from d2lpos.rotary import Mixed, RoPE
from d2lpos.transformer import attention_weights
from tests.figures.hero.drawn import walked

NUMBERS = data("patch")

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


def head(kind):
    """One head of the package: RoPE on two axes, or Mixed whose pairs turn in the four directions of the figure."""
    if kind == "axial":
        return RoPE(2 * patch.PAIRS, base=patch.BASE, layout="interleaved", axes=2)
    mixed = Mixed(2 * patch.PAIRS, heads=1, base=patch.BASE).double()
    mixed.omega.data = omega("mixed")[:, None]
    return mixed


def places(view):
    """Row and column of each patch, in steps of the grid that was fitted; and how many stand in a row of the picture."""
    n = patch.FITTED if view == "8 × 8" else 2 * patch.FITTED
    return (patch.FITTED / 2 * coordinates(n, n) if view == "to scale" else cells(n, n)).double(), n


@torch.no_grad()
def weights(kind, target, view, query):
    """What attention gives each patch where all have one query and one key."""
    at, n = places(view)
    a, b = torch.tensor(NUMBERS[target][kind], dtype=torch.float64)
    keys = torch.stack([a, -b], dim=-1).flatten().expand(1, 1, n * n, -1)
    same = torch.tensor([1.0, 0], dtype=torch.float64).repeat(patch.PAIRS).mul((2 * patch.PAIRS) ** 0.5).expand(1, 1, 1, -1)
    return attention_weights(same, keys, at[query : query + 1], at, head(kind)).flatten()


def test_the_file_holds_what_is_fitted_now(made):
    assert made.keys() == NUMBERS.keys() == set(TARGETS)
    for target, of in NUMBERS.items():
        assert of["left"] == pytest.approx(made[target]["left"], abs=1.1e-3)
        for kind in patch.HEADINGS:
            ours, stored = (torch.tensor(one[kind]) for one in (made[target], of))
            torch.testing.assert_close(ours, stored, rtol=0, atol=2.1e-3)


@pytest.mark.parametrize(("target", "kind"), [("diagonal", "axial"), ("ring", "mixed"), ("right", "axial")])
def test_no_other_amplitudes_do_better(target, kind):
    offsets, wanted = problem(target)
    features = waves(kind, offsets)

    def loss(a):
        return patch.SMALL * a.square().sum() - (wanted * (features @ a).log_softmax(1)).sum(1).mean()

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


def spoken(share):
    """A share as one reads it: it is never all, and never nothing."""
    return "< 1 %" if share < 0.005 else "> 99 %" if share > 0.995 else f"{100 * share + 1e-9:.0f} %"


def test_every_target_is_told_and_drawn_as_python_has_it_in_every_grid(walk):
    for (i, target), (j, view) in product(enumerate(TARGETS), enumerate(VIEWS)):
        (where, *texts), words, drawn = walk[f"{i} {j}"]
        at, n = places(view)
        query = (n + 1) * 3 * n // patch.FITTED
        hits = aimed(target, at - at[query])
        assert where == f"row {query // n}, column {query % n}"
        shares = [weights(kind, target, view, query) for kind in patch.HEADINGS]
        peak = torch.stack(shares).max()
        tops = torch.stack([share.view(n, n).sum(axis) for share in shares for axis in (0, 1)]).max()
        for share, percent, (opacities, bars, aims) in zip(shares, texts, drawn, strict=True):
            assert percent == spoken(share[hits].sum().item())
            torch.testing.assert_close(torch.tensor(opacities).double(), share / peak, rtol=0, atol=6e-4)
            rows, columns = share.view(n, n).sum(1), share.view(n, n).sum(0)
            lengths = torch.tensor(bars).double() / 16
            torch.testing.assert_close(lengths, torch.cat([rows, columns]) / tops, rtol=0, atol=1e-3)
            assert aims == hits.nonzero().flatten().tolist()
        words, gone = words.replace("\xa0", " "), [spoken(NUMBERS[target]["left"][kind]) for kind in patch.HEADINGS]
        assert f"An even share would be {spoken(hits.double().mean().item())}." in words
        assert f"axial leaves {gone[0]} of the target’s variance, mixed {gone[1]}" in words
        assert ("were never fitted" in words) == (view != "8 × 8")
        assert ("a free choice" in words) == (target in ("diagonal", "ring"))
