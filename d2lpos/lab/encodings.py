"""The encodings by name: those of the book, and your own."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol

from .. import (
    FIRE,
    KERPLE,
    ALiBi,
    Encoding,
    FourierFeatures,
    Learned,
    PositionMLP,
    RoPE,
    Sandwich,
    Shaw,
    Sinusoidal,
    T5Bias,
    TransformerXL,
)
from ..content.cope import CoPE
from ..content.fox import FoX
from ..content.path import PaTH
from ..rotary.mixed import Mixed
from ..rotary.rope_values import RoPEValues
from .fingerprint import fingerprint

__all__ = ["ENCODINGS", "family", "register"]


class Sizes(Protocol):
    """What an encoding is made from: a `Run`, which has more than these."""

    length: int
    limit: int
    dim: int
    heads: int
    layers: int
    causal: bool


Make = Callable[[Sizes], Encoding]

# From a run to an encoding. What a published encoding leaves open is set to the length of the training.
ENCODINGS: dict[str, Make] = {
    "none": lambda run: Encoding(),
    "sinusoidal": lambda run: Sinusoidal(run.dim),
    "learned": lambda run: Learned(run.limit or run.length, run.dim),
    "mlp": lambda run: PositionMLP(run.dim, run.length),
    "fourier": lambda run: FourierFeatures(run.dim),
    "rope": lambda run: RoPE(run.dim // run.heads),
    "shaw": lambda run: Shaw(run.dim // run.heads, clip=16),
    "shaw wide": lambda run: Shaw(run.dim // run.heads, clip=run.length - 1),  # clips none
    "transformer-xl": lambda run: TransformerXL(run.dim, run.heads),
    "t5": lambda run: T5Bias(run.heads, bidirectional=not run.causal),
    "t5 short": lambda run: T5Bias(run.heads, max_distance=run.length, bidirectional=not run.causal),
    "t5 near": lambda run: T5Bias(run.heads, buckets=8, max_distance=5),  # from 4 on, all is far
    "alibi": lambda run: ALiBi(run.heads),
    "kerple": lambda run: KERPLE(run.heads),
    "fire": lambda run: FIRE(run.heads, threshold=run.length / 4),  # most of the training lies beyond it
    "sandwich": lambda run: Sandwich(run.heads),
    "fox": lambda run: FoX(run.dim, run.heads),
    "cope": lambda run: CoPE(run.dim // run.heads, rows=run.length),
    "path": lambda run: PaTH(run.dim, run.heads),
    "rope on values": lambda run: RoPEValues(run.dim // run.heads),
    "axial": lambda run: RoPE(run.dim // run.heads, base=100, axes=2),
    "mixed": lambda run: Mixed(run.dim // run.heads, run.heads),
}
SQUARE = ("axial", "mixed")  # those whose positions are a row and a column

# The encoding in the book's colors that lends its color to its relatives.
FAMILY = {
    "none": "none", "sinusoidal": "sinusoidal", "fourier": "sinusoidal", "learned": "learned", "mlp": "learned",
    "rope": "rope", "shaw": "relative", "shaw wide": "relative", "transformer-xl": "relative", "t5": "relative", "t5 short": "relative", "t5 near": "relative",
    "alibi": "alibi", "kerple": "alibi", "fire": "alibi", "sandwich": "alibi",
    "fox": "alibi", "cope": "relative", "path": "rope",
    "rope on values": "rope", "axial": "rope", "mixed": "rope",
}  # fmt: skip

# Raised where the same formula begins to round differently, and with it all last digits. A record tells which one
# it had; its key stays, because it is the same experiment.
ROUNDING = {
    "sinusoidal": 2, "fourier": 2, "rope": 3, "rope on values": 2, "axial": 2, "mixed": 2,
}  # fmt: skip
# Since 2 RoPE's halves are turned as pairs are, by a product of complex numbers. All others have their number, and RoPE has 3,
# since angles are computed in float64 before their cosines and sines are cast.


@dataclass(frozen=True)
class Own:
    """An encoding that a reader has registered. code: its hash, where it came from another process."""

    make: Make
    family: str
    version: int | str | None
    code: str | None = None


OWN: dict[str, Own] = {}


def register(name: str, make: Make, family: str | None = None, version: int | str | None = None) -> None:
    """Let runs use an encoding of your own, in this process and in all processes to which it sends runs.

    name: the name of the encoding in runs.
    make: a function from a run to a new `Encoding`. It may read the run's length, limit, dim, heads, layers and causal.
    family: the family whose color and panel the encoding shares in figures, such as "rope", "alibi" or "relative". If it
        is not a family of the book, or none is given, the encoding gets its own color and panel.
    version: a part of the key of its runs. Raise it if what the encoding computes changes but its code does not.

    The key also contains a hash of the code of make and of all code that make uses, except the standard library and
    installed packages, such as d2lpos. So an old record is never used for code that has changed. A name may be registered
    again, for example when a cell of a notebook runs again. The hash does not cover what make finds by a name in a string,
    such as `globals()["Mine"]`, or reads outside of Python, such as `os.environ` or a file. If these change, raise the
    version.

    Raises ValueError for the name of an encoding of the book, and for a make whose changes no hash can detect, if no
    version is given; TypeError for a make that cannot be called.

    >>> from d2lpos import RoPE
    >>> register("slow", lambda run: RoPE(run.dim // 4, 1e6), "rope")
    >>> Run("order", "slow").encoding
    'slow'
    """
    if not isinstance(name, str) or not name.strip():
        raise ValueError(f"name must be a word; got {name!r}")
    if name in ENCODINGS:
        raise ValueError(f"name must not be one of {', '.join(ENCODINGS)}, which the book has; got {name!r}")
    if not callable(make) or isinstance(make, Encoding):
        raise TypeError(f"make must be a function from a run to an encoding; got {make!r}")
    # What cannot be hashed fails here, before a run asks for its key.
    fingerprint(make, blind=version is not None)
    OWN[name] = Own(make, family or name, version)


def known() -> list[str]:
    """The names of all encodings."""
    return [*ENCODINGS, *OWN]


def new(run: Sizes, name: str) -> Encoding:
    """A new encoding for a run. Raises TypeError where what was registered makes something else."""
    encoding = (OWN[name].make if name in OWN else ENCODINGS[name])(run)
    if not isinstance(encoding, Encoding):
        raise TypeError(f"make of {name!r} must return an Encoding; got {encoding!r}")
    return encoding


def family(name: str) -> str:
    """The family of an encoding; one that is not known here is a family of its own."""
    return OWN[name].family if name in OWN else FAMILY.get(name, name)


def mark(name: str) -> list | None:
    """What tells a registered encoding from another one of its name, as its code is now; None for one of the book."""
    if name not in OWN:
        return None
    own = OWN[name]
    return [own.version, own.code or fingerprint(own.make, blind=own.version is not None)]


def packed(name: str) -> Own | None:
    """What another process must know of an encoding, which is nothing for one of the book."""
    return replace(OWN[name], code=mark(name)[1]) if name in OWN else None


def unpack(name: str, own: Own | None) -> None:
    """Know an encoding that another process has sent. One that was registered here stays."""
    if own is not None and (name not in OWN or OWN[name].code):
        OWN[name] = own
