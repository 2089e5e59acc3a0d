"""Where dropout falls when a position is added to a token embedding.

Vaswani et al. 2017, section 5.4 (arXiv 1706.03762), drop numbers of the sum. Dropout is for training; there, what
survives is divided by its chance to survive, so that the mean stays.
"""

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional

from ..encoding import Encoding, check_encoding
from ..positions.arguments import (
    check_boolean,
    check_flag,
    check_floating,
    check_name,
    check_real_number,
    check_tensor,
)
from ..positions.checks import as_index
from ..positions.position_ids import check_sequence

__all__ = ["PLACEMENTS", "Dropped", "combine", "drop", "segment_ends", "special_tokens"]

PLACEMENTS: dict[str, Callable[[Tensor, Tensor, Callable[..., Tensor]], Tensor]] = {
    "none": lambda token, position, drop: token + position,
    "sum": lambda token, position, drop: drop(token + position),
    "token": lambda token, position, drop: drop(token) + position,
    "position": lambda token, position, drop: token + drop(position),
    "independent": lambda token, position, drop: drop(token) + drop(position),
    "whole token": lambda token, position, drop: drop(token, entire=True) + position,
    "whole position": lambda token, position, drop: token + drop(position, entire=True),
}
"""The placements by name, each a function of token embeddings, position vectors and `drop`.

>>> one = torch.ones(())
>>> PLACEMENTS["token"](one, one, lambda x: 0 * x)  # all is dropped
tensor(1.)
"""


def drop(x: Tensor, rate: float, entire: bool = False, protected: Tensor | None = None) -> Tensor:
    """x (…, sequence, dim) with each number zeroed with probability `rate`, and the others divided by 1 − rate.

    entire: each vector lives or dies as a whole. protected: Boolean (…, sequence), True for a token that stays
    as it is, to the last bit.
    Raises ValueError for a rate outside 0 … 1, or 1, and for x without these axes; TypeError or ValueError
    where protected is not Boolean, or not one for each token.

    >>> drop(torch.ones(64, 64), rate=0.5).unique()
    tensor([0., 2.])
    >>> first = torch.tensor([True, False])
    >>> drop(torch.ones(2, 4), rate=0.5, protected=first)[0]
    tensor([1., 1., 1., 1.])
    """
    check_rate(rate)
    check_flag(entire=entire)
    check_vectors("x", x)
    factors = functional.dropout(torch.ones_like(x[..., :1] if entire else x), rate)
    if protected is not None:
        check_protected(protected, x)
        factors = factors.masked_fill(protected[..., None], 1)
    return x * factors


def combine(
    token: Tensor,
    position: Tensor,
    placement: str = "sum",
    rate: float = 0.1,
    protected: Tensor | None = None,
) -> Tensor:
    """Token embeddings plus position vectors, with dropout as in training; (batch, sequence, dim).

    token is (batch, sequence, dim), position the same or (sequence, dim): each sequence gets a mask of its own.
    placement is a name in `PLACEMENTS`; protected as for `drop`.
    Raises as `drop` does, and ValueError for another placement, and where the shapes do not fit.

    >>> token, position = torch.ones(2, 3, 4), torch.ones(3, 4)
    >>> kept = combine(token, position, "position", rate=0.5)
    >>> kept.unique()  # the token alone, or with twice the position
    tensor([1., 3.])
    """
    check_name("placement", placement, PLACEMENTS)
    check_rate(rate)
    check_vectors("token", token)
    check_floating("position", position, token.device)
    if position.shape not in (token.shape, token.shape[-2:]):
        wanted = f"{tuple(token.shape)} or {tuple(token.shape[-2:])}"
        raise ValueError(f"position must have shape {wanted}; got {tuple(position.shape)}")

    def dropped(x: Tensor, entire: bool = False) -> Tensor:
        return drop(x, rate, entire, protected)

    return PLACEMENTS[placement](token, position.to(token).expand_as(token), dropped)


