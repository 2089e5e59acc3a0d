"""FlexAttention gives what `attend` gives: for each bias, each mask, and all masks together."""

from shutil import which

import pytest
import torch
from torch import nn
from torch.nn.functional import scaled_dot_product_attention
from torch.testing import assert_close

from d2lpos import KERPLE, ALiBi, Encoding, RoPE, ShawKeys, T5Bias
from d2lpos.bias.alibi import slopes
from d2lpos.positions.checks import offsets
from d2lpos.transformer import attend, causal_mask, segment_mask
from d2lpos.transformer.flex import attend_flex, block_mask, compiled

ENCODINGS = {
    "none": Encoding,
    "rope": lambda: RoPE(16),
    "alibi": lambda: ALiBi(4),
    "alibi, slopes given": lambda: ALiBi(4, slopes=slopes(4) / 3),
    "alibi, slopes that learn": lambda: ALiBi(4, slopes=nn.Parameter(slopes(4))),
    "t5": lambda: T5Bias(4),
    "kerple": lambda: KERPLE(4),
    "kerple, power": lambda: KERPLE(4, "power"),
    "shaw's keys": lambda: ShawKeys(16, clip=5),
}
LENGTH = 150  # more than a block
PLACES = {
    "in order": torch.arange(LENGTH),
    "by sequence": torch.stack([torch.arange(LENGTH), torch.arange(LENGTH).flip(0) * 2]),
    "packed": torch.arange(LENGTH) % 50,
}
SEGMENTS = {
    "one row": torch.arange(LENGTH) // 50,
    "by sequence": torch.stack([torch.arange(LENGTH) // 50, torch.arange(LENGTH) // 75]),
}
eager = pytest.mark.filterwarnings("ignore:flex_attention called without torch.compile")


def visible(positions, causal, window, segments):
    mask = torch.ones(LENGTH, LENGTH, dtype=torch.bool)
    if causal:
        mask = mask & causal_mask(positions, positions)
    if window is not None:
        mask = mask & (offsets(positions, positions).abs() < window)
    return mask if segments is None else mask & segment_mask(segments, segments)


def inputs(device="cpu", dtype=torch.float32):
    return (torch.randn(2, heads, LENGTH, 16, device=device, dtype=dtype) for heads in (4, 2, 2))


@eager
@pytest.mark.parametrize("name", ENCODINGS)
def test_every_bias(name, randomized):
    q, k, v = inputs(dtype=torch.float64)
    encoding, here = randomized(ENCODINGS[name]()), PLACES["by sequence"]
    with torch.no_grad():
        mask = block_mask(here, here)
        got = attend_flex(q, k, v, here, here, encoding, mask)
        assert_close(got, attend(q, k, v, here, here, encoding, causal_mask(here, here)))


@eager
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(
    ("causal", "window", "segments"),
    [(True, None, None), (False, 20, None), (False, None, "one row"), (True, 20, "by sequence")],
)
def test_masks_and_their_combinations(place, causal, window, segments):
    q, k, v = inputs()
    here, segments = PLACES[place], SEGMENTS.get(segments)
    mask = block_mask(here, here, causal, window, segments, segments)
    want = attend(q, k, v, here, here, mask=visible(here, causal, window, segments))
    assert_close(attend_flex(q, k, v, here, here, mask=mask), want, atol=1e-5, rtol=1e-5)


def test_blocks_that_nobody_sees_are_left_out():
    here = torch.arange(1024)
    assert block_mask(here, here).to_dense().int().tolist()[0][0] == torch.ones(8, 8).tril().int().tolist()
    assert block_mask(here[512:], here).to_dense().int().tolist()[0][0] == torch.ones(4, 8).tril(4).int().tolist()
    near = block_mask(here, here, window=128).to_dense()[0, 0].bool()
    apart = torch.arange(8)[:, None] - torch.arange(8)
    assert torch.equal(near, (apart == 0) | (apart == 1))
    texts = block_mask(here, here, q_segments=here // 512, k_segments=here // 512).to_dense()[0, 0]
    assert texts.sum() == 2 * 10


@pytest.mark.skipif(not which("g++"), reason="a program is compiled with g++")
def test_a_compiled_program_of_everything():
    """A turn and a bias, grouped queries, and all masks at once. One program, because compiling takes 15 seconds."""

    class Both(ALiBi):
        rotate = RoPE(16).rotate

    q, k, v = inputs()
    here, segments = PLACES["by sequence"], SEGMENTS["by sequence"]
    both = Both(4, slopes=slopes(4) / 3)
    mask = block_mask(here, here, True, 20, segments, segments)
    with torch.no_grad():
        got = attend_flex(q, k, v, here, here, both, mask, compiled())
        want = attend(q, k, v, here, here, both, visible(here, True, 20, segments))
    assert_close(got, want, atol=1e-5, rtol=1e-5)


def test_on_a_cpu_pytorch_has_no_gradient_of_it():
    """When this fails, that of tests/core/test_gpu.py should run everywhere."""
    q, k, v = (x.requires_grad_() for x in inputs())
    here = PLACES["in order"]
    with pytest.raises(NotImplementedError, match="does not support backward on CPU"):
        attend_flex(q, k, v, here, here)


@pytest.mark.skipif(not torch.__version__.startswith("2.13"), reason="6A says so of PyTorch 2.13")
def test_is_causal_beside_a_bias_hangs_on_its_axes():
    q, here = torch.randn(1, 8, 32, 16), torch.arange(32)
    bias = ALiBi(8).score(q, q, here, here)
    with pytest.raises(RuntimeError, match="should not be set when is_causal=True"):
        scaled_dot_product_attention(q, q, q, attn_mask=bias, is_causal=True)
    both = scaled_dot_product_attention(q, q, q, attn_mask=bias[None], is_causal=True)
    assert_close(both, attend(q, q, q, here, here, ALiBi(8), causal_mask(here, here)))
