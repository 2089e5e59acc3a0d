import pytest
import torch
from torch.nn.functional import normalize
from torch.testing import assert_close

from d2lpos import RoPE
from d2lpos.content.path import PaTH
from d2lpos.transformer.masks import segment_mask

B, H, N, D = 2, 3, 7, 4
HERE = torch.arange(N)
PAST = HERE <= HERE[:, None]


@pytest.fixture
def path():
    return PaTH(H * D, H).double()


def qk(size=(B, H, N, D)):
    return torch.randn(2, *size, dtype=torch.float64).unbind()


def read(w, beta):
    return torch.cat([w, beta[..., None]], dim=-1)


def test_formula(path):
    """k_j · H_(j+1) ⋯ H_i q_i with matrices, as the paper has it."""
    (q, k), x = qk(), torch.randn(B, N, H * D, dtype=torch.float64)
    got = path.score(q, k, HERE, HERE, path.hidden_features(x))
    for b, h, i, j in torch.cartesian_prod(*map(torch.arange, (B, H, N, N))).tolist():
        product = torch.eye(D, dtype=torch.float64)
        for t in range(j + 1, i + 1):
            w = normalize(path.direction.weight[h * D : (h + 1) * D] @ x[b, t], dim=0)
            beta = 2 * torch.sigmoid(path.strength.weight[h] @ x[b, t] + path.strength.bias[h])
            product = product @ (torch.eye(D, dtype=torch.float64) - beta * torch.outer(w, w))
        change = k[b, h, j] @ (product @ q[b, h, i]) - k[b, h, j] @ q[b, h, i]
        assert_close(got[b, h, i, j], change / D**0.5)


def test_two_reflections_are_a_turn_and_rope_is_inside():
    """Between two words stands one that reflects; with the next word's own reflection, that is a turn by one radian."""
    (q, k), at = qk((1, 1, 2 * N, 2)), torch.arange(2 * N)
    half = torch.tensor(0.5, dtype=torch.float64)
    mirrors = torch.stack([torch.tensor([1.0, 0]).double(), torch.stack([half.cos(), half.sin()])])
    numbers = read(mirrors.repeat(N, 1)[None, None], torch.full((1, 1, 2 * N), 2.0).double())
    path = PaTH(2, 1).double()
    logits = q @ k.mT / 2**0.5 + path.score(q, k, at, at, numbers)
    words = HERE.double()
    for first in 0, 1:  # those words, or their mirrors: one turns as far the other way
        turned_q, turned_k = RoPE(2).rotate(
            q[:, :, first::2], k[:, :, first::2], *[words * (-1) ** first] * 2
        )
        got = logits[:, :, first::2, first::2]
        assert_close(got.where(PAST, 0), (turned_q @ turned_k.mT / 2**0.5).where(PAST, 0))


def test_what_is_read_is_a_direction_and_a_strength(path):
    got = path.hidden_features(torch.randn(B, N, H * D, dtype=torch.float64))
    assert got.shape == (B, H, N, D + 1)
    assert_close(got[..., :-1].norm(dim=-1), torch.ones(B, H, N).double())
    assert 0 < got[..., -1].min() and got[..., -1].max() < 2
    assert PaTH(8, 2).half().hidden_features(torch.zeros(1, 3, 8).half()).dtype == torch.float32


def test_words_of_another_text_change_nothing(path):
    (q, k), x = qk(), torch.randn(B, N, H * D, dtype=torch.float64)
    segments = torch.tensor([0, 1, 0, 0, 1, 0, 0])
    mine, numbers = segments == 0, path.hidden_features(x)
    got = path.score(q, k, HERE, HERE, numbers, segment_mask(segments, segments))
    args = q[:, :, mine], k[:, :, mine], HERE[mine], HERE[mine], numbers[:, :, mine]
    assert_close(got[:, :, mine][..., mine], path.score(*args))


def test_tokens_in_any_order(path):
    (q, k), numbers = qk(), path.hidden_features(torch.randn(B, N, H * D, dtype=torch.float64))
    order = torch.stack([torch.tensor([4, 0, 5, 2, 6, 1, 3]), torch.tensor([1, 0, 3, 2, 6, 5, 4])])
    index = order[:, None, :, None]
    moved = [t.take_along_dim(index, 2) for t in (q, k)]
    got = path.score(*moved, order, order, numbers.take_along_dim(index, 2))
    want = path.score(q, k, HERE, HERE, numbers).take_along_dim(index, 2).take_along_dim(index.mT, 3)
    assert_close(got, want)


def test_tokens_at_one_position_reflect_in_the_order_of_the_row():
    """Two at a time at 20 places: a query counts all up to its place, and a key those behind it in the row."""
    (q, k), path, n = qk((1, 1, 40, D)), PaTH(D, 1).double(), 40
    numbers, places = path.hidden_features(torch.randn(1, n, D, dtype=torch.float64)), torch.arange(n) // 2
    w, beta = numbers[0, 0, :, :D], numbers[0, 0, :, D]
    got = path.score(q, k, places, places, numbers)[0, 0] * D**0.5 + (q @ k.mT)[0, 0]
    for i, j in (1, 0), (0, 1), (38, 37), (39, 12), (20, 20):
        x = q[0, 0, i]
        for t in reversed(range(j + 1, n)):
            if places[t] <= places[i]:
                x = x - beta[t] * w[t] * (w[t] @ x)
        assert_close(got[i, j], k[0, 0, j] @ x)
