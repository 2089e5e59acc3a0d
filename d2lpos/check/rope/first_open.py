"""Open circles."""

import math

from torch import Tensor

from ...input.sinusoids import frequencies
from ..cases import exact_dtype
from ..verdict import Answer, Case, Check, call
from .material import pair_angles


def wavelengths(d: int, base: float) -> Tensor:
    return 2 * math.pi / pair_angles(d, base)


def count_closed(d: int, base: float, length: int) -> int:
    """Wavelengths grow with the index, so those that fit come first."""
    return int((wavelengths(d, base) <= length).sum())


def open_case(d: int, base: float, length: int) -> Case:
    return exact_dtype(call(f"d = {d}, base = {base:g}, length = {length}", d=d, base=base, length=length))


def first_true(d, base, length):
    return (2 * math.pi / frequencies(d, base) > length).int().argmax().item()


first_open = Check(
    "first_open",
    reference=count_closed,
    properties={
        "the first pair whose wavelength is longer than the text": [
            open_case(4, 10_000.0, 64), open_case(16, 10_000.0, 64), open_case(256, 10_000.0, 4096),
            open_case(16, 10_000.0, 65), open_case(16, 10_000.0, 62), open_case(16, 10_000.0, 63),
        ],
        "any base": [open_case(64, 500_000.0, 4096), open_case(16, 2.5, 12)],
        "d/2 where all circles close": [
            open_case(2, 10_000.0, 1000), open_case(16, 10_000.0, 50_000), open_case(16, 10_000.0, 100_000),
        ],
        "0 where none does": [open_case(16, 10_000.0, 6), open_case(16, 10_000.0, 1)],
    },
    mistakes={
        "This is the last pair that closes. The next one is the first that does not.":
            lambda d, base, length: count_closed(d, base, length) - 1,
        "2π is missing: a turn takes 2π/ω positions, not 1/ω.":
            lambda d, base, length: int((1 / pair_angles(d, base) <= length).sum()),
        "This is the index of a feature. Pair i holds two of them.":
            lambda d, base, length: 2 * count_closed(d, base, length),
        "The base is always 10000 here. It is an argument.":
            lambda d, base, length: count_closed(d, 10_000.0, length),
        "Where all circles close, the answer is d/2. argmax gives 0 there.": first_true,
        "Where all circles close, the answer is d/2, which is no index of a pair.":
            lambda d, base, length: min(count_closed(d, base, length), d // 2 - 1),
        "A pair closes where its wavelength is at most the length, not the length − 1.":
            lambda d, base, length: count_closed(d, base, length - 1),
    },
    answers=(Answer("half_base", lambda base: count_closed(128, base, 131_072) == 32, {
        "With this base more than half of the pairs close. Take a larger one.":
            lambda base: count_closed(128, base, 131_072) > 32,
        "With this base fewer than half of the pairs close. Take a smaller one.":
            lambda base: count_closed(128, base, 131_072) < 32,
    }),),
    cards=(first_true,),
    as_good={
        "torch.arange(0, d, 2).double() → torch.arange(0, d, 2)": "float32 is exact enough for the cases.",
        "torch.arange(0, d, 2).double() → torch.arange(0, d, 2).float()": "float32 is exact enough for the cases.",
        "wavelengths(d, base) <= length → wavelengths(d, base) < length": "No wavelength of the cases is a whole number.",
    },
)
