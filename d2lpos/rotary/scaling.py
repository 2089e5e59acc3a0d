"""Scaling rules: slower frequencies for RoPE, so that a model reads past the length it was trained on.

One contract. A rule takes frequencies (pairs,), in radians per position and falling, and returns new ones of
the same shape with an attention factor, by which `RoPE` multiplies what has turned, of queries and of keys:
that part of the logits grows by its square. A rule depends on its arguments alone, so a position turns by the same angle
whatever was computed before. `functools.partial` fixes the other arguments:
`RoPE(64, scaling=partial(yarn, factor=32, length=4096))`. Any function that keeps the contract will do.

In all rules factor is how many times longer the sequences become, and length is the number of tokens
that the model was trained on. `ntk`, `dynamic_ntk` and `yarn` need frequencies that fall by a constant
ratio, as base^(−2i/dim) does; they read dim and base from them. `proportional`, `negated`, `interlaced` and
`freeze_pairs` lengthen nothing: they are rules because they change frequencies or their order. Nor does `ring`.
"""

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from ..positions.arguments import (
    check_flag,
    check_floating,
    check_integer,
    check_members,
    check_number,
    check_positive,
    check_real_number,
    check_scale,
    check_sequence,
)

__all__ = [
    "dynamic_ntk", "freeze_pairs", "interlaced", "linear", "llama3", "longrope", "mscale", "negated", "ntk",
    "proportional", "ring", "unscaled", "yarn",
]


def unscaled(frequencies: Tensor) -> tuple[Tensor, float]:
    """The rule that changes nothing.

    >>> unscaled(torch.tensor([1.0, 0.5]))
    (tensor([1.0000, 0.5000]), 1.0)
    """
    check_frequencies(frequencies)
    return frequencies, 1.0


def linear(frequencies: Tensor, factor: float) -> tuple[Tensor, float]:
    """Position interpolation: all frequencies divided by factor, as if positions were.

    Raises TypeError for frequencies that are no floating-point tensor, ValueError where they are not
    (pairs,) or factor is below 1 or not finite; the other rules do the same.

    Source: Chen et al. 2023, section 2.3 (arXiv 2306.15595).

    >>> linear(torch.tensor([1.0, 0.5]), factor=4)
    (tensor([0.2500, 0.1250]), 1.0)
    """
    check_rule(frequencies, factor)
    return frequencies / factor, 1.0


def ntk(frequencies: Tensor, factor: float) -> tuple[Tensor, float]:
    """NTK-aware: the first frequency stays, the last is divided by factor, the others lie between.

    The same as RoPE's formula with base · factor^(dim/(dim − 2)). Raises as `linear` does, and ValueError
    for fewer than two frequencies.

    Source: Peng et al. 2024, section 3.1 (arXiv 2309.00071).

    >>> ntk(torch.tensor([1.0, 0.5, 0.25]), factor=4)
    (tensor([1.0000, 0.2500, 0.0625]), 1.0)
    """
    check_rule(frequencies, factor, pairs=2)
    last = len(frequencies) - 1
    return frequencies * factor ** -(indices(frequencies) / last), 1.0


def dynamic_ntk(frequencies: Tensor, factor: float, length: int, current: int) -> tuple[Tensor, float]:
    """`ntk` by a factor that grows with the current number of tokens, from 1 at the length of training.

    Its factor is factor · current/length − (factor − 1). Fix `current` for a whole text: where it grows from
    token to token, the answers to the first tokens depend on when they were asked for. Raises as `ntk`
    does, and for lengths that are no positive integers.

    Source: Peng et al. 2024, section 3.3 (arXiv 2309.00071); this factor is that of the released code.

    >>> dynamic_ntk(torch.tensor([1.0, 0.5]), 2, length=100, current=150)
    (tensor([1.0000, 0.2500]), 1.0)
    """
    check_rule(frequencies, factor, pairs=2)
    check_positive(length=length, current=current)
    return ntk(frequencies, factor * max(current / length, 1) - (factor - 1))


