"""The checks of chapter 7: special tokens, protected dropout, what code erases, and how much noise a rate buys."""

# ruff: noqa: I001 (in the order of the chapter)
from .special import special as special
from .protected_dropout import protected_dropout as protected_dropout
from .erased import erased as erased
from .reader import reader as reader
from .equal_noise import equal_noise as equal_noise
