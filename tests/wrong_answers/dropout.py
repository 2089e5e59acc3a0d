"""Wrong answers to the exercises of chapter 7."""

from d2lpos.check import dropout as check
from d2lpos.transformer.dropout import special_tokens

from . import wrong

wrong(check.special, "tokens = [[1, 5, 2, 0], [1, 5, 6, 2]]")(
    "attention.bool() → attention.reshape(-1, attention.shape[-1])[0].bool()"
)
wrong(check.special, "and [MASK]")(
    "(tokens == mask_token) → ((tokens == mask_token) & ((tokens == mask_token).cumsum(-1) == 1))"
)


@wrong(check.special, "Calls the package's special_tokens")
def by_the_package(tokens, special_tokens_mask, attention_mask, mask_token):
    return special_tokens(special_tokens_mask, attention_mask) | (tokens == mask_token)


wrong(check.equal_noise, "on the position or the token only")(
    'parts[placement] / (token + position) → {"token": 2 / 3, "position": 1 / 3, "independent": 1}[placement]'
)
