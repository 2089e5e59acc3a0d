"""The tasks by name: what to train on, what to test on, and the size of the model's ends."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor

from . import digits, source, synthetic, text, waves
from .synthetic import order

__all__ = ["TASKS", "Sampler", "Task", "order"]

Sampler = Callable[[int, int, torch.Generator], tuple[Tensor, Tensor]]


@dataclass(frozen=True)
class Task:
    """What a model is trained and tested on.

    train, and each of tests by the name of its split: `sampler(size, length, generator)` draws `size` rows
    of exactly `length` tokens. It gives tokens (size, length) and targets, both int64; targets are (size,)
    where the row has one label, else (size, length) with −100 where nothing is asked.
    vocabulary, outputs: tokens and targets are below them.
    causal: whether a model must not look ahead; where targets are the next tokens it would see them.
    special: the first special token, where there are any: what dropout may be told to spare.
    windows: whether a row is a window of a longer text, so that the end of a longer row is a shorter one.
    whole: whether a row counts as right only where all that it asks is.
    needles: the tests whose rows are no windows, because what is asked for may stand anywhere in a row.
    answers: from a length to how many answers its rows may have, where these are not all outputs.
    version: raised when the samples change, because older records then tell of another task.

    >>> task = TASKS["copy"]
    >>> tokens, targets = task.train(1, 7, torch.Generator().manual_seed(0))
    >>> tokens
    tensor([[ 4,  9,  3, 10,  4,  9,  3]])
    """

    train: Sampler
    tests: dict[str, Sampler]
    vocabulary: int
    outputs: int
    causal: bool
    windows: bool = False
    version: int = 1
    special: int | None = None
    whole: bool = False
    needles: tuple[str, ...] = ()
    answers: Callable[[int], int] | None = None

    def chance(self, length: int) -> float:
        """How often a guess among all answers is right in rows of this length.

        >>> TASKS["back"].chance(5)
        0.25
        """
        return 1 / (self.outputs if self.answers is None else self.answers(length))


def _endless(sampler: Sampler, vocabulary: int, outputs: int, causal: bool, **more: object) -> Task:
    """A task of random numbers: fresh rows test as well as held-out ones."""
    return Task(sampler, {"test": sampler}, vocabulary, outputs, causal, **more)


def _split(
    sampler: Callable,
    splits: dict[str, str],
    vocabulary: int,
    outputs: int,
    causal: bool,
    windows: bool = False,
    special: int | None = None,
) -> Task:
    """A task of data. splits: what to draw from for "train", and for each test."""
    tests = {name: partial(sampler, split=split) for name, split in splits.items()}
    return Task(tests.pop("train"), tests, vocabulary, outputs, causal, windows, special=special)


def _second(sampler: Sampler) -> Sampler:
    """The rows that come after those of `sampler`."""

    def draw(size: int, length: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        sampler(size, length, generator)
        return sampler(size, length, generator)

    return draw


NOVELS = {split: split for split in ("train", "validation", "test", "unseen")}
# Two chapters are few enough to be read many times; "seen" tests on other rows of the same.
SMALL = {"train": "small", "seen": "small", "validation": "validation", "test": "test"}
DIGITS = {split: split for split in digits.SPLITS}
FLOWING = partial(text.language, flowing=True)
LANGUAGE = text.UNKNOWN + 1, len(text.ALPHABET)
MASKED = text.MASK + 1, len(text.ALPHABET)
KEYED = synthetic.FIRST_KEY + synthetic.KEYS

TASKS: dict[str, Task] = {
    "order": _endless(order, synthetic.LETTERS, 2, causal=False),
    "copy": _endless(synthetic.copy, synthetic.SEPARATOR + 1, synthetic.SYMBOLS, causal=True),
    "reverse": _endless(synthetic.reverse, synthetic.SEPARATOR + 1, synthetic.SYMBOLS, causal=True),
    "recall": _endless(synthetic.recall, KEYED, synthetic.VALUES, causal=True),
    "needle": _endless(synthetic.needle, KEYED, synthetic.VALUES, causal=True),
    "lookup": Task(
        synthetic.lookup,
        {"validation": _second(synthetic.lookup), "test": synthetic.lookup},
        KEYED,
        synthetic.VALUES,
        causal=False,
        special=synthetic.FIRST_KEY,
    ),
    "addition": _endless(synthetic.addition, synthetic.PAD + 1, synthetic.SYMBOLS, causal=True),
    "sums": _endless(synthetic.addition, synthetic.PAD + 1, synthetic.SYMBOLS, causal=True, whole=True),
    "count": _endless(synthetic.count, synthetic.BEGIN + 1, synthetic.MARKS + 1, causal=True),
    "back": _endless(
        synthetic.back, KEYED, synthetic.LONGEST, causal=True, answers=lambda length: length - 1
    ),
    "echo": Task(
        synthetic.echo,
        {"test": synthetic.echo, "echo": partial(synthetic.echo, asked="echo")},
        synthetic.START + 1, synthetic.ECHO + 1, causal=True,
    ),
    "language": _split(text.language, NOVELS, *LANGUAGE, causal=True, windows=True),
    "flowing language": _split(FLOWING, NOVELS, *LANGUAGE, causal=True, windows=True),
    "language small": _split(text.language, SMALL, *LANGUAGE, causal=True, windows=True),
    "masked": _split(text.masked, NOVELS, *MASKED, causal=False, special=text.CLS),
    "masked small": _split(text.masked, SMALL, *MASKED, causal=False, special=text.CLS),
    "source": Task(
        source.next_byte,
        {"test": partial(source.next_byte, split="test"), "needle": source.needle_in_source},
        source.VOCABULARY, source.VOCABULARY, causal=True, windows=True, needles=("needle",),
    ),
    "needle in a novel": Task(
        text.language,
        {"test": partial(text.language, split="test"), "needle": source.needle_in_novels},
        *LANGUAGE, causal=True, windows=True, needles=("needle",),
    ),
    "waves": _endless(waves.waves, len(waves.GAPS) * (waves.BINS + 1), waves.BINS, causal=True),
    "digits": _split(digits.digits, DIGITS, digits.PATCHES, 10, causal=False),
}
"""The tasks by name.

>>> sorted(TASKS)[:4]
['addition', 'back', 'copy', 'count']
"""
