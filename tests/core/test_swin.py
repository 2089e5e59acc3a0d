from itertools import product

import pytest
import torch

from d2lpos.bias.swin import Swin, relative_position_index


def window(height, width):
    """The cells of a window, line by line."""
    return torch.cartesian_prod(torch.arange(height), torch.arange(width))


@pytest.mark.parametrize(("height", "width"), [(1, 6), (6, 1), (2, 3), (3, 2)])
def test_each_step_has_its_own_row(height, width):
    cells = window(height, width)
    rows, steps = relative_position_index(cells, cells, height, width), {}
    for (i, (y, x)), (j, (v, u)) in product(enumerate(cells.tolist()), repeat=2):
        steps.setdefault((y - v, x - u), set()).add(rows[i, j].item())
    assert all(len(indices) == 1 for indices in steps.values())
    in_order = [steps[key].pop() for key in sorted(steps)]
    assert in_order == list(range((2 * height - 1) * (2 * width - 1)))


def test_score_is_the_table_at_the_step():
    encoding = Swin(3, 2, 3)
    torch.nn.init.normal_(encoding.table)
    here, there = window(2, 3)[torch.tensor([[5, 0], [3, 3]])], window(2, 3)[[0, 4, 2]]
    q, k = torch.zeros(2, 3, 2, 4), torch.zeros(2, 3, 3, 4)
    score, rows = encoding.score(q, k, here, there), relative_position_index(here, there, 2, 3)
    assert score.shape == (2, 3, 2, 3)
    for b, i, j in product(range(2), range(2), range(3)):
        assert torch.equal(score[b, :, i, j], encoding.table[rows[b, i, j]])
