from itertools import product

import pytest
import torch
from torch.testing import assert_close

from d2lpos.swin import Swin, step

CELLS = torch.arange(6)


def test_reference_numbers():
    """A window of 2 × 2: the middle row, 4, is for a cell and itself."""
    rows = [4, 3, 1, 0], [5, 4, 2, 1], [7, 6, 4, 3], [8, 7, 5, 4]
    assert step(CELLS[:4], CELLS[:4], 2, 2).tolist() == list(rows)


@pytest.mark.parametrize(("height", "width"), [(1, 6), (6, 1), (2, 3), (3, 2)])
def test_each_step_has_its_own_row(height, width):
    rows = step(CELLS, CELLS, height, width)
    cells = list(product(range(height), range(width)))
    steps = {}
    for (i, (y, x)), (j, (v, u)) in product(enumerate(cells), repeat=2):
        steps.setdefault((y - v, x - u), set()).add(rows[i, j].item())
    assert all(len(found) == 1 for found in steps.values())
    in_order = [steps[key].pop() for key in sorted(steps)]
    assert in_order == list(range((2 * height - 1) * (2 * width - 1)))


def test_score_is_the_table_at_the_step():
    encoding = Swin(3, 2, 3)
    torch.nn.init.normal_(encoding.table)
    here, there = torch.tensor([[5, 0], [3, 3]]), torch.tensor([0, 4, 2])
    q, k = torch.zeros(2, 3, 2, 4), torch.zeros(2, 3, 3, 4)
    score, rows = encoding.score(q, k, here, there), step(here, there, 2, 3)
    assert score.shape == (2, 3, 2, 3)
    for b, i, j in product(range(2), range(2), range(3)):
        assert torch.equal(score[b, :, i, j], encoding.table[rows[b, i, j]])


def test_a_shift_inside_the_window_changes_nothing():
    encoding = Swin(2, 4, 5)
    torch.nn.init.normal_(encoding.table)
    q, corner = torch.zeros(1, 2, 4, 4), torch.tensor([0, 1, 5, 6])
    want = encoding.score(q, q, corner, corner)
    for down, right in product(range(3), range(4)):
        moved = corner + 5 * down + right
        assert_close(encoding.score(q, q, moved, moved), want)


def test_starts_without_a_preference():
    q = torch.zeros(1, 2, 6, 4)
    assert not Swin(2, 2, 3).score(q, q, CELLS, CELLS).any()
