import math

import pytest
import torch
from torch.testing import assert_close

from d2lpos import ShawKeys
from d2lpos.content.cope import CoPE
from d2lpos.transformer.masks import segment_mask

B, H, N, D, ROWS = 2, 3, 7, 4, 4
HERE = torch.arange(N)
PAST = HERE <= HERE[:, None]


@pytest.fixture
def cope():
    encoding = CoPE(D, ROWS).double()
    torch.nn.init.normal_(encoding.table)
    return encoding


def qk():
    return torch.randn(2, B, H, N, D, dtype=torch.float64).unbind()


def test_formula(cope):
    """The paper's listing, pair by pair: gates from the key to the query, and the table between two rows."""
    q, k = qk()
    got = cope.score(q, k, HERE, HERE)
    for b, h, i, j in torch.cartesian_prod(*map(torch.arange, (B, H, N, N))).tolist():
        gates = [1 / (1 + math.exp(-(q[b, h, i] @ k[b, h, t]).item() / D**0.5)) for t in range(j, i + 1)]
        p = min(sum(gates), ROWS - 1)
        low = math.floor(p)
        row = (1 - p + low) * cope.table[low] + (p - low) * cope.table[min(low + 1, ROWS - 1)]
        assert got[b, h, i, j].item() == pytest.approx((q[b, h, i] @ row).item())


def test_where_all_gates_are_one_it_counts_tokens_as_a_table_of_offsets(cope):
    q = torch.rand(B, H, N, D, dtype=torch.float64) + 0.5
    k = torch.full_like(q, 1e3)
    table = ShawKeys(D, clip=ROWS - 2).double()
    with torch.no_grad():  # Shaw's row 0 is for the farthest; of keys ahead only the mask speaks
        table.keys[: ROWS - 1] = cope.table[1:].flip(0) * D**0.5
    assert_close(cope.score(q, k, HERE, HERE).where(PAST, 0), table.score(q, k, HERE, HERE).where(PAST, 0))


def test_what_is_hidden_is_not_counted(cope):
    q, k = qk()
    segments = torch.tensor([0, 1, 0, 0, 1, 0, 0])
    mine = segments == 0
    got = cope.score(q, k, HERE, HERE, visible=segment_mask(segments, segments))
    alone = cope.score(q[:, :, mine], k[:, :, mine], HERE[mine], HERE[mine])
    assert_close(got[:, :, mine][..., mine], alone)


def test_it_begins_as_nothing():
    q, k = qk()
    assert not CoPE(D, ROWS).double().score(q, k, HERE, HERE).any()


def test_half_precision_counts_wide():
    encoding, q = CoPE(D, 600).bfloat16(), torch.full((1, 1, 1, D), 4.0).bfloat16()
    with torch.no_grad():
        encoding.table.copy_(torch.arange(600)[:, None].expand(-1, D) % 2)
    got = encoding.score(q, q.expand(-1, -1, 500, -1), torch.tensor([499]), torch.arange(500))
    assert got.dtype == torch.float32
    exact = 1 / (1 + math.exp(-4 * 4 * D / D**0.5))
    wants = [16 * (1 - abs(n * exact % 2 - 1)) for n in range(500, 0, -1)]
    assert_close(got[0, 0, 0].double(), torch.tensor(wants).double(), atol=2e-2, rtol=0)