class Dropped(Encoding):
    """Door 1: adds what another encoding adds, with dropout in training; in evaluation, that encoding itself.

    encoding: one that opens the door "embed" alone. The others have no sum on which dropout could fall.
    Raises TypeError or ValueError for another encoding, and as `combine` does.

    >>> from d2lpos import Sinusoidal
    >>> place = Dropped(Sinusoidal(4), "position", rate=0.5).eval()
    >>> place.embed(torch.zeros(1, 1, 4), torch.zeros(1))
    tensor([[[0., 1., 0., 1.]]])
    """

    def __init__(self, encoding: Encoding, placement: str = "sum", rate: float = 0.1):
        super().__init__()
        check_encoding(encoding)
        if encoding.doors != ("embed",):
            raise ValueError(
                f'encoding must open the door "embed" alone; got {encoding}, which opens {encoding.doors}'
            )
        check_name("placement", placement, PLACEMENTS)
        check_rate(rate)
        self.encoding, self.placement, self.rate, self.axes = encoding, placement, rate, encoding.axes

    def embed(self, x: Tensor, positions: Tensor, protected: Tensor | None = None) -> Tensor:
        """Door 1, the input: x with position added; (batch, sequence, dim). protected as for `drop`."""
        if not self.training:
            return self.encoding.embed(x, positions)
        check_vectors("x", x)
        position = self.encoding.embed(torch.zeros_like(x), positions)
        return combine(x, position, self.placement, self.rate, protected)


def special_tokens(special_tokens_mask: Tensor, attention_mask: Tensor | None = None) -> Tensor:
    """Which tokens are special, by what a tokenizer returns; (…, sequence) of 0 and 1 gives Boolean.

    Tokenizers call padding special too; with an attention_mask it is not. They call [MASK] a word, since it
    stands for one: add it with `| (tokens == mask)`.
    Raises TypeError where a mask is no tensor of integers, ValueError for other numbers and for unequal shapes.

    >>> mask = torch.tensor([1, 0, 0, 1, 1])
    >>> special_tokens(mask, attention_mask=torch.tensor([1, 1, 1, 1, 0]))
    tensor([ True, False, False,  True, False])
    """
    special = flags("special_tokens_mask", special_tokens_mask)
    return special & not_padding(attention_mask, special, "special_tokens_mask")


def segment_ends(token_type_ids: Tensor, attention_mask: Tensor | None = None) -> Tensor:
    """The first token of a sequence and the last of each segment: [CLS] and every [SEP] in the style of BERT.

    token_type_ids (…, sequence) number the segments; with an attention_mask, padding belongs to none. Gives
    Boolean of the same shape. Raises as `special_tokens` does.

    >>> segment_ends(torch.tensor([0, 0, 0, 1, 1]))
    tensor([ True, False,  True, False,  True])
    """
    types = as_index(token_type_ids, "token_type_ids")
    check_sequence("token_type_ids", types)
    is_token = not_padding(attention_mask, types, "token_type_ids")
    last = torch.where(is_token, types, -1).diff(dim=-1, append=-2 * torch.ones_like(types[..., :1])) != 0
    first = is_token.cumsum(dim=-1) == 1
    return is_token & (first | last)


def not_padding(attention_mask: Tensor | None, like: Tensor, name: str) -> Tensor:
    """Return where an attention mask is 1, everywhere if there is none; the shape of `like`, called `name`."""
    if attention_mask is None:
        return torch.ones_like(like, dtype=torch.bool)
    check_tensor("attention_mask", attention_mask, like.device)
    is_token = flags("attention_mask", attention_mask)
    if is_token.shape != like.shape:
        shapes = f"{tuple(like.shape)}, as {name} has; got {tuple(is_token.shape)}"
        raise ValueError(f"attention_mask must have shape {shapes}")
    return is_token


def flags(name: str, mask: Tensor) -> Tensor:
    """Return a tokenizer's mask of integers 0 and 1 as Boolean."""
    return as_index(mask, name, 2, "no and yes of a tokenizer").bool()


def check_rate(rate: float) -> None:
    """Raise a ValueError where rate is no share of what may be lost."""
    check_real_number(rate=rate)
    if not 0 <= rate < 1:
        raise ValueError(f"rate must be at least 0 and below 1; got {rate}")


def check_vectors(name: str, x: Tensor) -> None:
    """Raise a TypeError or ValueError where x is no floating-point tensor (…, sequence, dim)."""
    check_floating(name, x)
    if x.dim() < 2:
        raise ValueError(f"{name} must be (…, sequence, dim); got {tuple(x.shape)}")


def check_protected(protected: Tensor, x: Tensor) -> None:
    """Raise a TypeError or ValueError where protected is not Boolean, one for each token of x."""
    check_boolean("protected", protected, ", True for a token to spare", x.device)
    if protected.shape != x.shape[:-1]:
        raise ValueError(f"protected must have shape {tuple(x.shape[:-1])}; got {tuple(protected.shape)}")
