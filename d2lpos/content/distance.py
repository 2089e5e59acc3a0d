"""Content's own ruler: what a text lays between a query and a key, by the order of the positions alone.

FoX, CoPE and PaTH (`d2lpos.content.fox`, `d2lpos.content.cope`, `d2lpos.content.path`) read from the words how far one is from another. A
position then only tells what comes before what. What a query does not see counts for nothing, so that texts in one
row, and padding, measure nothing of each other.
"""

import torch
from torch import Tensor
from torch.nn.functional import pad

from ..positions.arguments import (
    check_boolean,
    check_broadcast,
    check_flag,
    check_floating,
    check_layer_dtype,
    check_size,
)
from ..positions.checks import signed
from ..transformer.masks import causal_mask, over_heads

__all__ = ["gated_distance"]


def gated_distance(
    gates: Tensor,
    q_positions: Tensor,
    k_positions: Tensor,
    visible: Tensor | None = None,
    own: bool = False,
) -> Tensor:
    """For each pair the sum of the gates that stand behind the key, up to the query; (batch, head, query, key).

    gates are (batch, head, query, key), one for each token that a query may count, or (batch, head, 1, key). visible
    is Boolean as in `attend`: a query counts what it sees, and nothing ahead of it. With own, the key's gate counts,
    too. Where the key is ahead of the query, the sum is empty: 0.

    >>> gates, here = torch.tensor([[[[1.0, 2.0, 4.0]]]]), torch.arange(3)
    >>> gated_distance(gates, here, here)
    tensor([[[[0., 0., 0.],
              [2., 0., 0.],
              [6., 4., 0.]]]])
    """
    check_flag(own=own)
    counted = between(q_positions, k_positions, visible)
    check_floating("gates", gates, counted.device)
    check_broadcast(gates=gates, q_positions=counted)
    check_size("gates", gates.shape[-1], counted.shape[-1], "keys, as k_positions has")
    if k_positions.dim() > 2:
        raise ValueError(f"k_positions must be (sequence,) or (batch, sequence); got {tuple(k_positions.shape)}")
    places = torch.atleast_2d(signed("k_positions", k_positions))
    ordered, order = places.sort(dim=-1, descending=True)  # (batch, key)
    behind = torch.searchsorted(-ordered, -places, right=own)  # how many tokens stand behind each key
    gates = torch.where(counted, gates, 0)
    sums = pad(gates.gather(-1, order[:, None, None].expand(gates.shape)).cumsum(dim=-1), (1, 0))
    return sums.gather(-1, behind[:, None, None].expand(gates.shape))


def between(q_positions: Tensor, k_positions: Tensor, visible: Tensor | None) -> Tensor:
    """True where a token counts for a query: at or before it, and seen; (…, query, key), with heads."""
    counted = over_heads(causal_mask(q_positions, k_positions))
    if visible is None:
        return counted
    check_boolean("visible", visible, ", True for what a query sees", counted.device)
    visible = over_heads(visible)
    check_size("visible", visible.shape[-1], counted.shape[-1], "keys, as k_positions has")
    check_broadcast(q_positions=counted, visible=visible)
    return counted & visible


def check_hidden(x: Tensor, weight: Tensor) -> None:
    """Raise a TypeError or ValueError where x is not (batch, sequence, dim), as the weights that read it want it."""
    check_floating("x", x, weight.device)
    if x.dim() != 3:
        raise ValueError(f"x must be (batch, sequence, dim); got {tuple(x.shape)}")
    check_size("x", x.shape[-1], weight.shape[-1], "features")
    check_layer_dtype(x, weight)


def check_hidden_features(hidden_features: Tensor | None, k: Tensor, numbers: int, name: str) -> None:
    """Raise a TypeError or ValueError where hidden_features is not what `name` has of the tokens of k."""
    if hidden_features is None:
        raise TypeError(f"hidden_features must be a tensor: {name} needs {name}.hidden_features(x); got None")
    check_floating("hidden_features", hidden_features, k.device)
    want = (*k.shape[:-1], numbers)
    if hidden_features.shape != want:
        got = tuple(hidden_features.shape)
        raise ValueError(f"hidden_features must be (batch, head, key, number) = {want}; got {got}")
