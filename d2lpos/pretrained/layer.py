"""What is read from a configuration, as modules."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

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
    crosses: whether its keys are those of a picture, and not of the text.
    indexer: the encoding of a smaller attention that chooses the keys, and keys how many it chooses at most;
    None beside a number of keys where they are those that the last indexer chose.
    compressed: how many tokens each further key stands for, beyond the window; it stands where the first of them does.

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
    crosses: bool = False
    indexer: Encoding | None = None
    keys: int | None = None
    compressed: int | None = None


@dataclass(frozen=True)
class Reading:
    """What a model does with positions: what its input gets once, then its layers, in order.

    input: opens door 1; None where nothing is added. first: the position of the first token, 0 unless the table
    has rows before it. causal: whether a query sees no later keys. encoder: of a model with two parts, what its
    encoder does. places: of a model that reads pictures, from height and width in cells to the positions of all its
    tokens, for its layers; None where these count from 0 on. Where cells are merged, ask with the height and width that
    the layer has. defaults: what the configuration left out, and what its class takes for it. ignored: keys that were
    passed over because a caller asked for it. text: what `print` shows, the lines of `d2lpos.config`.

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
    defaults: Mapping[str, object] = field(default_factory=dict)
    ignored: tuple[str, ...] = ()
    text: str = field(default="", repr=False, compare=False)

    def __str__(self) -> str:
        return self.text

    @property
    def encodings(self) -> list[Encoding | None]:
        """The encoding of each layer."""
        return [layer.encoding for layer in self.layers]
