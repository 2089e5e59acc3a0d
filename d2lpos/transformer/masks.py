"""Masks: which keys a query may see, and how a program is told without a number for each pair.

Positions are data, so a mask is found from them. It is built only where a program cannot be told in another way:
PyTorch's causal attention knows the mask of keys in order by its name.
"""

from functools import reduce
from operator import and_

import torch
from torch import Tensor

from ..positions.arguments import check_boolean, check_flag, check_positive, check_size, check_tensor
from ..positions.checks import check_places, check_real, column_and_row, own_copy, signed, token_axis
from ..positions.looks import Look, extent, is_integer, known, none_later, remember, rises
from ..positions.packing import are_runs, cu_seqlens
from ..positions.position_ids import check_segments

__all__ = ["Mask", "causal_mask", "segment_mask", "window_mask"]

WORTHWHILE = 32  # tokens of a text, on average: for shorter ones, one mask costs less than a call for each


def causal_mask(q_positions: Tensor, k_positions: Tensor) -> Tensor:
    """True where a key stands at or before the query, by position; (…, query, key).

    >>> causal_mask(torch.tensor([4, 5]), torch.tensor([3, 4, 5, 6]))
    tensor([[ True,  True, False, False],
            [ True,  True,  True, False]])
    """
    q, k = signed("q_positions", q_positions), signed("k_positions", k_positions)
    column, row = column_and_row(q, k, "positions")
    return row <= column


def segment_mask(q_segments: Tensor, k_segments: Tensor) -> Tensor:
    """True where query and key belong to the same segment; (…, query, key).

    Packed sentences are segments. So is padding: a segment that no real token belongs to.

    >>> segments = torch.tensor([0, 0, 1])
    >>> segment_mask(segments, segments)
    tensor([[ True,  True, False],
            [ True,  True, False],
            [False, False,  True]])
    """
    check_kind("q_segments", q_segments)
    check_kind("k_segments", k_segments)
    column, row = column_and_row(q_segments.long(), k_segments.long(), "segments")
    return column == row


def check_kind(name: str, segments: Tensor) -> None:
    """Raise a TypeError where segments are neither integers nor Boolean, so that equality might be by chance."""
    check_tensor(name, segments)
    if not is_integer(segments) and segments.dtype != torch.bool:
        raise TypeError(f"{name} must be integers or Boolean; got {segments.dtype}")


def window_mask(q_positions: Tensor, k_positions: Tensor, window: int) -> Tensor:
    """True where a key stands at less than `window` positions from the query, on either side; (…, query, key).

    With a causal mask, these are the last `window` keys, the query's own included. Source: Beltagy et al. 2020,
    section 3.1 (arXiv 2004.05150).

    >>> window_mask(torch.tensor([4]), torch.arange(6), window=2)
    tensor([[False, False, False,  True,  True,  True]])
    """
    check_positive(window=window)
    q, k = signed("q_positions", q_positions), signed("k_positions", k_positions)
    if q.is_floating_point() or k.is_floating_point():
        q, k = q.double(), k.double()  # float32 may round where a window is added
    column, row = column_and_row(q, k, "positions")
    return (column - window < row) & (row < column + window)


def count(start: int, stop: int, device: torch.device) -> Tensor:
    """The integers from start to stop − 1, (stop − start,)."""
    return remember(torch.arange(start, stop, device=device), Look(start, stop - 1, rising=True))


def check_mask(mask: Tensor, full: tuple[int, int, int, int], device: torch.device) -> None:
    """Raise a TypeError or ValueError where mask is not Boolean or does not broadcast to the logits."""
    check_boolean("mask", mask, ", True where a query may look", device)
    sizes = zip(reversed(over_heads(mask).shape), reversed(full), strict=False)
    if not 2 <= mask.dim() <= 4 or any(have not in (1, want) for have, want in sizes):
        raise ValueError(
            f"mask must broadcast to (batch, head, query, key) = {full}; got {tuple(mask.shape)}"
        )


def over_heads(mask: Tensor) -> Tensor:
    """The mask with an axis for heads, where it has none."""
    return mask[..., None, :, :] if mask.dim() == 3 else mask  # (batch, 1, query, key)


