"""The checks of chapter 12: their references another way, and right answers written otherwise."""

import math

import numpy as np
import pytest
import torch

from d2lpos import RoPE
from d2lpos.bias import alibi
from d2lpos.check import ruler as check
from d2lpos.check.ruler.forget import forgotten
from d2lpos.check.ruler.mirrors import one_after_the_other
from d2lpos.check.ruler.scores import step_of
from d2lpos.check.verdict import Misconduct
from d2lpos.content import gated_distance
from d2lpos.input.sinusoids import frequencies
from d2lpos.rotary.rope import rotate
from tests.check.right import accepted, right


def past(tokens):
    return torch.ones(tokens, tokens).tril() > 0


# What the references are worth


def test_equal_gates_are_alibi():
    slopes = alibi.slopes(4)
    assert math.exp(-slopes[0]) == right(check.forget, "gate")
    here = torch.arange(6)
    bias = check.forget.reference((-slopes).exp()[:, None].expand(4, 6))
    torch.testing.assert_close(bias[:, past(6)], alibi.bias(here, here, slopes)[:, past(6)])


def test_gates_of_1_and_0_are_that_to_the_last_digit():
    """Whole counts stay whole, whatever the precision, or come so near that the row above has no weight."""
    asked = []
    for case in check.contextual.properties["whole counts, and counts beyond the last row"]:
        case.ask(lambda *arguments: asked.append(arguments))
    for q, k, _ in asked:
        gates = torch.sigmoid((q @ k.mT).double() / math.sqrt(2))
        assert ((gates == 1) | (gates < 1e-30)).all()


def test_two_mirrors_are_a_turn_of_the_book():
    angle = torch.tensor([0.3, -2.0, 3.5])
    u, w = check.mirrors.reference(angle)
    x = torch.randn(3, 2)
    by_mirrors = (one_after_the_other(u, w) @ x[..., None])[..., 0]
    torch.testing.assert_close(by_mirrors, rotate(x, angle[:, None]))


def test_a_step_of_rope_takes_as_many_mirrors_as_features():
    """Enough: two for each pair. No fewer: m mirrors leave all vectors as they are that lie in their m planes."""
    step = rotate(torch.eye(64, dtype=torch.float64), frequencies(64)).mT
    fewest = right(check.mirrors, "fewest")
    assert torch.linalg.matrix_rank(step - torch.eye(64)) == fewest
    u, w = check.mirrors.reference(frequencies(64))
    product, mirrors = torch.eye(64, dtype=torch.float64), 0
    for pair in range(32):
        for normal in (u, w):
            v = torch.zeros(64, dtype=torch.float64)
            v[[pair, pair + 32]] = normal[pair]
            product, mirrors = product - 2 * torch.outer(v, v @ product), mirrors + 1
    assert mirrors == fewest
    torch.testing.assert_close(product, step)


def test_a_state_is_as_large_as_a_cache_of_so_many_tokens():
    assert right(check.recurrent, "break_even") * (128 + 128) == 128 * 128


@pytest.mark.parametrize(("heads", "tokens", "d", "r", "d_r"), [(2, 5, 6, 4, 2), (3, 4, 2, 8, 4)])
def test_absorbed_scores_are_those_of_built_keys(heads, tokens, d, r, d_r):
    """A head of d + d_r features, whose first d_r turn; RoPE's own frequencies, and the package's positions."""
    made = step_of(heads, tokens, d, r, d_r, first=3)
    here = torch.arange(3, 3 + tokens)
    made["angle"] = (here[:, None] * frequencies(d_r)).float()
    rope = RoPE(d + d_r, rotary=d_r)
    q = torch.cat([made["q_r"], made["q"]], dim=-1)[None, :, None]
    shared = made["k_r"].expand(heads, tokens, d_r)
    k = torch.cat([shared, made["c"] @ made["up"]], dim=-1)[None]
    q, k = rope.rotate(q, k, here[-1:], here)
    scores = (q @ k.mT)[0, :, 0] / math.sqrt(d + d_r)
    torch.testing.assert_close(check.scores.reference(*made.values()), scores)


def test_what_deepseek_keeps():
    latent, plain = 512 + 64, 2 * 128 * 128
    assert (latent, plain) == (576, 32_768)
    assert right(check.scores, "times") * latent == plain


