"""What waits for a GPU: python -m tests.rehearsals.gpu runs these, where there is one. The others run everywhere."""

import pytest
import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import scaled_dot_product_attention
from torch.testing import assert_close

from d2lpos import Attention, Cache, Transformer
from d2lpos.positions.position_ids import from_segments
from d2lpos.transformer import attend, causal_mask, segment_mask
from d2lpos.transformer.flex import attend_flex, block_mask, compiled
from d2lpos.transformer.programs import all_at_once

from .conftest import DIM, ENCODINGS, HEADS
from .test_flex import ENCODINGS as SCORED
from .test_flex import LENGTH, SEGMENTS, inputs, visible

gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="these are programs for GPUs")
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
# What a half rounds, a few times in a row: its eps is 2^-8 or 2^-11.
TOLERANCE = {torch.float32: 1e-4, torch.bfloat16: 4e-2, torch.float16: 5e-3}
HERE = torch.arange(LENGTH)


@gpu
@pytest.mark.parametrize("name", SCORED)
def test_a_compiled_program_and_its_gradient(name):
    q, k, v = (x.requires_grad_() for x in inputs("cuda"))
    here, segments, encoding = HERE.cuda(), SEGMENTS["one row"].cuda(), SCORED[name]().cuda()
    mask = block_mask(here, here, True, 20, segments, segments)
    got = attend_flex(q, k, v, here, here, encoding, mask, compiled())
    want = attend(q, k, v, here, here, encoding, visible(here.cpu(), True, 20, segments.cpu()).cuda())
    assert_close(got, want, atol=1e-3, rtol=1e-3)
    upstream, wanted = torch.randn_like(got), [q, k, v, *encoding.parameters()]
    ours, theirs = (torch.autograd.grad(y, wanted, upstream) for y in (got, want))
    assert_close(ours, theirs, atol=1e-2, rtol=1e-2)


@gpu
def test_flash_attention_takes_no_bias_and_memory_efficient_attention_does():
    q, k, v = torch.randn(3, 1, 2, 64, 16, device="cuda", dtype=torch.float16)
    bias = torch.randn(1, 2, 64, 64, device="cuda", dtype=torch.float16, requires_grad=True)
    with sdpa_kernel(SDPBackend.FLASH_ATTENTION), pytest.raises(RuntimeError):
        scaled_dot_product_attention(q, k, v, attn_mask=bias)
    with sdpa_kernel(SDPBackend.EFFICIENT_ATTENTION):
        scaled_dot_product_attention(q, k, v, attn_mask=bias).sum().backward()
    assert bias.grad.isfinite().all()


@gpu
def test_pytorch_s_program_for_packed_texts_gives_what_segments_give():
    segments = torch.arange(256, device="cuda") // 64
    here = from_segments(segments)
    q, k, v = torch.randn(3, 1, 2, 256, 64, device="cuda", dtype=torch.bfloat16)
    want = attend(q, k, v, here, here, mask=causal_mask(here, here) & segment_mask(segments, segments))
    got = all_at_once(q, k, v, (64,) * 4, True)
    assert_close(got[None], want, atol=2e-2, rtol=2e-2)


