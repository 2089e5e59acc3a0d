"""What is read from a configuration, as modules."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from torch import Tensor

from ..encoding import Encoding

__all__ = ["Layer", "Reading"]


@dataclass(frozen=True)
class Layer:
    """What one layer does with positions.

    attends: False if the layer has a recurrence or a convolution instead of softmax attention.
    encoding: what opens doors 2, 3 or 4 in this layer; None if the layer has no positions.
    features: start and stop of the features of a head that the encoding gets; None for all.
    window: how many keys a query sees at most, its own included; on each side, if the model is not causal.
    chunk: tokens in a chunk; a query sees its own chunk only.
    tile: for pictures, the side of the squares into which the cells are cut. A query sees only its own square, and the
    encoding gets positions within the square. If the last squares reach beyond the picture, released code pads them with
    zeros, which queries see; this padding is left out here.
    shift: the row and the column at which the first whole square begins. The position of a cell within its square, whole
    or not, is (place − shift) % tile.
    merged: the height and width of a cell of this layer in cells of the input, because the model merges cells.
    cosine: whether a score is the cosine of query and key times a learned number of the head, instead of their
    product over √d.
    temperature: a function from positions to the numbers by which queries are multiplied, as in
    `d2lpos.transformer.temperature`. counts: whether it gets the number of tokens before each query instead of positions.
    scale: a factor for all scores, which some models have because they were stretched.
    sinks: whether each head has a learned number that is added to the sum of the softmax.
    crosses: whether the keys come from a picture, and not from the text.
    indexer: the encoding of a smaller attention that chooses the keys; keys: how many it chooses at most. If keys is a
    number and indexer is None, the layer uses the keys that the last indexer chose.
    compressed: beyond the window, how many tokens one key represents; it has the position of the first of them.

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
    """What a model does with positions: what is added to its input, then its layers, in order.

    input: what opens door 1; None if nothing is added. first: the position of the first token, which is 0 unless the table
    has rows before it. causal: whether later keys are hidden from a query. encoder: for a model with two parts, the reading
    of its encoder. places: for models of pictures, a function from height and width in cells to the positions of all
    tokens; None if positions count from 0. If the model merges cells, call it with the height and width in cells of the
    layer. defaults: the keys that the configuration lacks, with the defaults of its class. ignored: keys that were
    skipped because the caller asked for it. text: what `print` shows, the lines of `d2lpos.config`.

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
