"""FlexAttention: a compiled program that computes masks and biases pair by pair, and leaves out whole blocks.

PyTorch's `torch.nn.attention.flex_attention` takes a bias as a `score_mod` and a mask as a `BlockMask`, which lists
the blocks of pairs in which no key is visible. Dong et al. 2024 (arXiv 2412.05496).
"""

from collections.abc import Callable
from functools import cache

import torch
from torch import Tensor
from torch.nn.attention.flex_attention import BlockMask, create_block_mask, flex_attention

from ..encoding import NOPE, Encoding, adds_values, opens
from ..positions.arguments import check_flag, check_positive, check_size
from ..positions.checks import column_and_row, signed
from ..positions.position_ids import check_segments
from .inputs import check_inputs

__all__ = ["attend_flex", "block_mask", "compiled"]


def block_mask(
    q_positions: Tensor,
    k_positions: Tensor,
    causal: bool = True,
    window: int | None = None,
    q_segments: Tensor | None = None,
    k_segments: Tensor | None = None,
) -> BlockMask:
    """Which keys a query may see, for FlexAttention; positions and segments are (sequence,) or (batch, sequence).

    causal: a query sees keys at or before its position. window: it sees keys less than `window` positions away. Segments: it
    sees keys of its own segment, as in `segment_mask`. A key is visible if every rule that is given allows it. One mask
    serves all layers. Raises what `positions.as_float` raises, TypeError if causal is not True or False or segments are no
    integers, and ValueError if one of the two segments is missing, if the window is not positive, or if shapes do not fit.

    >>> here = torch.arange(256)
    >>> mask = block_mask(here, here, window=128)
    >>> mask.to_dense()[0, 0]
    tensor([[1, 0],
            [1, 1]], dtype=torch.int32)
    """
    check_flag(causal=causal)
    here, there = signed("q_positions", q_positions), signed("k_positions", k_positions)
    rules = []
    if causal:
        rules.append(lambda q, k: k[0] <= q[0])
    if window is not None:
        check_positive(window=window)
        rules.append(lambda q, k: (k[0] - q[0]).abs() < window)
    inputs = [[here], [there]]
    if q_segments is not None or k_segments is not None:
        for name, segments, side in ("q_segments", q_segments, 0), ("k_segments", k_segments, 1):
            if segments is None:
                raise ValueError(f"{name} must be given, as the other segments are; got None")
            check_segments(segments)
            check_size(name, segments.shape[-1], inputs[side][0].shape[-1], "members, one for each position")
            inputs[side].append(segments)
        rules.append(lambda q, k: q[1] == k[1])
    column_and_row(here, there, "positions")
    batch = torch.broadcast_shapes(*(x.shape[:-1] for side in inputs for x in side), (1,))[0]
    rows = None if batch == 1 else batch
    queries, keys = ([x.expand(batch, -1).contiguous() for x in side] for side in inputs)  # (batch, sequence)

    def visible(b: Tensor, head: Tensor, query: Tensor, key: Tensor) -> Tensor:
        row = b * (batch > 1)  # one row serves a batch of any size
        q, k = [x[row, query] for x in queries], [x[row, key] for x in keys]
        shown = query >= 0
        for rule in rules:
            shown = shown & rule(q, k)
        return shown

    return create_block_mask(visible, rows, None, here.shape[-1], there.shape[-1], device=here.device)


def attend_flex(
    q: Tensor, k: Tensor, v: Tensor, q_positions: Tensor, k_positions: Tensor, encoding: Encoding = NOPE,
    mask: BlockMask | None = None, program: Callable[..., Tensor] = flex_attention,
) -> Tensor:
    """`attend` by FlexAttention, through doors 2 and 3; shapes are those of `attend`.

    program: pass `compiled()` for speed. Without it PyTorch computes all pairs by the formula, and warns. On CPUs
    PyTorch's program has no gradient. Raises what `attend` raises, TypeError if an encoding opens door 3 without a
    score_mod, and ValueError if it opens door 4.

    >>> from d2lpos import ALiBi
    >>> q, here = torch.randn(1, 2, 5, 16), torch.arange(5)
    >>> attend_flex(q, q, q, here, here, ALiBi(2)).shape
    torch.Size([1, 2, 5, 16])
    """
    check_inputs(q, k, v, q_positions, k_positions, encoding, None)
    add = None
    if opens(encoding, "score"):
        if not hasattr(encoding, "score_mod"):
            raise TypeError(f"encoding must have a score_mod, as a Bias has; got {encoding!r}")
        add = encoding.score_mod(q, k, q_positions, k_positions)
    if adds_values(encoding):
        raise ValueError(
            f"encoding must leave door 4 closed: FlexAttention shows no weights; got {encoding!r}"
        )
    turned_q, turned_k = encoding.rotate(q, k, q_positions, k_positions)
    grouped = q.shape[1] != k.shape[1]
    v = encoding.rotate_values(v, k_positions)
    y = program(turned_q, turned_k, v, score_mod=add, block_mask=mask, enable_gqa=grouped)
    return encoding.unrotate_output(y, q_positions)


@cache
def compiled() -> Callable[..., Tensor]:
    """FlexAttention's program. It is compiled when it is first called, and again for other biases and masks.

    On a CPU it is compiled for each length separately, and for eight lengths at most. PyTorch 2.13 can also write programs
    for lengths that vary, but its C++ compiler refuses some of them, such as the one with ALiBi's bias.

    >>> compiled() is compiled()
    True
    """
    one_for_all, one_for_each = torch.compile(flex_attention), torch.compile(flex_attention, dynamic=False)

    def program(q: Tensor, *rest: object, **named: object) -> Tensor:
        return (one_for_each if q.device.type == "cpu" else one_for_all)(q, *rest, **named)

    return program
