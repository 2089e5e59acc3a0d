"""What the book says of PyTorch's attention programs, above all in chapter 8."""

import warnings

import pytest
import torch
from torch.autograd.profiler import profile
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import scaled_dot_product_attention
from torch.testing import assert_close

FUSED, FORMULA = SDPBackend.FLASH_ATTENTION, SDPBackend.MATH
HEADS, LENGTH = 2, 64


@pytest.fixture
def qkv():
    return torch.randn(3, 1, HEADS, LENGTH, 16)


@pytest.fixture
def bias():
    return torch.randn(1, HEADS, LENGTH, LENGTH)


def largest(program: SDPBackend, length: int) -> int:
    """Bytes of the largest tensor that a program asks memory for."""
    q, k, v = torch.randn(3, 1, HEADS, length, 16)
    with sdpa_kernel(program), profile(profile_memory=True, use_kineto=False) as trace:
        scaled_dot_product_attention(q, k, v)
    return max(event.cpu_memory_usage for event in trace.function_events)


def test_the_fused_program_never_stores_the_scores():
    scores = HEADS * 2048**2 * 4
    assert largest(FUSED, 2048) < scores / 8
    assert largest(FORMULA, 2048) >= scores


def test_the_fused_program_for_cpus_takes_a_bias_of_all_pairs(qkv, bias):
    with sdpa_kernel(FUSED):
        got = scaled_dot_product_attention(*qkv, attn_mask=bias)
    with sdpa_kernel(FORMULA):
        assert_close(got, scaled_dot_product_attention(*qkv, attn_mask=bias))


def test_it_refuses_a_bias_that_is_trained_and_pytorch_falls_back_without_a_word(qkv, bias):
    bias.requires_grad_()
    with (
        sdpa_kernel(FUSED),
        warnings.catch_warnings(action="ignore"),  # the reasons why it is not to be had
        pytest.raises(RuntimeError, match="No available kernel"),
    ):
        scaled_dot_product_attention(*qkv, attn_mask=bias)
    with warnings.catch_warnings(action="error"):
        scaled_dot_product_attention(*qkv, attn_mask=bias).sum().backward()
    assert bias.grad.isfinite().all()
