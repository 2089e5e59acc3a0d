"""Rotary position embedding: queries and keys turn by an angle that grows with their position.

Su et al. 2021, section 3.2 (arXiv 2104.09864).
"""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from ..encoding import Encoding, check_tokens
from ..input.sinusoids import angles, frequencies
from ..positions.arguments import (
    check_broadcast,
    check_floating,
    check_function,
    check_members,
    check_number,
    check_positive,
    check_real_number,
    check_size,
    check_tensor,
)
from ..positions.checks import as_double, check_places
from .scaling import unscaled

__all__ = ["RoPE", "convert", "permute_qk_rows", "rotate", "rotate_fast"]

# Layouts by the names that programs and models have for them.
ELSEWHERE = {"neox": "half", "gpt-neox": "half", "rotate_half": "half", "gptj": "interleaved", "gpt-j": "interleaved"}


def rotate(x: Tensor, angles: Tensor, layout: str = "half", scale: float = 1.0) -> Tensor:
    """Turn each pair of features of x by its angle; x (…, d) and angles (…, d/2) give (…, d).

    layout is "half" (feature i pairs with i + d/2, as in NeoX and Llama) or "interleaved" (2i pairs with
    2i + 1, as in the paper); scale multiplies what was turned. Cosines and sines are taken of the angles as they come;
    the rest is computed in at least float32, and returned in the dtype of x. Raises TypeError for an x that is not
    floating-point, for half-precision angles and a scale that is no number, ValueError for an odd d, another layout,
    angles that do not number d/2, or leading axes that do not broadcast.

    >>> x, quarter = torch.arange(1.0, 5), torch.tensor([torch.pi / 2, 0])
    >>> rotate(x, quarter, "half").round()
    tensor([-3.,  2.,  1.,  4.])
    >>> rotate(x, quarter, "interleaved").round()
    tensor([-2.,  1.,  3.,  4.])
    """
    wide = check_and_upcast(x, angles, layout)
    cos, sin = cos_sin(angles, scale, wide.dtype)
    if layout == "half":
        a, b = wide.chunk(2, dim=-1)
        return torch.cat([a * cos - b * sin, b * cos + a * sin], dim=-1).to(x)
    a, b = wide[..., 0::2], wide[..., 1::2]
    return torch.stack([a * cos - b * sin, b * cos + a * sin], dim=-1).flatten(-2).to(x)  # of (…, d/2, 2)


def rotate_fast(x: Tensor, angles: Tensor, layout: str = "half", scale: float = 1.0) -> Tensor:
    """`rotate` in fewer passes over memory, to the last digit or two; arguments and errors are the same.

    An interleaved pair is a complex number in memory, and to turn it is to multiply by exp(i · angle). Halves
    change places in a copy, and are added to it. A compiler, and vmap, get `rotate`.

    >>> x, quarter = torch.arange(1.0, 5), torch.tensor([torch.pi / 2, 0])
    >>> rotate_fast(x, quarter, "interleaved").round()
    tensor([-2.,  1.,  3.,  4.])
    """
    return Turn(angles, layout, scale)(x)


