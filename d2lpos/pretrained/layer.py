"""What is read from a configuration, as modules."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import groupby

from torch import Tensor

from ..encoding import Encoding, described

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

    def __str__(self) -> str:
        """What the layer does, in words and numbers."""
        if not self.attends:
            return "no attention, but a recurrence or a convolution"
        if self.crosses:
            return "attention to a picture, without positions"
        parts = [in_words(self.encoding) if self.encoding else "attention without positions"]
        if self.features:
            parts.append(f"on features {self.features[0]} to {self.features[1] - 1} of a head")
        parts += [f"a window of {self.window:,} tokens"] if self.window is not None else []
        parts += [f"chunks of {self.chunk:,} tokens"] if self.chunk is not None else []
        parts += [f"squares of {self.tile} × {self.tile} cells"] if self.tile is not None else []
        parts += [f"squares begin at {self.shift}"] * bool(self.shift)
        parts += [f"a cell is {self.merged} × {self.merged} of the input's"] * (self.merged > 1)
        parts += ["scores are cosines"] * self.cosine
        parts += [f"queries times {shortened(self.temperature)}"] if self.temperature else []
        parts += [f"all scores times {self.scale:.6g}"] * (self.scale != 1)
        if self.compressed is not None:
            parts.append(f"besides, a key for each {self.compressed} tokens")
        if self.keys is not None:
            chooses = (
                f"an indexer, {in_words(self.indexer)}, chooses"
                if self.indexer
                else "the indexer before chose"
            )
            parts.append(f"{chooses} at most {self.keys:,} keys")
        return "; ".join(parts + ["a learned sink in each head"] * self.sinks)


@dataclass(frozen=True)
class Reading:
    """What a model does with positions: what its input gets once, then its layers, in order.

    input: opens door 1; None where nothing is added. first: the position of the first token, 0 unless the table
    has rows before it. causal: whether a query sees no later keys. encoder: of a model with two parts, what its
    encoder does. places: of a model that reads pictures, from height and width in cells to the positions of all its
    tokens, for its layers; None where these count from 0 on. Where cells are merged, ask with the height and width that
    the layer has. defaults: what the configuration left out, and what its class takes for it. ignored: keys that were
    passed over because a caller asked for it.

    >>> print(Reading("none", layers=(Layer(),)))
    none: 1 layer, a token sees none after it
      input: nothing is added
      layer 0: attention without positions
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

    def __str__(self) -> str:
        """Family and direction, the input, then each kind of layer with its numbers; a line a thing."""
        sees = "a token sees none after it" if self.causal else "a token sees those before and after it"
        lines = [f"{self.family}: {len(self.layers)} layer{'s' * (len(self.layers) != 1)}, {sees}"]
        added = in_words(self.input) if self.input else "nothing is added"
        lines.append(f"  input: {added}" + f", from position {self.first} on" * bool(self.first))
        lines += [f"  {where}: {what}" for where, what in self.kinds()]
        if self.defaults:
            lines.append(
                "  by default: " + ", ".join(f"{key} = {value!r}" for key, value in self.defaults.items())
            )
        if self.ignored:
            lines.append("  ignored, as you asked: " + ", ".join(self.ignored))
        return "\n".join(lines + [f"and its encoder, {self.encoder}"] * bool(self.encoder))

    def kinds(self) -> list[tuple[str, str]]:
        """Which layers, counted from 0, and what these do; those that do the same stand together."""
        found: dict[str, list[int]] = {}
        for at, layer in enumerate(self.layers):
            found.setdefault(str(layer), []).append(at)
        return [(f"layer{'s' * (len(places) != 1)} {ranges(places)}", what) for what, places in found.items()]

    def as_data(self) -> dict[str, object]:
        """What `print` shows, for JSON."""
        return {
            "family": self.family,
            "causal": self.causal,
            "input": self.input and in_words(self.input),
            "first": self.first,
            "layers": list(map(str, self.layers)),
            "defaults": dict(self.defaults),
            "ignored": list(self.ignored),
            "encoder": self.encoder and self.encoder.as_data(),
        }

    @property
    def encodings(self) -> list[Encoding | None]:
        """The encoding of each layer."""
        return [layer.encoding for layer in self.layers]


def in_words(encoding: Encoding) -> str:
    """An encoding with its numbers; RoPE's in the words that configurations have."""
    if not hasattr(encoding, "rotary"):
        told, own = f"{type(encoding).__name__}({encoding.extra_repr()})", getattr(encoding, "slopes", None)
        return told if own is None else f"{told} with slopes from {own.max():.4g} to {own.min():.4g}"
    pairs = "in halves" if encoding.layout == "half" else "in neighbors"
    moving = 2 * int((encoding.scaled()[0] != 0).sum())
    if encoding.layout == "half" and moving < encoding.rotary:  # a rule lets pairs stand still, and leaves all partners
        pairs = f"{pairs}, i with i + {encoding.rotary // 2}"
    turning = f"{moving} of {encoding.dim} features turn, {pairs}"
    scaled = shortened(encoding.scaling)
    return f"{type(encoding).__name__}, base {encoding.base:,.10g}, {turning}" + f", {scaled}" * (
        scaled != "unscaled"
    )


def shortened(function: Callable) -> str:
    """A rule of scaling or temperature with its numbers; of a long list the ends."""
    text = described(function)
    return text if len(text) < 200 else f"{text[:120]} … {text[-40:]}"


def ranges(places: list[int]) -> str:
    """Numbers with runs drawn together: 0–2, 4."""
    runs = [[at for _, at in run] for _, run in groupby(enumerate(places), lambda pair: pair[1] - pair[0])]
    return ", ".join(f"{run[0]}–{run[-1]}" if len(run) > 1 else f"{run[0]}" for run in runs)
