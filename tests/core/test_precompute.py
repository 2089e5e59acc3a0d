"""What follows from positions alone is computed once in a forward pass, and gives the numbers that each layer would compute."""

from copy import deepcopy

import pytest
import torch
from torch.utils.checkpoint import checkpoint

from d2lpos import ALiBi, RoPE, Transformer
from d2lpos.bias import KERPLE
from d2lpos.bias.base import LARGEST, Bias
from d2lpos.rotary import Mixed, Normed
from d2lpos.transformer import attention_weights
from tests.core.conftest import GRIDS

TOKENS = torch.tensor([[0, 1, 2, 3, 4, 5], [5, 4, 3, 2, 1, 0]])
HERE = torch.arange(6)
CELLS = torch.cartesian_prod(torch.arange(2), torch.arange(3))


def doors(encoding, q, k, here, there):
    """What doors 2 and 3 give, without those that give nothing."""
    return [y for y in (*encoding.rotate(q, k, here, there), encoding.score(q, k, here, there)) if y is not None]


def check(encoding, q, k, here, there):
    """The same numbers and gradients, for these positions and for others."""
    alike = encoding.precompute(here, there)
    assert alike.doors == encoding.doors and type(alike) is type(encoding)
    for now, then in (here, there), (here.flip(0), there.flip(0)):
        for ours, known in zip(doors(alike, q, k, now, then), doors(encoding, q, k, now, then), strict=True):
            assert torch.equal(ours, known)
    gradients = []
    for each in alike, encoding:
        total = sum(y.square().sum() for y in doors(each, q, k, here, there))
        gradients.append(torch.autograd.grad(total, [q, *encoding.parameters()], allow_unused=True))
    for ours, known in zip(*gradients, strict=True):
        assert (ours is None) == (known is None)
        if ours is not None:
            torch.testing.assert_close(ours, known)


def test_each_encoding_gives_the_same_numbers(encoding, place, qkv):
    q, k, _ = qkv
    if encoding.needs_hidden:
        assert encoding.precompute(HERE, HERE) is encoding
        return
    here = place(torch.arange(6))
    check(encoding, q.clone().requires_grad_(), k, here, here)
    check(encoding, q[:, :, -1:].clone().requires_grad_(), k, here[..., -1:], here)


@pytest.mark.parametrize("name", GRIDS)
def test_each_encoding_of_a_grid_gives_the_same_numbers(name, qkv, randomized):
    encoding, (q, k, _) = randomized(GRIDS[name]()), qkv
    cells = CELLS if encoding.axes == 2 else torch.cat([torch.zeros(6, 1), CELLS], dim=1).long()
    check(encoding, q.clone().requires_grad_(), k, cells, cells)


class Counted(RoPE):
    made = 0

    def turns(self, positions, omega):
        Counted.made += 1
        return super().turns(positions, omega)


class CountedBias(Bias):
    made = 0

    def at(self, offset, head):
        CountedBias.made += 1
        return -(offset.abs() * (head + 1)).double()


@pytest.mark.parametrize(("kind", "encoding"), [(Counted, Counted(8)), (CountedBias, CountedBias(2))])
def test_eight_layers_compute_once(kind, encoding):
    model = Transformer(6, 3, dim=16, heads=2, layers=8, encoding=encoding, causal=True).double()
    kind.made = 0
    model(TOKENS, HERE)
    assert kind.made == 1
    caches = model.new_caches()
    model(TOKENS, HERE, caches=caches)
    kind.made = 0
    model(TOKENS[:, :1], torch.tensor([6]), caches=caches)
    assert kind.made <= 2  # of the query and of the keys


class Loud(RoPE):
    def rotate(self, q, k, q_positions, k_positions):
        return 2 * q, k


class LoudBias(ALiBi):
    def score(self, q, k, q_positions, k_positions):
        return q.new_ones(1)


class LoudTurn(RoPE):
    def turned(self, x, turn):
        return 3 * x


def test_a_door_of_ones_own_is_used(qkv):
    """Of a subclass, or given to an encoding."""
    q, k, _ = qkv
    rope, alibi = RoPE(8), ALiBi(2)
    rope.rotate = lambda q, k, here, there: (2 * q, k)
    alibi.score = lambda q, k, here, there: q.new_ones(1)
    for encoding in Loud(8), LoudBias(2), LoudTurn(8), Normed(Loud(8)), rope, alibi:
        check(encoding, q.clone().requires_grad_(), k, HERE, HERE)
        assert attention_weights(q, k, HERE, HERE, encoding).shape == (2, 2, 6, 6)


def test_a_large_bias_is_not_kept():
    long = torch.arange(1024)
    for heads, stores in (LARGEST // 1024**2, True), (LARGEST // 1024**2 + 1, False):
        bias = ALiBi(heads)
        assert (bias.precompute(long, long) is not bias) == stores
        assert bias.precompute(long.expand(2, -1), long) is bias
    assert (one := ALiBi(1)).precompute(torch.arange(1025), torch.arange(1025)) is one


def around(model, how, which=slice(None)):
    for block in model.blocks[which]:
        block.forward = how(block.forward)


def checkpoints(call):
    return lambda *args, **more: checkpoint(call, *args, use_reentrant=False, **more)


@pytest.mark.parametrize("encoding", [RoPE(8), ALiBi(2)], ids=lambda one: type(one).__name__)
@pytest.mark.parametrize(("how", "which"), [(torch.no_grad(), slice(1)), (checkpoints, slice(None))], ids=["frozen", "checkpoints"])
def test_layers_without_gradient_or_computed_anew_change_nothing(how, which, encoding):
    """The same gradients as where each layer computes by itself."""
    totals = []
    for own in [encoding] * 3, [deepcopy(encoding) for _ in range(3)]:
        torch.manual_seed(0)
        model = Transformer(6, 3, dim=16, heads=2, layers=3, encoding=own, causal=True)
        around(model, how, which)
        model(TOKENS, HERE).square().sum().backward()
        totals.append(sum(x.grad.norm().square() for x in model.parameters() if x.grad is not None))
    torch.testing.assert_close(*totals)


def test_inference_in_one_layer_leaves_nothing_that_others_cannot_use():
    model = Transformer(6, 3, dim=16, heads=2, layers=3, encoding=RoPE(8), causal=True)
    around(model, torch.inference_mode(), slice(1))
    with pytest.raises(RuntimeError, match="Inference tensor"):  # of the first layer's output, as ever
        model(TOKENS, HERE).sum().backward()
    turned = RoPE(8).precompute(HERE, HERE)
    x = torch.randn(1, 2, 6, 8, requires_grad=True)
    with torch.inference_mode():
        turned.rotate(x, x, HERE, HERE)
    turned.rotate(x, x, HERE, HERE)[0].sum().backward()


def test_what_learns_shares_nothing():
    places = HERE.double().requires_grad_()
    for encoding, here in (RoPE(8), places), (KERPLE(2), HERE), (Mixed(8, 2), CELLS):
        assert encoding.precompute(here, here) is encoding


def test_an_encoding_of_one_layer_is_left_alone(monkeypatch):
    called = []
    monkeypatch.setattr(ALiBi, "precompute", lambda self, *args: called.append(self) or self)
    model = Transformer(6, 3, dim=16, heads=2, layers=3, encoding=[ALiBi(2) for _ in range(3)], causal=True)
    model(TOKENS, HERE)
    assert not called