class Turn:
    """`rotate_fast` by the same angles for one x after another; their cosines and sines are computed once for a dtype.

    >>> x, quarter = torch.arange(1.0, 5), torch.tensor([torch.pi / 2, 0])
    >>> Turn(quarter, "interleaved")(x).round()
    tensor([-2.,  1.,  3.,  4.])
    """

    def __init__(self, angles: Tensor, layout: str = "half", scale: float = 1.0):
        self.angles, self.layout, self.scale = angles, layout, scale
        self.multipliers: dict[torch.dtype, tuple[Tensor, ...]] = {}

    def __call__(self, x: Tensor) -> Tensor:
        """x (…, d), turned. Raises as `rotate` does."""
        wide = check_and_upcast(x, self.angles, self.layout)
        if torch.compiler.is_compiling() or any(torch.func.debug_unwrap(t) is not t for t in (x, self.angles)):
            return rotate(x, self.angles, self.layout, self.scale)
        by = self.multipliers.get(wide.dtype)
        if by is None:
            by = multipliers(*cos_sin(self.angles, self.scale, wide.dtype), self.layout)
            if self.angles.is_inference() == torch.is_inference_mode_enabled():  # else another call could not use them
                self.multipliers[wide.dtype] = by
        if self.layout == "half":
            own, swapped_in = by
            return (wide.roll(x.shape[-1] // 2, dims=-1) * swapped_in).addcmul_(wide, own).to(x)
        (unit,) = by
        pairs = wide.unflatten(-1, (-1, 2))  # (…, d/2, 2)
        if pairs.stride(-1) != 1 or any(n % 2 for n in (*pairs.stride()[:-1], pairs.storage_offset())):
            pairs = pairs.clone(memory_format=torch.contiguous_format)
        return torch.view_as_real(torch.view_as_complex(pairs) * unit).flatten(-2).to(x)  # (…, d)


def multipliers(cos: Tensor, sin: Tensor, layout: str) -> tuple[Tensor, ...]:
    """What pairs are multiplied by; cos and sin are (…, d/2).

    Of halves, (…, d) for the features as they stand and (…, d) for those of the other half in their place; of neighbors,
    complex numbers (…, d/2).
    """
    if layout == "half":
        return torch.cat([cos, cos], dim=-1), torch.cat([-sin, sin], dim=-1)
    return (torch.complex(cos, sin),)


def cos_sin(angles: Tensor, scale: float, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
    """Cosine and sine, multiplied by scale, in dtype."""
    check_number(scale=scale)
    return (scale * angles.cos()).to(dtype), (scale * angles.sin()).to(dtype)


def check_and_upcast(x: Tensor, angles: Tensor, layout: str) -> Tensor:
    """x in at least float32; raises a TypeError or ValueError as `rotate` does."""
    check_floating("x", x)
    check_tensor("angles", angles, x.device)
    if angles.dtype not in (torch.float32, torch.float64):
        raise TypeError(f"angles must be float32 or float64; got {angles.dtype}")
    if not x.dim() or x.shape[-1] % 2:
        raise ValueError(f"x must be (…, d) with an even d, because it turns in pairs; got {tuple(x.shape)}")
    if angles.shape[-1:] != (x.shape[-1] // 2,):
        raise ValueError(
            f"angles must be (…, {x.shape[-1] // 2}), one for each pair of x; got {tuple(angles.shape)}"
        )
    check_broadcast(x=x, angles=angles)
    check_layout(layout)
    return x.to(torch.promote_types(x.dtype, torch.float32))


def check_layout(layout: str) -> None:
    """Raise a ValueError for a layout that is neither."""
    if layout not in ("half", "interleaved"):
        ours = ELSEWHERE.get(layout) if isinstance(layout, str) else None
        here = f', which is "{ours}" here' if ours else ""
        raise ValueError(f'layout must be "half" or "interleaved"; got {layout!r}{here}')


def convert(x: Tensor, layout: str, rotary: int | None = None) -> Tensor:
    """Reorder features from the other layout into `layout`; x (…, d) gives (…, d).

    Turning then does the same: `rotate(convert(x, "half"), angles, "half")` equals
    `convert(rotate(x, angles, "interleaved"), "half")`, and scores of converted queries and keys are as they
    were. With `rotary`, features after the first `rotary` stay where they are. Raises TypeError for an x
    that is no tensor, ValueError for another layout and a rotary that is not even or not in 1 … d.

    >>> convert(torch.tensor([0, 0.5, 1, 1.5]), "half")
    tensor([0.0000, 1.0000, 0.5000, 1.5000])
    >>> convert(torch.tensor([0, 1, 0.5, 1.5]), "interleaved")
    tensor([0.0000, 0.5000, 1.0000, 1.5000])
    """
    check_tensor("x", x)
    if not x.dim():
        raise ValueError("x must be (…, d); got a tensor without axes")
    check_layout(layout)
    rotary = x.shape[-1] if rotary is None else rotary
    check_rotary(rotary, x.shape[-1])
    pairs = x[..., :rotary].unflatten(-1, (-1, 2) if layout == "half" else (2, -1))
    return torch.cat([pairs.mT.flatten(-2), x[..., rotary:]], dim=-1)  # (…, d)


def permute_qk_rows(weight: Tensor, heads: int, layout: str, rotary: int | None = None) -> Tensor:
    """`convert` for a checkpoint: the rows of W_q or W_k, or their bias, reordered within each head.

    weight is (heads · d, …), and so is the result. A model loaded with both converted gives the same scores
    under `layout` as before under the other. Raises as `convert` does, and ValueError where heads does not
    divide the rows.

    >>> permute_qk_rows(torch.arange(8), heads=2, layout="half")
    tensor([0, 2, 1, 3, 4, 6, 5, 7])
    """
    check_tensor("weight", weight)
    check_positive(heads=heads)
    if not weight.dim() or weight.shape[0] % heads:
        raise ValueError(f"weight must be (heads · d, …) with {heads} heads; got {tuple(weight.shape)}")
    by_head = weight.unflatten(0, (heads, -1)).movedim(1, -1)  # (heads, …, d)
    return convert(by_head, layout, rotary).movedim(-1, 1).flatten(0, 1)  # (heads · d, …)


class Rotary(Encoding):
    """Door 2 by a turn of pairs; a subclass says by which angles, in `turns`.

    It has dim, the features of a head; rotary, how many of them turn, the first ones; layout; and `scaled`, the frequencies
    and the attention factor.
    """

    shared = "both_turns"  # which has the cosines and sines
    dim: int
    rotary: int
    layout: str

    def scaled(self) -> tuple[Tensor, float]:
        """Frequencies and attention factor under the rule."""
        raise NotImplementedError

    def turns(self, positions: Tensor, omega: Tensor) -> Tensor:
        """The angle of each pair, (…, head, sequence, pairs), with one head where all turn alike."""
        raise NotImplementedError

    def rotate(self, q: Tensor, k: Tensor, q_positions: Tensor, k_positions: Tensor) -> tuple[Tensor, Tensor]:
        self.check_turned("q", q, q_positions)
        self.check_turned("k", k, k_positions)
        turn_q, turn_k = self.both_turns(q_positions, k_positions)
        return self.turned(q, turn_q), self.turned(k, turn_k)

    def rotate_at(self, x: Tensor, positions: Tensor) -> Tensor:
        """Queries or keys x (batch, head, sequence, dim), turned by their positions."""
        self.check_turned("x", x, positions, "positions")
        omega, factor = self.scaled()
        return self.turned(x, Turn(self.turns(positions, omega), self.layout, factor))

    def rotate_further(self, x: Tensor, offsets: Tensor) -> Tensor:
        """What has turned already, turned on by an offset: R(offset) R(position) = R(position + offset)."""
        self.check_turned("x", x, offsets, "offsets")
        omega, _ = self.scaled()
        return self.turned(x, Turn(self.turns(offsets, omega), self.layout))

    def both_turns(self, q_positions: Tensor, k_positions: Tensor) -> tuple[Turn, Turn]:
        """The turns of queries and of keys; one for both where they have the same positions."""
        omega, factor = self.scaled()
        turn_q = Turn(self.turns(q_positions, omega), self.layout, factor)
        if k_positions is q_positions:
            return turn_q, turn_q
        return turn_q, Turn(self.turns(k_positions, omega), self.layout, factor)

    def turned(self, x: Tensor, turn: Turn) -> Tensor:
        """x with its first `rotary` features turned; the others pass."""
        if self.rotary == self.dim:
            return turn(x)
        return torch.cat([turn(x[..., : self.rotary]), x[..., self.rotary :]], dim=-1)

    def check_turned(self, name: str, x: Tensor, positions: Tensor, named: str = "") -> None:
        """As `check_tokens`. What has no name for positions of its own turns alone, and may lack batch and heads."""
        check_floating(name, x)
        if x.dim() > 2 or not named:
            check_tokens(self, name, x, positions, named, features=self.dim)
        else:
            check_size(name, x.shape[-1] if x.dim() else 0, self.dim, f"features a head, as {type(self).__name__} has")


class RoPE(Rotary):
    """Door 2: turns queries and keys of `dim` features a head, so that scores see offsets only.

    rotary: the first `rotary` features turn, the others pass; all turn by default. The first frequency is 1,
    and the others follow from base and rotary, as in NeoX and GPT-J.

    scaling: a rule of `d2lpos.rotary.scaling`. Its attention factor multiplies what has turned, of queries and of
    keys, so that their part of the logits grows by its square; features that pass do not grow.

    axes: 2 for images, whose positions are (…, sequence, 2), row before column. The first half of the pairs
    turns by the row, the second by the column, each with frequencies of its own. Source:
    Heo et al. 2024, section 3.2 (arXiv 2403.13298); in their formula the pairs take them in turn.
    Or how many features each axis has, as [16, 56, 56] of FLUX, Qwen-Image and HunyuanVideo; in sum rotary. Then base
    may be one for each axis, as in Cosmos. A rule stretches the frequencies of each axis by themselves.

    No parameters. Raises ValueError for an odd dim, another layout, a base that is not finite and above 1,
    and a rotary that is not even, not in 1 … dim, or cannot be shared among the axes; for features of the axes that
    are odd, not positive or not rotary in sum, as many bases as there are no axes, and a rule whose attention factor
    differs among the axes; TypeError for a scaling that is no rule.

    >>> q = k = torch.ones(1, 1, 2, 8)  # batch, head, sequence, feature
    >>> here = torch.arange(2)
    >>> turned, _ = RoPE(8, rotary=4).rotate(q, k, here, here)
    >>> turned[0, 0, 1, :4]
    tensor([-0.3012,  0.9900,  1.3818,  1.0099])
    """

    def __init__(
        self, dim: int, base: float | list[float] | tuple[float, ...] = 10_000.0, layout: str = "half",
        rotary: int | None = None, scaling: Callable[[Tensor], tuple[Tensor, float]] = unscaled,
        axes: int | list[int] | tuple[int, ...] = 1,
    ):
        super().__init__()
        check_positive(dim=dim)
        self.dim, self.base, self.layout, self.scaling = dim, base, layout, scaling
        self.rotary = dim if rotary is None else rotary
        if isinstance(axes, (list, tuple)):
            check_members(check_positive, "axes", axes)
            check_rotary(self.rotary, dim)
            if any(size % 2 for size in axes) or sum(axes) != self.rotary:
                raise ValueError(f"axes must be even numbers of features, {self.rotary} in sum; got {list(axes)}")
            if isinstance(base, (list, tuple)):
                check_size("base", len(base), len(axes), "numbers, one for each axis")
            self.features = list(axes)
        else:
            check_positive(axes=axes)
            check_real_number(base=base)  # one for each axis only where each has features of its own
            if rotary is None:
                frequencies(dim, base)  # an odd dim fails here
            check_rotary(self.rotary, dim)
            if self.rotary % (2 * axes):
                raise ValueError(f"{axes} axes need a multiple of {2 * axes} features that turn; got {self.rotary}")
            self.features = [self.rotary // axes] * axes
        self.axes = len(self.features)
        self.deal = [axis for axis, size in enumerate(self.features) for _ in range(size // 2)]  # which one turns a pair
        for size, own in zip(self.features, self.bases, strict=True):
            check_scaling(scaling, size, own)
        # Other bad arguments fail here.
        self.rotate_at(torch.zeros(1, 1, dim), torch.zeros(1, self.axes, dtype=torch.int64).squeeze(-1))

    @property
    def bases(self) -> list[float]:
        """The base of each axis."""
        return list(self.base) if isinstance(self.base, (list, tuple)) else [self.base] * self.axes

    def scaled(self) -> tuple[Tensor, float]:
        """Frequencies of all pairs, (rotary/2,), axis after axis, and the attention factor."""
        ladders = list(zip(self.features, self.bases, strict=True))
        rules = {ladder: self.scaling(frequencies(*ladder)) for ladder in dict.fromkeys(ladders)}
        if len({factor for _, factor in rules.values()}) > 1:
            raise ValueError("scaling must give all axes one attention factor")
        return torch.cat([rules[ladder][0] for ladder in ladders]), rules[ladders[0]][1]

    def turns(self, positions: Tensor, omega: Tensor) -> Tensor:
        check_places(positions, self.axes, type(self).__name__)
        if self.axes == 1:
            return angles(positions, omega)[..., None, :, :]  # (…, 1, sequence, rotary/2)
        return angles_by_axis(positions, self.deal, omega)


def angles_by_axis(positions: Tensor, deal: Sequence[int], omega: Tensor) -> Tensor:
    """The angles of pairs of which pair i turns by coordinate deal[i], at omega[i].

    (…, sequence, axes) and (pairs,) give (…, 1, sequence, pairs), with one head for all.
    """
    dealt = as_double(positions)[..., torch.tensor(deal, device=positions.device)]
    return (dealt * omega.to(dealt))[..., None, :, :]


def check_scaling(scaling: Callable[[Tensor], tuple[Tensor, float]], rotary: int, base: float) -> None:
    """Raise a TypeError where scaling is no function, or does not give frequencies and a factor."""
    check_function("scaling", scaling, "a rule, such as partial(linear, factor=8)")
    scaled = scaling(frequencies(rotary, base))
    if not isinstance(scaled, tuple) or len(scaled) != 2 or not isinstance(scaled[0], Tensor):
        raise TypeError(f"scaling must give frequencies and an attention factor; got {scaled!r}")


def check_rotary(rotary: int, dim: int) -> None:
    """Raise a TypeError or ValueError where `rotary` features of `dim` cannot turn in pairs."""
    check_positive(rotary=rotary)
    if rotary % 2 or rotary > dim:
        raise ValueError(f"rotary must be even, because features turn in pairs, and at most {dim}; got {rotary}")
