"""What is read from a configuration, and the configuration while it is read."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from torch import Tensor

from ..encoding import Encoding

__all__ = ["Layer", "Reading"]


@dataclass(frozen=True)
class Layer:
    """What one layer does with positions.

    attends: False where the layer has a recurrence or a convolution in place of softmax attention.
    encoding: opens doors 2, 3 or 4 in this layer; None where nothing does, and the layer has no positions.
    features: the slice of a head's features, start and stop, that the encoding gets; None for all.
    window: how many keys a query sees at most, its own included, on each side where nothing is causal.
    chunk: tokens in a chunk; a query sees its own chunk only.
    tile: of a picture, the side of the squares that its cells are cut into; a query sees its own square only, and the
    encoding gets places within it. Where the last squares reach beyond the picture, released code fills them up with
    zeros, which queries see; these are left out here.
    shift: the row and the column at which the first whole square begins. A cell's place within its own, or within what
    lies before the first, is (place − shift) % tile.
    merged: how many cells of the input one of this layer's is high and wide, because the model merges them.
    cosine: whether a score is the cosine between query and key times a number that each head learns, in place of their
    product over √d.
    temperature: from positions to what queries are multiplied by, as in `d2lpos.transformer.temperature`. counts: whether it gets
    the number of tokens before each query, kept ones included, whatever their positions are.
    scale: what all scores are multiplied by besides, because the model was stretched.
    sinks: whether each head has a learned number that joins the sum of the softmax.

    >>> Layer().encoding is None
    True
    """

    attends: bool = True
    encoding: Encoding | None = None
    features: tuple[int, int] | None = None
    window: int | None = None
    chunk: int | None = None
    tile: int | None = None
    shift: int = 0
    merged: int = 1
    cosine: bool = False
    temperature: Callable[[Tensor], Tensor] | None = None
    counts: bool = False
    scale: float = 1.0
    sinks: bool = False


@dataclass(frozen=True)
class Reading:
    """What a model does with positions: what its input gets once, then its layers, in order.

    input: opens door 1; None where nothing is added. first: the position of the first token, 0 unless the table
    has rows before it. causal: whether a query sees no later keys. encoder: of a model with two parts, what its
    encoder does. places: of a model that reads pictures, from height and width in cells to the positions of all its
    tokens, for its layers; None where these count from 0 on. Where cells are merged, ask with the height and width that
    the layer has.

    >>> Reading("none", layers=(Layer(),)).encodings
    [None]
    """

    family: str
    layers: tuple[Layer, ...] = ()
    input: Encoding | None = None
    first: int = 0
    causal: bool = True
    encoder: "Reading | None" = None
    places: Callable[[int, int], Tensor] | None = None

    @property
    def encodings(self) -> list[Encoding | None]:
        """The encoding of each layer."""
        return [layer.encoding for layer in self.layers]


@dataclass(frozen=True, kw_only=True)
class Family:
    """How families are read.

    aside are keys of the configuration that are read elsewhere or do not speak of position. reads are keys that
    these families read, and that families which do not name them refuse. Both are words with spaces between.
    """

    aside: str = ""
    reads: str = ""


def by_name(rows: Mapping[str, object]) -> dict[str, object]:
    """A row for each family; the key of a row has the names of all that it holds for."""
    return {name: row for names, row in rows.items() for name in names.split()}


class Config(Mapping):
    """A configuration that remembers which of its keys were asked for, and shows none of those that are hidden."""

    def __init__(self, values: Mapping, hidden: frozenset[str] = frozenset()):
        self.values_ = {key: value for key, value in values.items() if key not in hidden}
        self.used = set()

    def __getitem__(self, key: str) -> object:
        value = self.values_[key]
        self.used.add(key)
        return value

    def __iter__(self) -> Iterator[str]:
        return iter(self.values_)

    def __len__(self) -> int:
        return len(self.values_)

    def first(self, *keys: str, default: object = None) -> object:
        """The value of the first of the keys that is there and not None; else the default, or an error."""
        found = [value for key in keys if (value := self.get(key)) is not None]
        if found or default is not None:
            return found[0] if found else default
        raise ValueError(
            f"config must have {' or '.join(keys)}; it has neither" if keys[1:] else missing(*keys)
        )


def missing(key: str) -> str:
    return f"config must have {key}, and has none"
