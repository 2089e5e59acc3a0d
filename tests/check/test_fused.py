"""The checks of the project of a fused program: each reference beside the package, PyTorch, or a clock of its own."""

import time

import pytest
import torch
from torch.nn.attention.flex_attention import create_block_mask, flex_attention
from torch.testing import assert_close

from d2lpos import ALiBi, T5Bias
from d2lpos.bias.alibi import slopes
from d2lpos.check import fused as check
from d2lpos.check.fused.block_states import apart
from d2lpos.check.fused.measure import LAUNCH, Machine
from d2lpos.transformer import attend, causal_mask, segment_mask, window_mask
from tests.check.right import accepted


def by_row_then_place(slopes, q_positions, k_positions):
    """As FlexAttention allows, which asks for one pair at a time."""
    return lambda score, b, h, q, k: score - slopes[h] * (q_positions[b][q] - k_positions[b][k]).abs()


test_accepted = accepted({check.alibi_mod: [by_row_then_place]})

N = 150  # more than a block
HERE = torch.stack([torch.arange(N), 2 * torch.arange(N).flip(0)])
TEXTS = torch.stack([torch.arange(N) // 50, torch.arange(N) // 75])
LAST = slice(N - 3, N)  # what comes behind a cache
eager = pytest.mark.filterwarnings("ignore:flex_attention called without torch.compile")


def inputs():
    return torch.randn(3, 2, 4, N, 8, generator=torch.Generator().manual_seed(0))


@eager
@pytest.mark.parametrize("place", [slice(None), LAST])
def test_the_rule_of_alibi_is_that_of_the_package(place):
    q, k, v = inputs()
    q, here = q[:, :, place], HERE[:, place]
    rule = check.alibi_mod.reference(slopes(4), here, HERE)
    assert_close(flex_attention(q, k, v, rule), attend(q, k, v, here, HERE, ALiBi(4)), atol=1e-5, rtol=1e-5)


@eager
@pytest.mark.parametrize("place", [slice(None), LAST])
def test_the_rule_of_t5_gives_scores_that_are_not_divided(place):
    q, k, v = inputs()
    q, here, t5 = q[:, :, place], HERE[:, place], T5Bias(4, bidirectional=False)
    with torch.no_grad():
        t5.table.normal_(generator=torch.Generator().manual_seed(1))
        got = flex_attention(q, k, v, check.t5_mod.reference(t5.table, 8, here, HERE))
        assert_close(got, attend(8**0.5 * q, k, v, here, HERE, t5), atol=1e-4, rtol=1e-4)


def test_the_mask_is_that_of_the_package_and_flexattention_skips_the_same_blocks():
    rule = check.sight.reference(20, HERE, HERE, TEXTS, TEXTS)
    wanted = causal_mask(HERE, HERE) & segment_mask(TEXTS, TEXTS) & window_mask(HERE, HERE, 20)
    row, at = torch.arange(2), torch.arange(N)
    assert torch.equal(rule(row[:, None, None], None, at[:, None], at), wanted)
    blocks = create_block_mask(rule, 2, None, N, N, device="cpu", BLOCK_SIZE=16)
    for one, mask in enumerate(wanted):
        states = check.block_states.reference(mask, 16)
        assert torch.equal(blocks.to_dense()[one, 0] > 0, states > 0)
        assert torch.equal(blocks.full_kv_num_blocks[one, 0], (states == 2).sum(dim=1, dtype=torch.int32))


def test_the_share_that_is_left_is_that_of_the_blocks():
    back = apart(4096)
    states = check.block_states.reference((back >= 0) & (back < 512), 128)
    assert (states > 0).float().mean().item() == check.block_states.answers[0].right


def test_the_stopwatch_tells_the_time_of_a_real_clock():
    times = check.measure.reference({"one": lambda: time.sleep(0.02), "two": lambda: time.sleep(0.01)}, 5, time.perf_counter, int)
    assert times["one"][2] == 1 and 1.2 < times["two"][2] < 3
    assert times["one"][1] >= 0.02 and times["two"][0] >= 0.01


@pytest.mark.parametrize("queue", [True, False])
def test_a_pretended_machine_has_done_its_work_after_waiting(queue):
    machine = Machine({"one": (15, 3)}, queue=queue)
    call = machine.contenders()["one"]
    call()
    assert machine.clock() == 15 + LAUNCH + 3 * (not queue)
    machine.wait()
    assert machine.clock() == 18 + LAUNCH
