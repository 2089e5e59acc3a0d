"""Two novels by Jane Austen as tasks: predict the next character, or the masked ones.

The splits are chapters of *Pride and Prejudice*: 1–48 to train, 49–54 to validate, 55–61 to test. *Persuasion*
is "unseen": another book by the same hand. "small" is chapters 1 and 2, few enough to be read many times.
`data/README.md` tells where the texts come from.

A token is the place of its character in ALPHABET, all characters of the training part. UNKNOWN stands for any
other; there are eight, four "Q" and four "&", all in *Persuasion*. They are never asked for, because
their probability cannot be learned. Then come the special tokens CLS, SEP and MASK.
"""

import re
from functools import cache
from importlib import resources

import torch
from torch import Tensor

from ..positions.arguments import check_name, check_positive

ALPHABET = "\n !\"'()*,-.0123456789:;?ABCDEFGHIJKLMNOPRSTUVWYZ_abcdefghijklmnopqrstuvwxyz"
UNKNOWN, CLS, SEP, MASK = range(len(ALPHABET), len(ALPHABET) + 4)
SPLITS = {
    "train": ("pride-and-prejudice.txt", range(1, 49)),
    "small": ("pride-and-prejudice.txt", range(1, 3)),
    "validation": ("pride-and-prejudice.txt", range(49, 55)),
    "test": ("pride-and-prejudice.txt", range(55, 62)),
    "unseen": ("persuasion.txt", range(1, 25)),
}


@cache
def characters(split: str, flowing: bool = False) -> Tensor:
    """The chapters of a split as one row of tokens, (characters,), int64; read once.

    flowing: whether a line ends where a paragraph does, and nowhere else.

    Raises ValueError for a split that is not in SPLITS.

    >>> decode(characters("train")[:44])
    'Chapter 1\\n\\n\\nIt is a truth universally acknow'
    """
    check_name("split", split, SPLITS)
    book, chapters = SPLITS[split]
    parts, tokens = chapters_of(book, flowing), {character: token for token, character in enumerate(ALPHABET)}
    return torch.tensor([tokens.get(c, UNKNOWN) for chapter in chapters for c in parts[chapter - 1]])


@cache
def chapters_of(book: str, flowing: bool = False) -> list[str]:
    """The chapters of a novel, as they are or, flowing, a paragraph a line with single spaces."""
    text = resources.files(__package__).joinpath("data", book).read_text("utf-8")
    chapters = re.split(r"^(?=Chapter \d+$)", text, flags=re.MULTILINE)[1:]  # behind the title
    if not flowing:
        return chapters
    paragraphs = (re.split(r"\n\s*\n", chapter.strip()) for chapter in chapters)
    return ["".join(" ".join(one.split()) + "\n" for one in some) for some in paragraphs]


def decode(tokens: Tensor) -> str:
    """A row of tokens (length,) as text, special ones by their names.

    >>> decode(torch.tensor([CLS, 33, 49, SEP]))
    '[CLS]Ja[SEP]'
    """
    symbols = [*ALPHABET, "[UNKNOWN]", "[CLS]", "[SEP]", "[MASK]"]
    return "".join(symbols[token] for token in tokens)


def language(
    size: int, length: int, generator: torch.Generator, split: str = "train", flowing: bool = False
) -> tuple[Tensor, Tensor]:
    """Passages of `length` characters; each token is asked for the next one. For causal models.

    Passages begin anywhere in the split, whose lines end with paragraphs alone if `flowing`. Bind another split with
    `functools.partial(language, split="test")`.
    Returns tokens and targets (size, length), int64; targets are −100 where the next character is unknown.
    Raises ValueError for a split that is not in SPLITS, and for a length that it cannot fill.

    >>> tokens, targets = language(1, 24, torch.Generator().manual_seed(0))
    >>> decode(tokens[0]), decode(targets[0])
    ('\\nobject. When I am in co', 'object. When I am in com')
    """
    passages = _passages(split, size, length, generator, flowing)
    targets = passages[:, 1:]
    return passages[:, :-1], targets.where(targets < UNKNOWN, -100)


def masked(size: int, length: int, generator: torch.Generator, split: str = "train") -> tuple[Tensor, Tensor]:
    """[CLS] passage [SEP] another passage [SEP], where 15 % of the characters are asked for.

    Both passages begin anywhere in the split; the first [SEP] is anywhere that leaves each a character. As in
    BERT (Devlin et al. 2019, section 3.1), of the characters that are asked for 80 % become [MASK], 10 % a
    random one, and 10 % stay. At least one is asked for, a special token never.
    Returns and raises as `language` does, and ValueError for a length below 5.

    >>> tokens, targets = masked(1, 24, torch.Generator().manual_seed(0))
    >>> decode(tokens[0])
    '[CLS]the r[SEP]d.[MASK]A res[MASK]mblance[SEP]'
    """
    check_positive(size=size, length=length)
    if length < 5:
        raise ValueError(
            f"length must be at least 5, to hold two passages and three special tokens; got {length}"
        )
    column = torch.arange(length)
    between = torch.randint(2, length - 2, (size, 1), generator=generator)
    one, other = (_passages(split, size, length, generator)[:, :-1] for _ in range(2))
    whole = one.where(column < between, other).masked_fill(column == between, SEP)
    whole[:, 0], whole[:, -1] = CLS, SEP

    draw = torch.rand(whole.shape, generator=generator).masked_fill(whole >= UNKNOWN, torch.inf)
    count = max(1, round(0.15 * (length - 3)))
    asked = (draw <= draw.kthvalue(count, dim=1, keepdim=True).values) & (whole < UNKNOWN)
    fate = torch.rand(whole.shape, generator=generator)
    wrong = torch.randint(len(ALPHABET), whole.shape, generator=generator)
    tokens = whole.where(~asked | (fate >= 0.9), wrong).masked_fill(asked & (fate < 0.8), MASK)
    return tokens, whole.where(asked, -100)


def _passages(
    split: str, size: int, length: int, generator: torch.Generator, flowing: bool = False
) -> Tensor:
    """Rows of `length` characters and the one after them; (size, length + 1)."""
    check_positive(size=size, length=length)
    text = characters(split, flowing)
    if length >= len(text):
        raise ValueError(f"length must be below {len(text)}, the characters of {split!r}; got {length}")
    return rows(text, size, length, generator)


def rows(words: Tensor, size: int, length: int, generator: torch.Generator) -> Tensor:
    """Rows of `length` tokens that begin anywhere, and the one after them; (size, length + 1), int64."""
    starts = torch.randint(len(words) - length, (size, 1), generator=generator)
    return words[starts + torch.arange(length + 1)].long()
