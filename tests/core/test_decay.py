import pytest
import torch
from torch.nn.functional import normalize
from torch.testing import assert_close

from d2lpos.bias.alibi import bias
from d2lpos.content import householder_scores
from d2lpos.content.decay import chunks, decays, delta, matrix, recurrence
from d2lpos.transformer.masks import causal_mask

B, H, N, D, E = 2, 3, 11, 4, 5
HERE = torch.arange(N)
PAST = causal_mask(HERE, HERE)
TINY = {torch.float64: 1e-12, torch.float32: 1e-5}


def inputs(dtype=torch.float64, length=N):
    """Queries, keys, values and the logarithms of gates, one of which is 0."""
    q, k = torch.randn(2, B, H, length, D, dtype=dtype)
    log_gates = torch.rand(B, H, length, dtype=dtype).log()
    log_gates[0, 1, length // 2 : length // 2 + 1] = -torch.inf
    return q, k, torch.randn(B, H, length, E, dtype=dtype), log_gates


def beta():
    return 2 * torch.rand(B, H, N, dtype=torch.float64)


def close(one, other, dtype=torch.float64):
    assert one.dtype == other.dtype == dtype
    assert (one - other).abs().max() < TINY[dtype]


def test_formula():
    q, k, v, log_gates = inputs()
    y = matrix(q, k, v, log_gates)
    for b, h, i in torch.cartesian_prod(*map(torch.arange, (B, H, N))).tolist():
        parts = [
            log_gates[b, h, j + 1 : i + 1].exp().prod() * (q[b, h, i] @ k[b, h, j]) * v[b, h, j]
            for j in range(i + 1)
        ]
        assert_close(y[b, h, i], torch.stack(parts).sum(dim=0))


@pytest.mark.parametrize("dtype", TINY)
def test_one_number_three_ways(dtype):
    tensors = inputs(dtype)
    want, last = recurrence(*tensors)
    close(matrix(*tensors), want, dtype)
    for size in 1, 3, N, 2 * N:
        y, state = chunks(*tensors, size=size)
        close(y, want, dtype)
        close(state, last, dtype)


@pytest.mark.parametrize("run", [recurrence, lambda *x: chunks(*x[:4], 3, *x[4:]), delta], ids=["recurrence", "chunks", "delta"])
def test_a_state_goes_on(run):
    tensors = (*inputs(), beta()) if run is delta else inputs()
    want, last = run(*tensors)
    outputs, state = [], None
    for first, behind in (0, 2), (2, 2), (2, 7), (7, N):
        piece = [x[..., first:behind, :] for x in tensors[:3]] + [x[..., first:behind] for x in tensors[3:]]
        y, state = run(*piece, state)
        outputs.append(y)
    close(torch.cat(outputs, dim=-2), want)
    close(state, last)


def test_the_gates_of_alibi():
    """e⁻ᵐ at each token is ALiBi's bias, multiplied; powers of two make it exact."""
    slopes = torch.tensor([0.5, 0.25, 0.0625])
    got = decays(-slopes[:, None].expand(-1, N))
    assert torch.equal(got, torch.where(PAST, bias(HERE, HERE, slopes).exp(), 0))


def test_late_in_a_long_text_near_tokens_keep_their_digits():
    """Where the sum of all gates is −40,000, a difference of such sums would be off by thousandths."""
    log_gates = -torch.rand(2000) * 40
    log_gates[-3:] = torch.tensor([-1.0, -0.25, -0.125])
    assert_close(decays(log_gates)[-1, -3:].log(), torch.tensor([-0.375, -0.125, 0]), rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("run", [matrix, recurrence, lambda *x: chunks(*x, size=3)])
def test_half_precision_is_summed_wide(run):
    tensors = [x.bfloat16() for x in inputs(torch.float32)]
    got, want = run(*tensors), run(*(x.float() for x in tensors))
    if run is not matrix:
        (got, state), (want, last) = got, want
        assert torch.equal(state, last)
    assert torch.equal(got, want.bfloat16())


def test_leading_axes_broadcast():
    q, k, v, log_gates = inputs()
    shared = q, k[:, :1], v[:1], log_gates[0]
    alike = q, k[:, :1].expand_as(k), v[:1].expand_as(v), log_gates[:1].expand_as(log_gates)
    state = torch.randn(H, D, E).double()
    for run in (lambda *x: chunks(*x, 3, state), lambda *x: recurrence(*x, state)):
        for got, want in zip(run(*shared), run(*alike), strict=True):
            close(got, want)
    close(matrix(*shared), matrix(*alike))


def test_the_delta_rule_by_matrices():
    """S = a (I − β k kᵀ) S + β k vᵀ, written out."""
    (q, k, v, log_gates), strength = inputs(), beta()
    y, last = delta(q, k, v, log_gates, strength)
    for b, h in torch.cartesian_prod(torch.arange(B), torch.arange(H)).tolist():
        state = torch.zeros(D, E, dtype=torch.float64)
        for t in range(N):
            k_t, s = k[b, h, t], strength[b, h, t]
            erase = torch.eye(D).double() - s * torch.outer(k_t, k_t)
            state = log_gates[b, h, t].exp() * erase @ state + s * torch.outer(k_t, v[b, h, t])
            assert_close(y[b, h, t], q[b, h, t] @ state)
        assert_close(last[b, h], state)


def test_the_delta_rule_is_decay_times_path():
    """What a key left passes the later keys as PaTH's query does, and fades by the gates."""
    (q, k, v, log_gates), strength = inputs(), beta()
    k = normalize(k, dim=-1)
    passed = householder_scores(q, k, k, strength[..., None], PAST)
    want = (decays(log_gates) * passed) @ (strength[..., None] * v)
    assert_close(delta(q, k, v, log_gates, strength)[0], want)


@pytest.mark.parametrize("run", [matrix, recurrence, lambda *x: chunks(*x, size=3)])
def test_gradients_pass_a_gate_of_0(run):
    q, k, v, log_gates = (x.requires_grad_() for x in inputs())
    y = run(q, k, v, log_gates)
    (y if run is matrix else y[0]).sum().backward()
    assert all(x.grad.isfinite().all() for x in (q, k, v, log_gates))
    assert log_gates.grad[0, 1, N // 2] == 0
