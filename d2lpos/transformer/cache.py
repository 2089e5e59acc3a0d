"""The memory of decoding: what a layer keeps of the tokens it has seen."""

from collections.abc import Callable
from contextlib import nullcontext

import torch
from torch import Tensor

from ..encoding import Encoding, check_encoding, closed
from ..positions.arguments import check_count, check_flag, check_positive, check_tensor
from ..positions.checks import as_index, check_positions, own_copy, signed, token_axis
from ..positions.looks import both, recall, remember

__all__ = ["Cache", "crop", "evict", "rebase", "reorder"]


class Cache:
    """Keys and values of earlier tokens, with their positions; one for each layer, empty at first.

    Keys are kept as they were before door 2, and turn anew whenever a query meets them. So the cache serves
    every encoding, and no position's angle is frozen into it. With rotated=True they are kept as they are after
    door 2, which saves that work: right as long as the frequencies stay, and for encodings that open no other door
    in attention. keys and values are (batch, head, sequence, feature), positions (sequence,) or (batch, sequence),
    with their axes last where there are several. The `hidden_features` of an encoding are kept beside their keys.

    What a layer or `append` adds is copied, and so are positions that are given here, so that a caller may count its own
    up in place. What was kept is copied, too, at each step: n steps copy of the order of n² numbers. With capacity, the
    first call takes memory for so many tokens, later ones write into it, and twice as much is taken where it does not
    suffice. That would spoil the gradients of earlier steps, so it needs torch.no_grad.

    Raises TypeError where keys, values or positions are no tensors, or some are given and others are not; ValueError where
    they are not as many tokens.

    >>> cache, one = Cache(), torch.zeros(1, 2, 1, 8)
    >>> for position in torch.arange(3).split(1):
    ...     cache = Cache(*cache.append(one, one, position))
    >>> cache.keys.shape, cache.positions
    (torch.Size([1, 2, 3, 8]), tensor([0, 1, 2]))
    """

    def __init__(
        self,
        keys: Tensor | None = None,
        values: Tensor | None = None,
        positions: Tensor | None = None,
        rotated: bool = False,
        capacity: int = 0,
        axes: int = 1,
    ):
        check_count(capacity=capacity)
        check_positive(axes=axes)
        check_flag(rotated=rotated)
        self.rotated, self.capacity, self.axes, self.along = rotated, capacity, axes, token_axis(axes)
        if not keys is values is positions is None:
            check_tokens(keys, values)
            self.check_each(positions, keys)
            positions = own_copy("positions", positions)
        self.keys, self.values, self.positions = keys, values, positions
        self.shortest = 0  # the tokens that `crop` must leave, because others before the last of them were evicted
        self.hidden_features: Tensor | None = None
        self.buffers: dict[str, Tensor] = {}
        self.filled: dict[str, Tensor] = {}  # the part of a buffer that is kept

    def append(self, keys: Tensor, values: Tensor, positions: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """All keys, values and positions, with the newest tokens last; the cache stays as it is.

        Raises ValueError where an argument differs from what is kept in another axis than the sequence, and where they
        are not as many tokens.
        """
        check_tokens(keys, values)
        together = *self.append_tokens(keys, values), self.append_positions(positions)
        self.check_each(positions, keys)
        return together

    def append_tokens(self, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        """All keys and values, as `append`."""
        join = self.written if self.capacity else append
        return join("keys", self.keys, keys, -2), join("values", self.values, values, -2)

    def append_positions(self, positions: Tensor) -> Tensor:
        """All positions, as `append`."""
        new = own_copy("positions", positions)
        if self.positions is None:
            return new
        with nullcontext() if torch.compiler.is_compiling() else torch.inference_mode(False):
            return remember(append("positions", self.positions, new, self.along), both(recall(self.positions), recall(new)))

    def check_each(self, positions: Tensor, keys: Tensor) -> None:
        """Raise a TypeError or ValueError where positions are not one for each key."""
        check_tensor("positions", positions)
        want = (keys.shape[-2],) if self.axes == 1 else (keys.shape[-2], self.axes)
        if positions.shape[self.along :] != want:
            one_each = f"(…, {', '.join(map(str, want))}), one for each key"
            raise ValueError(f"positions must be {one_each}; got {tuple(positions.shape)}")

    def changed(self, change: Callable[[Tensor, int], Tensor]) -> "Cache":
        """A new cache of this kind, with what `change` makes of each tensor, whose axis of tokens it gets, too."""
        new = Cache(rotated=self.rotated, capacity=self.capacity, axes=self.axes)
        new.shortest = self.shortest
        new.keys, new.values = change(self.keys, -2), change(self.values, -2)
        new.positions = own_copy("positions", change(self.positions, self.along))
        new.hidden_features = None if self.hidden_features is None else change(self.hidden_features, -2)
        return new

    def append_hidden_features(self, hidden_features: Tensor | None) -> Tensor | None:
        """The hidden features of all tokens, as `append`."""
        new = hidden_features
        return None if new is None else append("hidden_features", self.hidden_features, new, -2)

    def written(self, name: str, past: Tensor | None, new: Tensor, axis: int) -> Tensor:
        """As `append`, in memory that has room; what is behind the kept tokens counts for nothing."""
        check_fit(name, past, new, axis)
        if torch.is_grad_enabled() and (new.requires_grad or past is not None and past.requires_grad):
            raise ValueError(
                f"capacity={self.capacity} needs torch.no_grad: {name} are written over those of a gradient"
            )
        before = 0 if past is None else past.shape[axis]
        after, room = before + new.shape[axis], self.buffers.get(name)
        if room is None or past is not self.filled[name] or room.shape[axis] < after:
            room = new.new_empty(*new.shape[:-2], max(self.capacity, 2 * before, after), new.shape[-1])
            if before:
                room[..., :before, :] = past
        room[..., before:after, :] = new
        self.buffers[name], self.filled[name] = room, room[..., :after, :]
        return self.filled[name]


def rotated(q: Tensor, k: Tensor, positions: Tensor, encoding: Encoding) -> tuple[Tensor, Tensor, Encoding]:
    """Queries and keys behind door 2, and the encoding that is left; for a cache of turned keys."""
    if "rotate" not in encoding.doors:
        return q, k, encoding
    if {"score", "value"} & set(encoding.doors):
        raise ValueError(
            f"a cache of turned keys needs an encoding whose doors 3 and 4 are closed; got {encoding.doors}"
        )
    return *encoding.rotate(q, k, positions, positions), closed(encoding.axes)


def evict(cache: Cache, sinks: int, window: int) -> Cache:
    """A cache of the first `sinks` tokens and the last `window`, where they stood; the given one stays.

    Attention then is what it was with a mask over the tokens that have gone. The first tokens are kept because
    trained models put weight there that has nowhere else to go. Between the chunks of a stream, as speech comes, no first
    tokens are kept (sinks=0), and a window of the chunks to the left; see `Attention`. Raises ValueError for an empty cache, a window
    that is not positive or negative sinks.

    Source: Xiao et al. 2024, section 3.2 (arXiv 2309.17453).

    >>> x = torch.randn(1, 2, 9, 8)
    >>> evict(Cache(x, x, torch.arange(9)), sinks=2, window=3).positions
    tensor([0, 1, 6, 7, 8])
    """
    check_kept(cache)
    check_positive(window=window)
    check_count(sinks=sinks)
    length = cache.keys.shape[-2]
    first, last = min(sinks, length), max(length - window, min(sinks, length))

    def some(x: Tensor, axis: int) -> Tensor:
        return torch.cat([x.narrow(axis, 0, first), x.narrow(axis, last, length - last)], dim=axis)

    left = cache.changed(some)
    if last > first:
        left.shortest = left.keys.shape[-2]
    return left


def crop(cache: Cache, length: int) -> Cache:
    """A cache of the first `length` tokens, as if the others had never come; the given one stays.

    So a draft that is refused is taken back. Where tokens were evicted, only what came after them can be taken back,
    because a token before would need some that have gone. Raises ValueError for an empty cache, a negative length, one
    above the tokens that are kept, and one below those that an eviction left; TypeError for one that is no integer.

    >>> x = torch.randn(1, 2, 5, 8)
    >>> crop(Cache(x, x, torch.arange(5)), 3).positions
    tensor([0, 1, 2])
    """
    check_kept(cache)
    check_count(length=length)
    if length > (length_now := cache.keys.shape[-2]):
        raise ValueError(f"length must be at most {length_now}, the tokens that are kept; got {length}")
    if length < cache.shortest:
        raise ValueError(f"length must be at least {cache.shortest}, the tokens that an eviction left; got {length}")
    if not length:
        return Cache(rotated=cache.rotated, capacity=cache.capacity, axes=cache.axes)
    return cache.changed(lambda x, axis: x.narrow(axis, 0, length))


def reorder(cache: Cache, rows: Tensor) -> Cache:
    """A cache whose row i is the row rows[i] of the given one, which stays; rows (n,) are integers.

    Of beams, the best may go on more than once and others not at all, so n need not be the batch. Raises TypeError for
    rows that are no integers, ValueError for an empty cache, rows that are not (n,), and one that is not there.

    >>> x = torch.arange(2.0).reshape(2, 1, 1, 1)
    >>> beams = torch.tensor([1, 1, 0])
    >>> reorder(Cache(x, x, torch.arange(1)), beams).keys.flatten()
    tensor([1., 1., 0.])
    """
    check_kept(cache)
    rows = as_index(rows, "rows", len(cache.keys), "rows of the cache")
    if rows.dim() != 1 or not len(rows):
        raise ValueError(f"rows must be (n,), one for each row to be; got {tuple(rows.shape)}")
    batch = len(cache.keys)
    # One line of positions, or one row of them, may serve the batch.
    return cache.changed(lambda x, axis: x[rows] if x.dim() > -axis and len(x) == batch else x)


def rebase(cache: Cache, positions: Tensor, encoding: Encoding) -> Cache:
    """A cache of the same tokens at other positions, as if they had been kept there; the given one stays.

    Unturned keys know nothing of their positions, so these alone change, and nothing is rounded. Turned keys turn
    on by R(new − old), without the attention factor, which they have. Each such turn rounds: in float32 hundreds
    of them are lost in the last digits, in bfloat16 they spoil the keys, which is refused. Raises TypeError for
    it, and for turned keys of an encoding that has no `rotate_further`; ValueError for an empty cache and positions that
    do not fit.

    >>> x = torch.randn(1, 2, 5, 8)
    >>> from d2lpos import RoPE
    >>> cache = evict(Cache(x, x, torch.arange(5)), sinks=1, window=2)
    >>> rebase(cache, torch.arange(3), RoPE(8)).positions
    tensor([0, 1, 2])
    """
    check_kept(cache)
    check_encoding(encoding)
    tokens = cache.keys.shape[0], cache.keys.shape[-2]
    check_positions("positions", positions, tokens, cache.keys.device, cache.axes)
    keys = cache.keys
    if cache.rotated and "rotate" in encoding.doors:
        if keys.dtype.itemsize < 4:
            raise TypeError(f"turned keys must be float32 or float64, or turns spoil them; got {keys.dtype}")
        if not hasattr(encoding, "rotate_further"):
            raise TypeError(f"encoding must have rotate_further, as RoPE has, to move turned keys; got {encoding!r}")
        keys = encoding.rotate_further(keys, signed("positions", positions) - signed("positions", cache.positions))
    moved = cache.changed(lambda x, axis: x)
    moved.keys, moved.positions = keys, own_copy("positions", positions)
    return moved


def check_tokens(keys: Tensor, values: Tensor) -> None:
    """Raise a TypeError or ValueError where keys and values are not (batch, head, sequence, feature), of the same tokens."""
    for name, x in ("keys", keys), ("values", values):
        check_tensor(name, x)
        if x.dim() != 4:
            raise ValueError(f"{name} must be (batch, head, sequence, feature); got {tuple(x.shape)}")
    if keys.shape[:-1] != values.shape[:-1]:
        raise ValueError(
            f"values must differ from keys in features only; got {tuple(values.shape)} and {tuple(keys.shape)}"
        )


def append(name: str, past: Tensor | None, new: Tensor, axis: int) -> Tensor:
    """A copy of both, the new behind the kept."""
    check_fit(name, past, new, axis)
    return torch.cat([new] if past is None else [past, new], dim=axis)


def check_fit(name: str, past: Tensor | None, new: Tensor, axis: int) -> None:
    """Raise a TypeError or ValueError where new tokens differ from the kept in another axis than the sequence."""
    check_tensor(name, new, None if past is None else past.device)
    if past is None:
        return
    sizes = enumerate(zip(past.shape, new.shape, strict=False), -past.dim())
    if past.dim() != new.dim() or any(one != other for place, (one, other) in sizes if place != axis):
        raise ValueError(
            f"{name} must fit those in the cache, {tuple(past.shape)}, "
            f"in all axes but the sequence; got {tuple(new.shape)}"
        )


def check_cache(cache: Cache) -> None:
    """Raise a TypeError where cache is none."""
    if not isinstance(cache, Cache):
        raise TypeError(f"cache must be a Cache; got {type(cache).__name__}")


def check_kept(cache: Cache) -> None:
    """Raise a TypeError or ValueError where cache is none, or holds nothing yet."""
    check_cache(cache)
    if cache.keys is None:
        raise ValueError("cache must hold tokens; got an empty one")