# What a check does not let pass


def test_a_tensor_of_all_pairs_is_seen_where_it_is_hidden_in_a_list():
    def halves(*arguments):
        return torch.ones(2, 1000, 1000).unbind(0)

    case = check.recurrent.properties["1,000 tokens, and no tensor of all pairs"][0]
    with pytest.raises(Misconduct, match="1,000,000 numbers or more"):
        case.ask(halves)


# Right answers, written otherwise


def gate_by_gate(gates):
    heads, tokens = gates.shape
    bias = torch.full((heads, tokens, tokens), -torch.inf, dtype=torch.float64)
    for i in range(tokens):
        bias[:, i, i] = 0
        for j in reversed(range(i)):
            bias[:, i, j] = bias[:, i, j + 1] + gates[:, j + 1].log()
    return bias


def by_the_package(gates):
    here = torch.arange(gates.shape[-1])
    return gated_distance(gates.log()[None, :, None], here, here)[0].masked_fill(~past(len(here)), -torch.inf)


def by_numpy_interp(q, k, table):
    T, d = q.shape
    term = np.zeros((T, T))
    for i in range(T):
        gates = 1 / (1 + np.exp(-(k[: i + 1] @ q[i]).double().numpy() / math.sqrt(d)))
        p = gates[::-1].cumsum()[::-1]
        term[i, : i + 1] = np.interp(p, np.arange(len(table)), (table @ q[i]).double().numpy())
    return torch.from_numpy(term)


def hats(q, k, table):
    """Each row's weight is a hat around its number."""
    gates = torch.sigmoid(q @ k.T * q.shape[-1] ** -0.5).tril()
    p = (gates @ past(len(q)).float()).clamp(0, len(table) - 1)
    weights = (1 - (p[..., None] - torch.arange(len(table))).abs()).clamp(min=0)
    return (weights * (q @ table.T)[:, None]).sum(dim=-1) * past(len(q))


def around_any_mirror(angle):
    first = torch.linspace(-3, 8, len(angle))
    return tuple(torch.stack([x.cos(), x.sin()], dim=-1) for x in (first, first + angle / 2 + torch.pi))


def on_both_sides_of_the_axis(angle):
    quarter = angle.double() / 4
    return [torch.stack([quarter.cos(), side * quarter.sin()], dim=1) for side in (-1, 1)]


def in_chunks(q, k, v, gates, state):
    """A matrix within each chunk of 64, a state between them."""
    y = []
    for a, b, c, g in zip(*(x.split(64) for x in (q, k, v, gates)), strict=True):
        inside = forgotten(g[None])[0].exp()
        decay = g.cumprod(0)[:, None]
        y.append((inside * (a @ b.T)) @ c + decay * (a @ state))
        state = (inside[-1][:, None] * b).T @ c + decay[-1] * state
    return torch.cat(y), state


def in_numpy(q, k, v, gates, state):
    state = state.numpy().astype(float)
    y = np.zeros((len(q), v.shape[1]))
    for t in range(len(q)):
        state = gates[t].item() * state + np.outer(k[t], v[t])
        y[t] = q[t].numpy() @ state
    return torch.from_numpy(y), torch.from_numpy(state)


def side_by_side(q, c, up, q_r, k_r, angle):
    query = torch.cat([(up @ q[..., None])[..., 0], rotate(q_r, angle[-1])], dim=-1)
    cache = torch.cat([c, rotate(k_r, angle)], dim=-1)
    return query @ cache.T * (q.shape[-1] + q_r.shape[-1]) ** -0.5


def by_offsets(q, c, up, q_r, k_r, angle):
    """The keys alone turn, by how far they lie behind the query."""
    keys = rotate(k_r, angle - angle[-1])
    near, far = torch.einsum("hd,hrd,tr->ht", q, up, c), torch.einsum("hd,td->ht", q_r, keys)
    return (near + far) / math.sqrt(q.shape[1] + k_r.shape[1])


test_accepted = accepted({
    check.forget: [gate_by_gate, by_the_package],
    check.contextual: [by_numpy_interp, hats],
    check.mirrors: [around_any_mirror, on_both_sides_of_the_axis],
    check.recurrent: [in_chunks, in_numpy],
    check.scores: [side_by_side, by_offsets],
})
