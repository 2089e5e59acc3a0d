"""Wrong answers to the exercises of chapter 7."""

import math

import torch
from torch.nn import functional

from d2lpos.check import dropout as check
from d2lpos.transformer.dropout import special_tokens

from . import wrong

# Which tokens are special


@wrong(check.special, "Padding is spared.")
def with_padding(tokens, special_tokens_mask, attention_mask, mask_token):
    return (special_tokens_mask == 1) | (tokens == mask_token)


@wrong(check.special, "and [MASK]")
def mask_is_nine(tokens, special_tokens_mask, attention_mask, mask_token):
    return (special_tokens_mask & attention_mask).bool() | (tokens == 9)


@wrong(check.special, "tokens = [0, 0, 1, 5, 2]")
def up_to_the_first_padding(tokens, special_tokens_mask, attention_mask, mask_token):
    return (special_tokens_mask * attention_mask.cumprod(dim=-1)).bool() | (tokens == mask_token)


@wrong(check.special, "tokens = [[1, 5, 2, 0], [1, 5, 6, 2]]")
def padding_of_the_first_sentence(tokens, special_tokens_mask, attention_mask, mask_token):
    first = attention_mask if attention_mask.dim() == 1 else attention_mask[0]
    return special_tokens_mask.bool() & first.bool() | (tokens == mask_token)


@wrong(check.special, "and [MASK]")
def first_mask_alone(tokens, special_tokens_mask, attention_mask, mask_token):
    found = tokens == mask_token
    return special_tokens_mask.bool() & attention_mask.bool() | (found & (found.cumsum(-1) == 1))


@wrong(check.special, "Expected shape (1, 3), got (1,)")
def one_sentence(tokens, special_tokens_mask, attention_mask, mask_token):
    rows = zip(tokens.tolist(), special_tokens_mask.tolist(), attention_mask.tolist(), strict=True)
    return torch.tensor(
        [bool(special and attention) or token == mask_token for token, special, attention in rows]
    )


@wrong(check.special, "tokens = [3, 0, 4, 7, 7]")
def by_their_numbers(tokens, special_tokens_mask, attention_mask, mask_token):
    return (tokens == 1) | (tokens == 2) | (tokens == 9)


@wrong(check.special, "tokens = [3, 0, 4, 7, 7]")
def padding_is_zero(tokens, special_tokens_mask, attention_mask, mask_token):
    return (special_tokens_mask.bool() & (tokens != 0)) | (tokens == mask_token)


@wrong(check.special, "Calls the package's special_tokens")
def by_the_package(tokens, special_tokens_mask, attention_mask, mask_token):
    return special_tokens(special_tokens_mask, attention_mask) | (tokens == mask_token)


# Protected dropout


def kept(coins, rate):
    return (coins >= rate).float()


@wrong(check.protected_dropout, "in training, words lose numbers")
def divides_by_the_share_that_survived(x, coins, rate, protected, training):
    keep = kept(coins, rate)
    dropped = x * keep / keep.float().mean()
    return torch.where(protected[..., None], x, dropped) if training else x


@wrong(check.protected_dropout, "in training, words lose numbers")
def protects_as_in_the_first_sentence(x, coins, rate, protected, training):
    y = x * kept(coins, rate) / (1 - rate)
    y[:, protected[0]] = x[:, protected[0]]
    return y if training else x


@wrong(check.protected_dropout, "in training, words lose numbers")
def coins_of_the_first_sentence(x, coins, rate, protected, training):
    dropped = x * kept(coins[:1], rate) / (1 - rate)
    return torch.where(protected[..., None], x, dropped) if training else x


wrong(check.protected_dropout, "dropped like all others")(
    lambda x, coins, rate, protected, training: x * kept(coins, rate) / (1 - rate) if training else x
)


@wrong(check.protected_dropout, "Returns something else when called again")
def coins_of_its_own(x, coins, rate, protected, training):
    return torch.where(protected[..., None], x, functional.dropout(x, rate, training))


@wrong(check.protected_dropout, "Changes its argument x in place")
def in_place(x, coins, rate, protected, training):
    if training:
        lost = (coins < rate) & ~protected[..., None]
        x[~protected] /= 1 - rate
        x[lost] = 0
    return x


# What a function erases


wrong(check.erased, "deaf to a small step")(lambda forward, x: (forward(x) == forward(x + 1)).all(-1))
wrong(check.erased, "adds positions; all numbers are 1")(
    lambda forward, x: (forward(x) == forward(x.roll(1, dims=0))).all(-1)
)


# What a reader of positions sees


wrong(check.reader, "nothing averages out")(
    lambda u, rate, entire: ((u @ u).item(), (rate / (1 - rate) * u.pow(4).sum()).sqrt().item())
)
wrong(check.reader, "Returns type float; 2 numbers are asked for")(
    lambda u, rate, entire: math.sqrt((1 - rate) / rate)
)


# As much noise elsewhere


def dropped(token, position, placement):
    return {"token": token, "position": position, "independent": token + position}[placement]


@wrong(check.equal_noise, "on the position or the token only")
def two_thirds(rate, token, position, placement):
    odds = rate / (1 - rate) / {"token": 2 / 3, "position": 1 / 3, "independent": 1}[placement]
    return odds / (1 + odds)


wrong(check.equal_noise, "not in proportion to the rate")(
    lambda rate, token, position, placement: rate * (token + position) / dropped(token, position, placement)
)


@wrong(check.equal_noise, "on the position or the token only")
def positions_only(rate, token, position, placement):
    nu = rate / (1 - rate) * (1 if placement == "independent" else (token + position) / position)
    return nu / (1 + nu)


@wrong(check.equal_noise, "on the position or the token only")
def tokens_only(rate, token, position, placement):
    nu = rate / (1 - rate) * (1 if placement == "independent" else (token + position) / token)
    return nu / (1 + nu)
