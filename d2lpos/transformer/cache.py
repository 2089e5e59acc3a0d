"""The KV cache: the keys and values of earlier tokens, which a layer keeps while text is generated."""

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

    Keys are kept as they are before door 2, and are rotated again at each step. So the cache works with every
    encoding, and positions can still change. With rotated=True keys are kept as they are after door 2, which
    saves this work. That is right only if the frequencies do not change and the encoding opens no other door
    in attention. keys and values are (batch, head, sequence, feature), positions (sequence,) or (batch, sequence),
    with the axes last if there are several. The `hidden_features` of an encoding are kept beside the keys.

    New keys and values are copied, and so are positions, so a caller may change its own tensor of positions in place. The
    tokens in the cache are copied at each step, too, so n steps copy on the order of n² numbers. To avoid this, give a
    capacity: the first call allocates memory for that many tokens, later calls write into it, and it doubles when it is
    full. Writing into it would spoil the gradients of earlier steps, so a capacity needs torch.no_grad.

    Raises TypeError if keys, values or positions are not tensors, or if only some of the three are given, and ValueError
    if they differ in the number of tokens.

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

        Raises ValueError if an argument differs from what is kept in any axis but the sequence, or if the arguments differ
        in the number of tokens.
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
        """A new cache of this kind in which each tensor is change(tensor, its axis of tokens)."""
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
        """As `append`, but into memory with free capacity; the numbers after the kept tokens are not used."""
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
    """A cache of the first `sinks` tokens and the last `window`, at their old positions; the given cache is not changed.

    Attention to it equals attention with a mask that hides the dropped tokens. The first tokens are kept because
    trained models give them a large share of the weight (attention sinks). For a stream in chunks, such as speech, keep no
    first tokens (sinks=0) and a window of the chunks to the left; see `Attention`. Raises ValueError for an empty cache, a
    window that is not positive, or negative sinks.

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
    """A cache of the first `length` tokens, as it was before the others came; the given cache is not changed.

    Use it to take back a draft that was refused. After an eviction only later tokens can be taken back, because an earlier
    state would need tokens that were dropped. Raises ValueError for an empty cache, a negative length, a length above the
    number of kept tokens or below the number that an eviction left, and TypeError for a length that is no integer.

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
    """A cache whose row i is row rows[i] of the given cache, which is not changed; rows (n,) are integers.

    In beam search a beam may be continued several times or not at all, so n may differ from the batch. Raises TypeError if
    rows are not integers, and ValueError for an empty cache, for rows that are not (n,), or for a row that does not exist.

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
    """A cache of the same tokens at other positions; the given cache is not changed.

    Keys that are not rotated yet do not depend on positions, so only the positions change, and nothing is rounded. Rotated
    keys are rotated further, by R(new − old), without the attention factor, which they already have. Each rotation rounds:
    in float32 even hundreds change only the last digits, but in bfloat16 they would spoil the keys. Raises TypeError for
    rotated keys in bfloat16 or float16 and for an encoding without `rotate_further`, and ValueError for an empty cache or
    positions that do not fit.

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
