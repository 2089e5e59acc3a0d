"""The two forms of a bias are one: FlexAttention with its score_mod, and fused attention with its tensor."""

from functools import reduce
from importlib import import_module
from shutil import which

import pytest
import torch
from torch.nn.attention.flex_attention import create_block_mask, flex_attention
from torch.testing import assert_close

from d2lpos import ALiBi, T5Bias
from d2lpos.bias.base import Bias, distance
from d2lpos.bias.kerple import KERPLE
from d2lpos.offset.shaw import Shaw, ShawKeys
from d2lpos.transformer.attention import attend, attention_weights, causal_mask
from tests.house import ENCODERS, ROOT, modules, room

BIASES = {
    "t5": lambda: T5Bias(4, buckets=8, max_distance=20),
    "t5, causal": lambda: T5Bias(4, buckets=8, max_distance=20, bidirectional=False),
    "alibi": lambda: ALiBi(4),
    "kerple, logarithmic": lambda: KERPLE(4),
    "kerple, power": lambda: KERPLE(4, "power"),
    "shaw's keys": lambda: ShawKeys(8, clip=3),
}
POSITIONS = {
    "in order": (torch.arange(5), torch.arange(7)),
    "by sequence": (torch.tensor([[3, 9, 1, 0, 4], [5, 5, 2, 8, 100]]), torch.arange(7).flip(0)),
    "unsigned": (torch.arange(5, dtype=torch.uint8), torch.arange(7, dtype=torch.uint8)),
}


@pytest.fixture(params=BIASES)
def bias(request, randomized):
    return randomized(BIASES[request.param]())


def inputs(dtype=torch.float64):
    return (torch.randn(2, 4, length, 8, dtype=dtype) for length in (5, 7, 7))


@pytest.mark.filterwarnings("ignore:flex_attention called without torch.compile")
@pytest.mark.parametrize("positions", POSITIONS.values(), ids=POSITIONS)
def test_score_mod_equals_the_tensor(bias, positions):
    q, k, v = inputs()
    got = flex_attention(q, k, v, score_mod=bias.score_mod(q, k, *positions))
    assert got.dtype == torch.float64
    assert_close(got, attend(q, k, v, *positions, bias))
    assert_close(got, attention_weights(q, k, *positions, bias) @ v)


def test_every_class_that_has_a_score_mod_is_here():
    encoders = [import_module(module) for module in modules(ROOT) if room(module) in ENCODERS]
    offered = {kind for module in encoders for kind in vars(module).values() if hasattr(kind, "score_mod")}
    tried = {type(make()) for make in BIASES.values()}
    assert {kind for kind in offered if isinstance(kind, type)} == tried | {Bias, Shaw}  # Shaw's is ShawKeys'
    assert Shaw.score_mod is ShawKeys.score_mod


@pytest.mark.skipif(not which("g++"), reason="a program is compiled with g++")
def test_every_score_mod_compiles(randomized):
    """In one program, because compiling is slow: each adds to the score that the one before it gives."""
    *biases, keys = [randomized(make()).float() for make in BIASES.values()]
    here, there = torch.tensor([[3, 9, 1, 0, 4], [5, 5, 2, 8, 100]]), torch.arange(7).flip(0)
    q, k, v = inputs(torch.float32)

    @torch.compile(fullgraph=True)
    def attention(q, k, v, shaw, mask):
        mods = [bias.score_mod(q, k, here, there) for bias in biases]

        def add(score, *place):
            return reduce(lambda score, mod: mod(score, *place), mods, shaw(score, *place))

        return flex_attention(q, k, v, score_mod=add, block_mask=mask)

    def visible(batch, head, query, key):
        return there[key] <= here[batch, query]

    mask = create_block_mask(visible, 2, None, 5, 7, device="cpu")
    shaw = keys.score_mod(q, k, here, there)  # outside: for CPUs, PyTorch compiles no vectors made on the way
    logits = q @ k.mT / 8**0.5 + sum(bias.score(q, k, here, there) for bias in (*biases, keys))
    weights = logits.masked_fill(~causal_mask(here, there)[:, None], -torch.inf).softmax(dim=-1)
    with torch.no_grad():  # on a CPU it has no backward pass
        assert_close(attention(q, k, v, shaw, mask), weights @ v, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("bias", sorted(BIASES.keys() - {"alibi"}), indirect=True)
def test_gradients_of_both_forms_are_equal(bias):
    q, k, _ = inputs()
    parameters, positions = list(bias.parameters()), (torch.arange(5), torch.arange(7))
    add, pairs = bias.score_mod(q, k, *positions), torch.cartesian_prod(*map(torch.arange, (2, 4, 5, 7))).T
    one = torch.autograd.grad(add(torch.zeros(280).double(), *pairs).square().sum(), parameters)
    other = torch.autograd.grad(bias.score(q, k, *positions).expand(2, 4, 5, 7).square().sum(), parameters)
    for ours, theirs in zip(one, other, strict=True):
        assert_close(ours, theirs)
        assert ours.isfinite().all() and ours.any()


def test_a_bias_of_ones_own_needs_one_formula():
    class Near(Bias):
        def at(self, offset, head):
            return torch.where(offset.abs() <= head, 1.0, 0.0)

    q = torch.zeros(1, 2, 3, 4)
    near = Near(2)
    assert near.doors == ("score",)
    got = near.score(q, q, torch.arange(3), torch.arange(3))
    assert got.tolist() == [[[1, 0, 0], [0, 1, 0], [0, 0, 1]], [[1, 1, 0], [1, 1, 1], [0, 1, 1]]]
    with pytest.raises(NotImplementedError):
        Bias(2).score(q, q, torch.arange(3), torch.arange(3))


def test_distance_is_wide():
    assert distance(torch.tensor([-3, 0, 2])).tolist() == [3, 0, 2]
    for dtype in torch.int64, torch.bfloat16, torch.float32:
        assert distance(torch.zeros(2, dtype=dtype)).dtype == torch.float32
    assert distance(torch.zeros(2).double()).dtype == torch.float64
