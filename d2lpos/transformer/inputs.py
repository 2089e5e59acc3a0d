"""What attention may be given: the errors of `attend`."""

from torch import Tensor

from ..encoding import Encoding, check_encoding
from ..positions.arguments import check_floating, check_size, check_tensor
from ..positions.checks import check_by_head, check_positions, token_axis
from .masks import Mask, check_mask


def check_inputs(
    q: Tensor, k: Tensor, v: Tensor, q_positions: Tensor, k_positions: Tensor, encoding: Encoding,
    mask: Tensor | Mask | None,
) -> Mask:
    """The mask as a `Mask`. Raise a ValueError or TypeError that names the argument which does not fit."""
    check_encoding(encoding)
    check_tensor("q", q)
    check_tensor("k", k, q.device)
    check_tensor("v", v, q.device)
    if not q.is_floating_point() or not q.dtype == k.dtype == v.dtype:
        raise TypeError(f"q, k and v must share a floating-point dtype; got {q.dtype}, {k.dtype}, {v.dtype}")
    if (
        not q.dim() == k.dim() == 4
        or not q.shape[-1]
        or (k.shape[0], k.shape[-1]) != (q.shape[0], q.shape[-1])
        or (q.shape[1] % k.shape[1] if k.shape[1] else q.shape[1])
    ):
        raise ValueError(
            "q and k must be (batch, head, sequence, feature) and differ in sequence only, "
            "or q have a multiple of k's heads; "
            f"got {tuple(q.shape)} and {tuple(k.shape)}"
        )
    if v.shape[:-1] != k.shape[:-1]:
        raise ValueError(f"v must differ from k in features only; got {tuple(v.shape)} and {tuple(k.shape)}")
    axes = encoding.axes
    for name, x, positions in ("q_positions", q, q_positions), ("k_positions", k, k_positions):
        check_by_head(name[0], x, positions, axes)
        check_positions(name, positions, (x.shape[0], x.shape[2]), q.device, axes)
    full = (*q.shape[:-1], k.shape[-2])
    if isinstance(mask, Mask):
        sequence = token_axis(axes)
        check_size("mask", mask.q_positions.shape[sequence], full[2], "queries, as q has")
        check_size("mask", mask.k_positions.shape[sequence], full[3], "keys, as k has")
    allowed = mask.allowed if isinstance(mask, Mask) else mask
    if allowed is not None:
        check_mask(allowed, full, q.device)
    return mask if isinstance(mask, Mask) else Mask(q_positions, k_positions, mask, causal=False, axes=axes)


def check_sinks(sinks: Tensor | None, q: Tensor) -> None:
    """Raise a TypeError or ValueError where sinks are not one number for each head of q."""
    if sinks is None:
        return
    check_floating("sinks", sinks, q.device)
    if sinks.shape != (q.shape[1],):
        raise ValueError(f"sinks must be (heads,) = ({q.shape[1]},); got {tuple(sinks.shape)}")