class Mask:
    """Which keys each query may see, found once for all layers of a call; the pairs are built when asked for.

    causal: keys at or before the query, by position. segments: keys of the same segment, (sequence,) or
    (batch, sequence). window: keys at less than `window` positions, as `window_mask`. allowed: a Boolean mask
    besides. k_positions: those of the queries, where none are given. axes: the coordinates of a position; where they
    are several, positions are (…, sequence, axes) and order nothing, so causal means the order of the tokens, of
    which the queries are the last.

    Where a key's index tells what its position would, a program needs no pairs: `everything` is visible, as to a
    new token behind a cache; positions rise `in_order`; each of the texts in a row does, and `doc_lens` has their
    lengths. A window counts for nothing where no text is as long. Values are looked at where they can be: under torch.compile and vmap, pairs are built. So find the mask
    before, and give it to the compiled model. Raises as `positions.as_float` does, TypeError where allowed is not Boolean,
    segments no integers or causal not True or False, ValueError where window is not positive.

    >>> Mask(torch.tensor([0, 1, 5])).in_order
    True
    >>> Mask(torch.tensor([7, 7])).dense
    tensor([[True, True],
            [True, True]])
    """

    def __init__(
        self,
        q_positions: Tensor,
        k_positions: Tensor | None = None,
        allowed: Tensor | None = None,
        segments: Tensor | None = None,
        causal: bool = True,
        window: int | None = None,
        axes: int = 1,
    ):
        check_flag(causal=causal)
        check_real("q_positions", q_positions)
        if k_positions is not None and k_positions is not q_positions:
            check_real("k_positions", k_positions)
        check_positive(axes=axes)
        self.axes = axes
        self.q_positions, self.causal, self.allowed, self.segments = q_positions, causal, allowed, segments
        self.k_positions = q_positions if k_positions is None else k_positions
        self.check_pairs()
        self.window = window
        self.q_order, self.k_order = self.q_positions, self.k_positions
        if axes > 1:
            if window is not None:
                raise ValueError(f"window needs positions of one axis; got {axes}")
            keys = self.k_positions.shape[-2]
            self.k_order = count(0, keys, self.k_positions.device)
            ahead = keys - self.q_positions.shape[-2]
            self.q_order = count(ahead, keys, self.k_positions.device) if ahead else self.k_order
        self.everything = self.in_order = False
        self.doc_lens = self.built = self.copied = None
        if window is not None:
            check_positive(window=window)
        if allowed is not None or window is not None and not self.all_near():
            return
        if segments is not None:
            self.doc_lens = self.find_doc_lens()
        elif not causal:
            self.everything = True
        elif (
            (q := known(self.q_order)) is not None and (k := known(self.k_order)) is not None and q.numel()
        ):
            q = signed("q_positions", q)
            k = q if self.k_positions is q_positions else signed("k_positions", k)
            if q.shape == k.shape and (q is k or torch.equal(q, k)):
                self.in_order = rises(q)
            elif k.numel():
                self.everything = none_later(k, q)

    def check_pairs(self) -> None:
        """Raise a TypeError or ValueError where segments are not one for each token, or `allowed` says nothing of each pair."""
        check_places(self.q_positions, self.axes, "Mask", "q_positions")
        check_places(self.k_positions, self.axes, "Mask", "k_positions")
        queries, keys = (p.shape[token_axis(self.axes)] for p in (self.q_positions, self.k_positions))
        if self.segments is not None:
            check_segments(self.segments)
            for tokens, what in (queries, "query"), (keys, "key"):
                check_size("segments", self.segments.shape[-1], tokens, f"members, one for each {what}")
        if self.allowed is not None:
            check_boolean("allowed", self.allowed, ", True where a query may look", self.q_positions.device)
            shape = tuple(self.allowed.shape)
            if len(shape) < 2 or shape[-2] not in (1, queries) or shape[-1] not in (1, keys):
                raise ValueError(f"allowed must be (…, query, key) = (…, {queries}, {keys}); got {shape}")

    def with_window(self, window: int | None) -> "Mask":
        """This mask with a window besides; itself, where it has one as narrow."""
        if window is None or self.window is not None and self.window <= window:
            return self
        return Mask(self.q_positions, self.k_positions, self.allowed, self.segments, self.causal, window, self.axes)

    def copied_k_positions(self) -> Tensor:
        """A copy of the keys' positions, which caches keep: the caller may count the tensor that it gave up in place.

        All layers that share the mask share the copy.
        """
        if self.copied is None:
            self.copied = own_copy("k_positions", self.k_positions)
        return self.copied

    def all_near(self) -> bool:
        """Whether no key stands outside the window of any query, as far as one can look."""
        q, k = known(self.q_positions), known(self.k_positions)
        if q is None or k is None or not q.numel() or not k.numel():
            return False
        ends = *extent(q), *extent(k)
        return max(ends) - min(ends) < self.window

    def find_doc_lens(self) -> tuple[int, ...] | None:
        """The lengths of the texts, where each is worth a call of its own and needs no pairs."""
        positions, segments = known(self.q_order), known(self.segments)
        if positions is None or segments is None or not segments.numel():
            return None
        if not are_runs(segments := segments.long()):  # of some unsigned ones PyTorch takes no difference
            return None
        lengths = tuple(cu_seqlens(segments).diff().tolist())
        rising = signed("q_positions", positions).diff(dim=-1) > 0
        apart = segments.diff(dim=-1) != 0
        if segments.numel() < WORTHWHILE * len(lengths) or self.causal and not (rising | apart).all():
            return None
        return lengths

    @property
    def dense(self) -> Tensor | None:
        """True where a query may look, (query, key), (batch, query, key) or with heads; None for everywhere."""
        if self.built is None and not self.everything:
            self.built = self.build()
        return self.built

    def build(self) -> Tensor:
        masks = [] if self.allowed is None else [over_heads(self.allowed)]
        if self.causal:
            masks.append(over_heads(causal_mask(self.q_order, self.k_order)))
        if self.window is not None:
            masks.append(over_heads(window_mask(self.q_positions, self.k_positions, self.window)))
        if self.segments is not None:
            masks.append(over_heads(segment_mask(self.segments, self.segments)))
        return reduce(and_, masks)
