"""Wrong answers to the exercises of chapter 7."""

import torch

from d2lpos.check import dropout as check
from d2lpos.transformer.dropout import special_tokens

from . import wrong

wrong(check.special, "tokens = [[1, 5, 6, 2], [0, 1, 5, 2]]")(
    "attention.bool() → attention.reshape(-1, attention.shape[-1])[0].bool()"
)
wrong(check.special, "and [MASK]")(
    "(tokens == mask_token) → ((tokens == mask_token) & ((tokens == mask_token).cumsum(-1) == 1))"
)


@wrong(check.special, "Calls the package's special_tokens")
def by_the_package(tokens, special_tokens_mask, attention_mask, mask_token):
    return special_tokens(special_tokens_mask, attention_mask) | (tokens == mask_token)


@wrong(check.erased, "Input: forward sets feature 0 to 0, x (4, 2, 3) To try it: erased(*check.erased.example()) At (0, 0): expected False, got True")
def first_feature_moved(forward, x):
    step = torch.tensor([100.0] + [0.0] * (x.shape[-1] - 1))
    return ((forward(x) == forward(x + step)) & (forward(x) == forward(x - step))).all(-1)


wrong(check.erased, "Input: forward leaves a millionth of padding")(
    lambda forward, x: (forward(x + 100) - forward(x - 100)).abs().amax(-1) < 1e-3
)
wrong(check.reader, "At (1,): expected 4.1231, got 17.0000")(
    lambda u, rate, entire: (u @ u, rate / (1 - rate) * (u**4).sum())
)
wrong(check.equal_noise, "on the position or the token only")(
    'parts[placement] / (token + position) → {"token": 2 / 3, "position": 1 / 3, "independent": 1}[placement]'
)
wrong(check.equal_noise, "rate = 0.875")("noise / (1 + noise) → min(noise / (1 + noise), 0.75)")
wrong(check.equal_noise, "rate = 0.008")("/ share → / share if rate > 0.01 else rate / (share - rate)")
wrong(check.erased, "Input: forward takes from each feature its mirror")(lambda forward, x: forward(torch.randn(x.shape)).sum(-1) == forward(x).sum(-1))
wrong(check.reader, "u = [1.1,")("squares = → u = u.half().float()\n    squares =")
