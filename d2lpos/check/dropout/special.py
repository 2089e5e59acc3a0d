"""Which tokens are special."""

from random import Random

import torch
from torch import Tensor

from ...transformer import dropout as package
from ..cases import by_hand
from ..verdict import Case, Check, call


def spared(tokens: Tensor, special: Tensor, attention: Tensor, mask_token: int) -> Tensor:
    return (special.bool() & attention.bool()) | (tokens == mask_token)


def special_case(tokens: list, special: list, attention: list, mask_token: int = 9) -> Case:
    return call(
        tokens=torch.tensor(tokens), special_tokens_mask=torch.tensor(special),
        attention_mask=torch.tensor(attention), mask_token=mask_token,
    )


def drawn_sentences(seed: int, left: bool = False, masked: bool = False) -> Case:
    """Three pairs of sentences, padded on one side, whose tokens have other numbers each time."""
    stream = Random(seed)
    cls, sep, padding, mask_token, *words = stream.sample(range(100), 9)
    rows = []
    for _ in range(3):
        first, second = (
            stream.choices([*words, *[mask_token] * masked], k=stream.randint(1, 3)) for _ in "ab"
        )
        tokens = [cls, *first, sep, *second, sep]
        special = [int(token in (cls, sep)) for token in tokens]
        more = 17 - len(tokens)
        sides = ([padding] * more, tokens), ([1] * more, special), ([0] * more, [1] * len(tokens))
        rows.append([one + other if left else other + one for one, other in sides])
    return special_case(*map(list, zip(*rows, strict=True)), mask_token)


special = Check(
    "special",
    reference=spared,
    properties={
        "what the tokenizer calls special, but not padding": [
            special_case([1, 5, 2], [1, 0, 1], [1, 1, 1]),
            special_case([[1, 5, 2]], [[1, 0, 1]], [[1, 1, 1]]),
            special_case([[1, 5, 6, 2], [1, 5, 2, 2]], [[1, 0, 0, 1], [1, 0, 1, 1]], [[1] * 4] * 2),
            special_case([1, 5, 2, 0, 0], [1, 0, 1, 1, 1], [1, 1, 1, 0, 0]),
            special_case([3, 0, 4, 7, 7], [1, 0, 1, 1, 1], [1, 1, 1, 0, 0]),
            special_case([0, 0, 1, 5, 2], [1, 1, 1, 0, 1], [0, 0, 1, 1, 1]),
            special_case([1, 5, 2, 2, 2], [1, 0, 1, 1, 1], [1, 1, 1, 0, 0]),
            special_case([[1, 5, 6, 2], [0, 1, 5, 2]], [[1, 0, 0, 1], [1, 1, 0, 1]], [[1] * 4, [0, 1, 1, 1]]),
            *(drawn_sentences(seed, left) for seed in range(2) for left in (False, True)),
        ],
        "and [MASK]": [
            special_case([1, 9, 5, 2], [1, 0, 0, 1], [1, 1, 1, 1]),
            special_case([1, 9, 5, 2], [1, 0, 0, 1], [1, 1, 1, 1], mask_token=5),
            special_case([1, 9, 9, 2], [1, 0, 0, 1], [1, 1, 1, 1]),
            *(drawn_sentences(seed, masked=True) for seed in range(2)),
        ],
        "written by hand": [
            by_hand("two tokens", package, "flags", "special_tokens", (*torch.ones(3, 1, 2).long(), 9))
        ],
    },
    mistakes={
        "Padding is spared. Tokenizers call it special; the attention mask is 0 there.":
            lambda tokens, special, attention, mask: special.bool() | (tokens == mask),
        "This is right where padding is on the right. It may stand on the left; the attention mask is 0 there.": (
            lambda tokens, special, attention, mask: (
                special.bool() & (torch.arange(tokens.shape[-1]) < attention.sum(-1, keepdim=True))
                | (tokens == mask)
            )
        ),
        "[MASK] is missing. To the tokenizer it is a word.":
            lambda tokens, special, attention, mask: special.bool() & attention.bool(),
        "This is the other way around: True is for the tokens to spare.":
            lambda tokens, special, attention, mask: ~spared(tokens, special, attention, mask),
        "No special token is left: to be special to the tokenizer, or [MASK], is enough.":
            lambda tokens, special, attention, mask: special.bool() & attention.bool() & (tokens == mask),
        "These are numbers. Dropout wants True and False: .bool().":
            lambda tokens, special, attention, mask: spared(tokens, special, attention, mask).long(),
    },
    as_good={
        "special.bool() & attention.bool() | (tokens == mask_token) → (tokens == mask_token) | special.bool() & attention.bool()": "Or has no order.",
        "special.bool() & attention.bool() → attention.bool() & special.bool()": "And has no order.",
    },
)