def mscale(factor: float, weight: float = 1.0) -> float:
    """0.1 · weight · ln(factor) + 1: what YaRN multiplies queries and keys by. weight is DeepSeek's mscale.

    Raises ValueError where factor is below 1, or a number is not finite.

    Source: Peng et al. 2024, section 3.4 (arXiv 2309.00071); the weight is in the released code of DeepSeek-V2.

    >>> round(mscale(40), 3), round(mscale(40, weight=0.707), 3)
    (1.369, 1.261)
    """
    check_factor(factor)
    check_number(weight=weight)
    return 0.1 * weight * math.log(factor) + 1


def yarn(
    frequencies: Tensor,
    factor: float,
    length: int,
    beta_fast: float = 32.0,
    beta_slow: float = 1.0,
    truncate: bool = True,
    attention_factor: float | None = None,
) -> tuple[Tensor, float]:
    """YaRN: fast pairs stay, slow ones are divided by factor, and a ramp joins them; scores get sharper.

    Fast pairs make more than beta_fast turns in the length of training, slow ones fewer than beta_slow. The
    ramp is linear in the pair's index, and truncate rounds its ends outward to whole indices, as the authors'
    code does and gpt-oss does not; the paper's is linear in the number of turns. The attention factor is
    `mscale(factor)` where none is given. DeepSeek's is the quotient `mscale(factor, mscale) / mscale(factor,
    mscale_all_dim)`, and its attention multiplies all scores by `mscale(factor, mscale_all_dim) ** 2`. Raises
    as `ntk` does, and ValueError where not 0 < beta_slow ≤ beta_fast or attention_factor is not positive.

    Source: Peng et al. 2024, sections 3.2 and 3.4 (arXiv 2309.00071).

    >>> old = torch.tensor([1.0, 0.1, 0.01, 0.001])
    >>> new, sharper = yarn(old, factor=10, length=4096)
    >>> old / new, round(sharper, 2)
    (tensor([ 1.0000,  1.0000,  1.8182, 10.0000]), 1.23)
    """
    check_rule(frequencies, factor, pairs=2)
    check_positive(length=length)
    check_band(beta_slow=beta_slow, beta_fast=beta_fast)
    check_flag(truncate=truncate)
    if attention_factor is not None:
        check_scale(attention_factor=attention_factor)
    turns = length * frequencies / (2 * math.pi)
    ratio = frequencies[0] / frequencies[1]
    first = (turns[0] / beta_fast).log() / ratio.log()
    last = (turns[0] / beta_slow).log() / ratio.log()
    if truncate:
        first, last = first.floor(), last.ceil()
    first, last = first.clamp(min=0), last.clamp(max=2 * len(frequencies) - 1)
    divided = ((indices(frequencies) - first) / (last - first).clamp(min=1e-3)).clamp(0, 1)
    sharper = mscale(factor) if attention_factor is None else attention_factor
    return frequencies * (1 - divided + divided / factor), sharper


def longrope(
    frequencies: Tensor,
    short: Sequence[float],
    long: Sequence[float],
    length: int,
    current: int,
    factor: float = 1.0,
    attention_factor: float | None = None,
) -> tuple[Tensor, float]:
    """LongRoPE: each frequency divided by a number of its own, from `short` up to length tokens, then `long`.

    current is the number of tokens now. Fix it for a whole text, as for `dynamic_ntk`: a key that was turned by
    the one list fits no query that the other list turned. The attention factor, with both lists, is
    √(1 + ln(factor) / ln(length)) where none is given. Raises as `linear` does, for lengths that are no
    positive integers, and ValueError where a list is not one positive number for each pair, attention_factor is not
    positive, or none is given for a length of 1.

    Source: Ding et al. 2024, section 3 (arXiv 2402.13753); the switch and the factor are of the released code
    of Phi-3.

    >>> old, short, long = torch.tensor([1.0, 0.1]), [1, 1], [2, 4]
    >>> longrope(old, short, long, length=4096, current=4096)[0]
    tensor([1.0000, 0.1000])
    >>> longrope(old, short, long, length=4096, current=4097)[0]
    tensor([0.5000, 0.0250])
    """
    check_rule(frequencies, factor)
    check_positive(length=length, current=current)
    if attention_factor is not None:
        check_scale(attention_factor=attention_factor)
    elif length == 1 and factor > 1:
        raise ValueError("length must be at least 2, because the attention factor divides by its logarithm; got 1")
    for name, divisors in ("short", short), ("long", long):
        check_members(check_real_number, name, divisors)
        if len(divisors) != len(frequencies) or not all(0 < d < math.inf for d in divisors):
            raise ValueError(
                f"{name} must be {len(frequencies)} positive numbers, one for each pair; got {divisors}"
            )
    divisors = torch.tensor(long if current > length else short).to(frequencies)
    if attention_factor is None:
        attention_factor = math.sqrt(1 + math.log(factor) / math.log(length)) if factor > 1 else 1.0
    return frequencies / divisors, attention_factor


