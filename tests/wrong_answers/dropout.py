"""Wrong answers to the exercises of chapter 7."""

import torch

from d2lpos.check import dropout as check
from d2lpos.transformer.dropout import special_tokens

from . import wrong

# Which tokens are special


@wrong(check.special, "Padding is spared.")
def with_padding(tokens, special_tokens_mask, attention_mask, mask_token):
    return (special_tokens_mask == 1) | (tokens == mask_token)


@wrong(check.special, "tokens = [[1, 5, 2, 0], [1, 5, 6, 2]]")
def padding_of_the_first_sentence(tokens, special_tokens_mask, attention_mask, mask_token):
    first = attention_mask if attention_mask.dim() == 1 else attention_mask[0]
    return special_tokens_mask.bool() & first.bool() | (tokens == mask_token)


@wrong(check.special, "and [MASK]")
def first_mask_alone(tokens, special_tokens_mask, attention_mask, mask_token):
    found = tokens == mask_token
    return special_tokens_mask.bool() & attention_mask.bool() | (found & (found.cumsum(-1) == 1))


@wrong(check.special, "Calls the package's special_tokens")
def by_the_package(tokens, special_tokens_mask, attention_mask, mask_token):
    return special_tokens(special_tokens_mask, attention_mask) | (tokens == mask_token)


# Protected dropout


def kept(coins, rate):
    return (coins >= rate).float()


wrong(check.protected_dropout, "dropped like all others")(
    lambda x, coins, rate, protected, training: x * kept(coins, rate) / (1 - rate) if training else x
)


# What a function erases


@wrong(check.erased, "Input: forward sets feature 0 to 0, x (4, 2, 3) To try it: erased(*check.erased.example()) At (0, 0): expected False, got True")
def first_feature_moved(forward, x):
    step = torch.tensor([100.0] + [0.0] * (x.shape[-1] - 1))
    return ((forward(x) == forward(x + step)) & (forward(x) == forward(x - step))).all(-1)


wrong(check.erased, "Input: forward leaves a millionth of padding")(
    lambda forward, x: (forward(x + 100) - forward(x - 100)).abs().amax(-1) < 1e-3
)
wrong(check.erased, "deaf to a small step")(lambda forward, x: (forward(x) == forward(x + 1)).all(-1))


# What a reader of positions sees


wrong(check.reader, "At (1,): expected 4.1231, got 17.0000")(
    lambda u, rate, entire: (u @ u, rate / (1 - rate) * (u**4).sum())
)
wrong(check.reader, "nothing averages out")(
    lambda u, rate, entire: ((u @ u).item(), (rate / (1 - rate) * u.pow(4).sum()).sqrt().item())
)


# As much noise elsewhere


def dropped(token, position, placement):
    return {"token": token, "position": position, "independent": token + position}[placement]


wrong(check.equal_noise, "not in proportion to the rate")(
    lambda rate, token, position, placement: rate * (token + position) / dropped(token, position, placement)
)
