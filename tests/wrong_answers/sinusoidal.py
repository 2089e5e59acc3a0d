"""Wrong answers to the exercises of chapter 2."""

from d2lpos.check import sinusoidal as check
from d2lpos.input.sinusoids import sinusoidal

from . import wrong

wrong(check.encode, "Calls the package's sinusoidal")(
    lambda positions, d, base: sinusoidal(positions, d, base)
)
wrong(check.encode, "fails 1 of 5 properties Property: sine and cosine of p · base^(−2i/d), in turn Input: positions [1, 100000], d = 2")(
    "angles = positions[..., None] * base**-exponents → angles = positions[..., None].half().float() * base**-exponents"
)
wrong(check.encode, "fails 1 of 5 properties Property: sine and cosine of p · base^(−2i/d), in turn Input: positions [3, 40], d = 128")(
    "torch.arange(0, d, 2) / d → torch.arange(0, min(d, 8), 2) / d"
)
wrong(check.collision.answers[0], "That is beyond the length.")(710)