def proportional(frequencies: Tensor, share: float, factor: float = 1.0) -> tuple[Tensor, float]:
    """p-RoPE: only the fastest share of the pairs turns, and their frequencies stay as in the whole head.

    `RoPE(dim, rotary=share · dim)` turns as many pairs, but spreads their frequencies over the whole range: the
    slowest is near 1/base. Here it is near base^(−share), so nothing turns slowly. The other pairs have
    frequency 0. factor divides, as in `linear`. Raises as `linear` does, and ValueError where share is not in
    0 … 1.

    Source: Barbero et al. 2025, section 6 (arXiv 2410.06205); Gemma 4 and LFM 3 call it proportional.

    >>> proportional(torch.tensor([1.0, 0.1, 0.01, 0.001]), share=0.5)
    (tensor([1.0000, 0.1000, 0.0000, 0.0000]), 1.0)
    """
    check_rule(frequencies, factor)
    check_real_number(share=share)
    if not 0 <= share <= 1:
        raise ValueError(f"share must lie in 0 … 1; got {share}")
    turning = int(share * len(frequencies))
    return frequencies / factor * (indices(frequencies) < turning), 1.0


def negated(frequencies: Tensor) -> tuple[Tensor, float]:
    """Pairs turn the other way, as if positions were negative; scores see the offset with the other sign.

    Trained so, a model is as good; loaded into the other direction, it is not. Raises as `unscaled` does.

    Source: the released code of nanochat.

    >>> negated(torch.tensor([1.0, 0.5]))
    (tensor([-1.0000, -0.5000]), 1.0)
    """
    check_frequencies(frequencies)
    return -frequencies, 1.0


def interlaced(frequencies: Tensor) -> tuple[Tensor, float]:
    """The even-numbered frequencies, then the odd-numbered: for two axes that share one row of them.

    Pixtral turns the first half of the pairs by the row, the second by the column:
    `MRoPE(64, blocks([16, 16]), scaling=interlaced)`. Where each axis has frequencies of its own, as in
    `RoPE(64, axes=2)`, both have the same ones. Raises as `unscaled` does.

    Source: the released code of Pixtral (arXiv 2410.07073).

    >>> interlaced(torch.tensor([1.0, 0.5, 0.25, 0.125]))
    (tensor([1.0000, 0.2500, 0.5000, 0.1250]), 1.0)
    """
    check_frequencies(frequencies)
    return torch.cat([frequencies[::2], frequencies[1::2]]), 1.0


def freeze_pairs(frequencies: Tensor, pairs: Sequence[int]) -> tuple[Tensor, float]:
    """Some pairs do not turn at all, as if all tokens stood in one place for them; the others do as before.

    pairs are indices, 0 for the fastest. To hold parts of a trained model still is to ask what it used them for.
    Raises as `unscaled` does, and ValueError for an index that is not in 0 … pairs − 1.

    >>> freeze_pairs(torch.tensor([1.0, 0.1, 0.01]), pairs=[1])
    (tensor([1.0000, 0.0000, 0.0100]), 1.0)
    """
    check_frequencies(frequencies)
    check_sequence("pairs", pairs)
    for pair in pairs:
        check_integer(pairs=pair)
        if not 0 <= pair < len(frequencies):
            raise ValueError(f"pairs must lie in 0 … {len(frequencies) - 1}; got {pair}")
    held = torch.zeros_like(frequencies, dtype=torch.bool)
    held[list(pairs)] = True
    return frequencies.masked_fill(held, 0), 1.0