def test_a_program_for_packed_texts_is_told_where_each_ends(monkeypatch):
    """By one that does as PyTorch's and runs everywhere."""

    def program(q, k, v, ends, also_ends, longest, also_longest, window_size):
        assert torch.equal(ends, also_ends) and longest == also_longest == 5 and window_size == (-1, 0)
        texts = [[x[a:b].transpose(0, 1)[None] for x in (q, k, v)] for a, b in ends.unfold(0, 2, 1).tolist()]
        return torch.cat([scaled_dot_product_attention(*text, is_causal=True)[0] for text in texts], dim=1).transpose(0, 1)

    monkeypatch.setattr("torch.nn.attention.varlen.varlen_attn", program)
    q, k, v = torch.randn(2, 4, 8, 16), *torch.randn(2, 2, 2, 8, 16)
    text = torch.tensor([0, 0, 0, 1, 1, 1, 1, 1])
    want = attend(q, k, v, text, text, mask=torch.ones(8, 8, dtype=torch.bool).tril() & segment_mask(text, text))
    got = all_at_once(q, k, v, (3, 5, 3, 5), True)
    assert_close(got.unflatten(1, (2, 8)).transpose(0, 1), want)


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("dtype", TOLERANCE, ids=str)
def test_packed_texts_are_read_as_each_alone(dtype, causal):
    torch.manual_seed(0)
    segments = torch.arange(256, device=DEVICE) // 64
    here = from_segments(segments)
    layer = Attention(64, 4, ENCODINGS["none"](), causal, kv_heads=2).to(DEVICE, dtype)
    x = torch.randn(2, 256, 64, device=DEVICE, dtype=dtype, requires_grad=True)
    together = layer(x, here, segments=segments)
    apart = torch.cat([layer(part, here[:64]) for part in x.split(64, dim=1)], dim=1)
    assert_close(together, apart, atol=TOLERANCE[dtype], rtol=TOLERANCE[dtype])
    upstream = torch.randn_like(x)
    gradients = [torch.autograd.grad(y, x, upstream)[0] for y in (together, apart)]
    assert_close(*gradients, atol=TOLERANCE[dtype], rtol=TOLERANCE[dtype])


@pytest.mark.parametrize("dtype", TOLERANCE, ids=str)
@pytest.mark.parametrize("name", ENCODINGS)
def test_a_layer_gives_there_what_it_gives_in_float64_here(name, dtype, randomized):
    """Positions stay as exact as they are: the layer's halves are all that rounds."""
    torch.manual_seed(0)
    layer, here = Attention(DIM, HEADS, randomized(ENCODINGS[name]())), torch.arange(40)
    x = torch.randn(2, 40, DIM)
    with torch.no_grad():
        want = layer.double()(layer.encoding.embed(x.double(), here), here)
        layer, there = layer.to(DEVICE, dtype), here.to(DEVICE)
        x = x.to(DEVICE, dtype)
        got = layer(layer.encoding.embed(x, there), there)
    assert got.dtype == dtype
    assert_close(got.double().cpu(), want, atol=TOLERANCE[dtype], rtol=TOLERANCE[dtype])


@pytest.mark.parametrize("name", ["none", "sinusoidal", "rope, half", "t5, causal", "alibi"])
def test_tokens_decoded_there_are_those_of_one_pass(name):
    torch.manual_seed(0)
    model = Transformer(11, 11, encoding=ENCODINGS[name](), dim=DIM, heads=HEADS, causal=True).to(DEVICE).eval()
    tokens, here = torch.randint(11, (2, 9), device=DEVICE), torch.arange(9, device=DEVICE)
    caches = [Cache() for _ in model.blocks]
    with torch.no_grad():
        want = model(tokens, here)
        steps = [model(tokens[:, i : i + 1], here[i : i + 1], caches=caches) for i in range(9)]
    assert_close(torch.cat(steps, dim=1), want, atol=1e-4, rtol=1e-4)


@gpu
@pytest.mark.parametrize("name", ["none", "rope, half", "rope, interleaved", "t5, causal", "alibi", "shaw"])
def test_a_compiled_model_and_its_gradients(name):
    torch.manual_seed(0)
    model = Transformer(11, 11, encoding=ENCODINGS[name](), dim=DIM, heads=HEADS, causal=True).cuda()
    tokens, here = torch.randint(11, (2, 64), device="cuda"), torch.arange(64, device="cuda")
    one, other = (m(tokens, here) for m in (model, torch.compile(model)))
    assert_close(other, one, atol=1e-4, rtol=1e-4)
    parts = [p for p in model.parameters() if p.requires_grad]
    gradients = [torch.autograd.grad(y.square().mean(), parts, allow_unused=True) for y in (one, other)]
    for ours, theirs in zip(*gradients, strict=True):
        if ours is not None:
            assert_close(theirs, ours, atol=1e-4, rtol=1e-3)
