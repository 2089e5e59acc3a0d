"""Linear attention with decay. Theirs has the sequence before the heads, and Qwen3-Next's divides queries by √d."""

import torch
from torch.nn.functional import normalize, silu, softplus
from transformers import MiniMaxConfig
from transformers.models.mamba2.modeling_mamba2 import mamba2_chunk_scan, segment_sum
from transformers.models.minimax.modeling_minimax import MiniMaxLightningAttention
from transformers.models.qwen3_next.modeling_qwen3_next import (
    torch_recurrent_gated_delta_rule,
)

from d2lpos.content.decay import chunks, decays, delta, recurrence
from tests.parity.comparison import agreement
from tests.parity.models import DIM, FEATURES, HEADS, random_model

table = agreement("decay")
LENGTH = 150


def turned(*tensors):
    """From (batch, sequence, head, …) to (batch, head, sequence, …), or back."""
    return [x.transpose(1, 2) for x in tensors]


def both(y, state):
    """Outputs and the last state, as one tensor."""
    return torch.cat([y.flatten(), state.flatten()])


@table.row("`decays`, 150 tokens", "transformers", "Mamba-2, segment_sum", 1e-6)
def mamba2_mask():
    log_gates = -torch.rand(2, HEADS, LENGTH)
    return decays(log_gates), segment_sum(log_gates).exp()


@table.row("`chunks` of 32 tokens, from a state: outputs and state", "transformers", "Mamba-2", 1e-4)
def mamba2():
    """Keys are called B, queries C, values x; a step Δ multiplies values and log gates, and states are (e, d)."""
    x, b, c = (torch.randn(2, LENGTH, HEADS, n) for n in (8, 16, 16))
    step, rate, state = torch.rand(2, LENGTH, HEADS), -torch.rand(HEADS), torch.randn(2, HEADS, 8, 16)
    theirs, last = mamba2_chunk_scan(x, step, rate, b, c, 32, initial_states=state, return_final_states=True)
    q, k, v, log_gates = turned(c, b, x * step[..., None], step * rate)
    ours = chunks(q, k, v, log_gates, 32, state.mT)
    return both(*ours), both(theirs.transpose(1, 2), last.mT)


@table.row("Layer with constant gates, by `recurrence`: outputs and state", "transformers", "MiniMax", 1e-4)
def minimax():
    """Gates are e⁻ᵐ. In the first layer m is ALiBi's slope by the paper's rule, 1.00001 times; it falls with depth."""
    config = MiniMaxConfig(
        hidden_size=DIM, num_attention_heads=HEADS, head_dim=FEATURES, num_hidden_layers=4, block_size=32
    )
    layer = random_model(MiniMaxLightningAttention(config, layer_idx=0))
    x = torch.randn(2, LENGTH, DIM).double()
    projected = silu(layer.qkv_proj(x)).unflatten(-1, (HEADS, 3 * FEATURES))
    log_gates = -layer.slope_rate[:, 0].expand(HEADS, LENGTH)
    y, state = recurrence(*turned(*projected.chunk(3, dim=-1)), log_gates)
    y = layer.out_proj(layer.output_gate(x).sigmoid() * layer.norm(y.transpose(1, 2).flatten(-2)))
    return both(y, state), both(*layer(x, None, None))


@table.row("`delta`, from a state: outputs and state", "transformers", "Qwen3-Next, recurrent", 1e-5)
def qwen3_next():
    q, k, v = (torch.randn(2, LENGTH, HEADS, n) for n in (16, 16, 8))
    beta, log_gates = torch.rand(2, LENGTH, HEADS), -softplus(torch.randn(2, LENGTH, HEADS))
    k, state = normalize(k, dim=-1), torch.randn(2, HEADS, 16, 8)
    y, last = torch_recurrent_gated_delta_rule(q, k, v, log_gates, beta, initial_state=state, output_final_state=True)
    return both(*delta(*turned(q / 4, k, v, log_gates, beta), state)), both(y.transpose(1, 2), last)
