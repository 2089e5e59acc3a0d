"""What is made on the way is made where the arguments are: a pretend device that refuses to mix with the processor."""

from functools import partial

import pytest
import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from d2lpos import Attention, RoPE, Swin, Transformer
from d2lpos.bias import Bias, SwinV2, alibi
from d2lpos.offset import skew
from d2lpos.positions import position_ids as placing
from d2lpos.rotary import rotate_fast, scaling
from d2lpos.transformer import dropout

HERE = torch.arange(6, device="meta")
CELLS = torch.zeros(6, 2, device="meta", dtype=torch.int64)
Q = torch.randn(2, 2, 6, 8, device="meta")
FLAGS = torch.ones(2, 6, device="meta", dtype=torch.int64)


class OneDevice(TorchDispatchMode):
    """As a GPU: only tensors without axes may come from elsewhere."""

    def __torch_dispatch__(self, op, types, args=(), kwargs=None):
        tensors = [x for x in tree_leaves((args, kwargs)) if isinstance(x, Tensor) and x.dim()]
        assert len({x.device for x in tensors}) < 2, f"{op} mixes devices"
        return op(*args, **(kwargs or {}))


def test_every_door(encoding):
    model = Transformer(5, 2, 16, 2, 1, encoding.float(), causal=True).to("meta")
    mask = torch.ones(6, 6, dtype=torch.bool, device="meta")
    with OneDevice():
        assert model(FLAGS, HERE, mask).is_meta
        assert model(FLAGS, HERE, caches=model.new_caches()).is_meta
        if isinstance(encoding, Bias):
            assert encoding.at(HERE, HERE).is_meta


@pytest.mark.parametrize("encoding", [RoPE(8, axes=2), Swin(2, 3, 3), SwinV2(2, 3, 3)], ids=type)
def test_positions_of_two_axes(encoding):
    layer = Attention(16, 2, encoding).to("meta")
    with OneDevice():
        assert layer(torch.randn(2, 6, 16, device="meta"), CELLS).is_meta


@pytest.mark.parametrize("call", [
    lambda: alibi.bias(HERE, HERE, alibi.slopes(2)),
    lambda: rotate_fast(Q, torch.zeros(6, 4, device="meta"), "interleaved"),
    lambda: skew.key_term(Q, torch.randn(6, 8, device="meta")),
    lambda: placing.from_padding(FLAGS > 0),
    lambda: placing.from_segments(FLAGS),
    lambda: placing.next_positions(HERE, 2),
    lambda: placing.interpolate(HERE, 2),
    lambda: placing.shift(HERE, 2),
    lambda: dropout.combine(Q[0], Q[0, 0], protected=FLAGS > 0),
    lambda: dropout.segment_ends(FLAGS, FLAGS),
    lambda: dropout.special_tokens(FLAGS),
    *(
        partial(lambda rule: rule(torch.tensor([1.0, 0.5, 0.1], device="meta"))[0], rule)
        for rule in (
            partial(scaling.ntk, factor=4),
            partial(scaling.yarn, factor=4, length=8),
            partial(scaling.llama3, factor=4, length=8),
        )
    ),
])
def test_functions(call):
    with OneDevice():
        assert call().is_meta
