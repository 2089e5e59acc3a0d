"""Keys in few bits, before or after they turn: what a cache that is rounded costs SmolLM2.

A group of numbers has its own least and largest one, and 2 ** bits levels from the one to the other. A group is a key of
one head ("token"), or a feature of one head over all tokens or over 32 ("channel"). Values stay as they are. All keys are rounded,
the newest too, and the levels are taken from the passage itself: a server would keep the newest keys as they are
or take the levels from other texts. The model computes in bfloat16, whose numbers have 8 bits of precision themselves.

Decided before the runs. Passages are the unit, and 95 % intervals are Student's over five passages of each text. Of these
sentences each falls by what stands behind it, in any of the three texts:
1. By channel at 3 bits, to round before the turn is better: refuted unless after − before has an interval above 0.
2. By token, before or after is the same: refuted unless the interval of after − before at 3 bits lies within ± 0.05 nats.
3. It is the fast pairs: refuted unless after − before at 2 bits by channel has an interval above 0 where pairs 0 to 15 alone
   are rounded, and one within ± 0.05 where pairs 16 to 31 alone are.
4. By channel is better than by token: refuted unless token − channel has an interval above 0, both after the turn, at 3 bits.

The runs in float32 came after these verdicts, on another processor: at 2 bits a rounding may take a number to another level.
"""

from collections.abc import Callable

import torch
from torch import Tensor

from ..encoding import Encoding
from ..positions.arguments import check_name, check_positive
from ..pretrained.smollm2 import losses
from ..rotary.rope import RoPE
from .probe import Probe, loaded, tokens
from .real import mean

__all__ = ["RoundedKeys", "StoredKeys", "bits", "rounded"]

AXES = {"token": -1, "channel": -2}
GROUP = 32  # tokens that share the levels of a channel in KIVI


def rounded(x: Tensor, bits: int, by: str, group: int | None = None) -> Tensor:
    """x (…, sequence, feature) on 2 ** bits levels between the least and the largest number of each group.

    by: "token", a group is a token's features; or "channel", a feature over all tokens, or over `group` neighbors of them.
    Raises ValueError for another `by`, and for bits or a group that are not positive.

    >>> rounded(torch.tensor([[0.0, 4.0, 9.0]]), bits=1, by="token")
    tensor([[0., 0., 9.]])
    """
    check_name("by", by, AXES)
    check_positive(bits=bits)
    if group is not None:
        check_positive(group=group)
        return torch.cat([rounded(part, bits, by) for part in x.split(group, dim=-2)], dim=-2)
    low, high = x.aminmax(dim=AXES[by], keepdim=True)
    step = (high - low) / (2**bits - 1)
    return low + step * ((x - low) / step.where(step > 0, 1)).round()


class StoredKeys(Encoding):
    """RoPE whose keys are stored by a function, before they turn or after.

    >>> k, here = torch.randn(1, 1, 5, 8), torch.arange(5)
    >>> one = StoredKeys(RoPE(8), torch.round).rotate(k, k, here, here)[1]
    >>> one.equal(one.round())
    True
    """

    def __init__(self, own: Encoding, store: Callable[[Tensor], Tensor], before: bool = False):
        super().__init__()
        self.own, self.store, self.before = own, store, before

    def rotate(self, q: Tensor, k: Tensor, q_positions: Tensor, k_positions: Tensor) -> tuple[Tensor, Tensor]:
        k = self.store(k) if self.before else k
        q, k = self.own.rotate(q, k, q_positions, k_positions)
        return q, k if self.before else self.store(k)


class RoundedKeys(StoredKeys):
    """RoPE whose keys are `rounded`, before they turn or after.

    first: so many tokens keep their keys. pairs: slice of the pairs that are rounded; the others keep their numbers.

    >>> own, k = RoPE(8), torch.randn(1, 1, 5, 8)
    >>> both = RoundedKeys(own, 2, "channel", before=True).rotate(k, k, *[torch.arange(5)] * 2)
    >>> len(both[1][0, 0, :, 0].unique()) > 4  # four levels, turned
    True
    """

    def __init__(
        self,
        own: RoPE,
        bits: int,
        by: str,
        before: bool,
        group: int | None = None,
        first: int = 0,
        pairs: slice = slice(None),
    ):
        super().__init__(own, self.stored, before)
        self.bits, self.by, self.group = bits, by, group
        self.first, self.pairs = first, pairs

    def stored(self, k: Tensor) -> Tensor:
        """What the cache gives back of keys (batch, head, sequence, feature)."""
        pairs = k.unflatten(-1, (2, -1) if self.own.layout == "half" else (-1, 2))
        axis = -1 if self.own.layout == "half" else -2
        some = torch.arange(pairs.shape[axis], device=k.device)[self.pairs]
        part = pairs.index_select(axis, some)[:, :, self.first :]
        levels = rounded(part.flatten(-2).float(), self.bits, self.by, self.group).to(k)
        levels = levels.unflatten(-1, part.shape[-2:])
        whole = torch.cat([pairs.index_select(axis, some)[:, :, : self.first], levels], dim=2)
        return pairs.index_copy(axis, some, whole).flatten(-2)


def bits(probe: Probe, device: str) -> list[dict]:
    """The loss with keys in few bits, a row for each way; before and after stand in `turn`."""
    model, text = loaded(probe.model, probe.dtype, device), tokens(probe, device)
    half = model.encoding.dim // 4
    ways = {
        f"{count} bits by {by}": {"bits": count, "by": by}
        for count in (8, 4, 3, 2)
        for by in ("token", "channel")
    }
    two = {"bits": 2, "by": "channel"}
    ways |= {
        "2 bits by channel, 32 tokens": two | {"group": GROUP},
        "2 bits by channel, first token kept": two | {"first": 1},
        "2 bits by channel, fast half": two | {"pairs": slice(half)},
        "2 bits by channel, slow half": two | {"pairs": slice(half, None)},
    }
    rows = [{"case": "as trained", "way": "as trained", "turn": None, "loss": mean(losses(model, text))}]
    for way, how in ways.items():
        for turn in ("before", "after"):
            one = RoundedKeys(model.encoding, before=turn == "before", **how)
            loss = mean(losses(model, text, encoding=one))
            rows.append({"case": f"{way}, {turn} the turn", "way": way, "turn": turn, "loss": loss})
    return rows