def llama3(
    frequencies: Tensor, factor: float, length: int, low: float = 1.0, high: float = 4.0
) -> tuple[Tensor, float]:
    """Llama 3.1: as YaRN, but the ramp is linear in the number of turns, from low to high; no sharpening.

    Where low and high are one number there is no ramp, and pairs with fewer turns are divided. Raises as
    `linear` does, for a length that is no positive integer, and where not 0 < low ≤ high.

    Source: the code released with Llama 3.1, whose values are factor 8, length 8192, low 1, high 4. Those of
    Llama 4 Scout are 16, 8192, 1 and 1.

    >>> llama3(torch.tensor([1.0, 0.002, 0.0001]), factor=8, length=8192)
    (tensor([1.0000e+00, 1.1878e-03, 1.2500e-05]), 1.0)
    """
    check_rule(frequencies, factor)
    check_positive(length=length)
    check_band(low=low, high=high)
    turns = length * frequencies / (2 * math.pi)
    share = ((turns - low) / (high - low)).clamp(0, 1) if low < high else (turns >= low).to(turns)
    return frequencies * (share + (1 - share) / factor), 1.0


def indices(frequencies: Tensor) -> Tensor:
    """0, 1, 2, … for the frequencies, on their device and in their dtype."""
    return torch.arange(len(frequencies)).to(frequencies)


def ring(frequencies: Tensor, period: float) -> tuple[Tensor, float]:
    """Whole turns on a ring of `period` places, such as a cyclic peptide's residues, or 24 hours.

    Position `period` is position 0 again, so each pair must turn a whole number of times on the way round. A pair gets
    the whole number nearest to its own turns, but at least one more than the next slower pair, from 1 on, and at most half
    the period, beyond which places in between cannot tell a turn from a slower one backwards. The longer the ring, the
    nearer are these frequencies to those of RoPE.

    Raises as `unscaled` does, and TypeError or ValueError where period is no number of at least 2.

    >>> omega, _ = ring(torch.tensor([1.0, 0.1, 0.01]), period=100)
    >>> (omega * 100 / (2 * torch.pi)).round().tolist()  # whole turns
    [16.0, 2.0, 1.0]
    """
    check_frequencies(frequencies)
    check_number(period=period)
    if period < 2:
        raise ValueError(f"period must be at least 2 places; got {period}")
    index, nearest = indices(frequencies), (frequencies * period / (2 * math.pi)).round().clamp(min=1)
    # From the slowest pair on: what came so far, and one more for each step.
    turns = (nearest + index).flip(0).cummax(0).values.flip(0) - index
    whole = turns.clamp(max=period // 2) * 2 * math.pi / period
    return whole.where(frequencies.isfinite(), frequencies), 1.0  # `RoPE` refuses the others


def check_frequencies(frequencies: Tensor, pairs: int = 1) -> None:
    """Raise a TypeError or ValueError where frequencies are not at least `pairs` real numbers in a row."""
    check_floating("frequencies", frequencies)
    if frequencies.dim() != 1 or len(frequencies) < pairs:
        raise ValueError(f"frequencies must be (pairs,) of at least {pairs}; got {tuple(frequencies.shape)}")


def check_rule(frequencies: Tensor, factor: float, pairs: int = 1) -> None:
    """As `check_frequencies`; and raise a ValueError where factor would not lengthen."""
    check_frequencies(frequencies, pairs)
    check_factor(factor)


def check_factor(factor: float) -> None:
    """Raise a TypeError or ValueError where factor would not lengthen."""
    check_real_number(factor=factor)
    if not 1 <= factor < math.inf:
        raise ValueError(f"factor must be finite and at least 1; got {factor}")


def check_band(**band: float) -> None:
    """Raise a ValueError where two numbers of turns are not positive, or the first is above the second."""
    (slow, a), (fast, b) = band.items()
    check_real_number(**band)
    if not 0 < a <= b < math.inf:
        raise ValueError(f"{slow} must be positive and at most {fast}; got {slow}={a}, {fast}={b}")
