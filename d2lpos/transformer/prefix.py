"""Prefixes: from which token on a text is read again where it leaves one that was read before.

Layers differ in what they hold of a text. A full layer holds keys and values of each token, and the cache can be cut behind
any of them; so it is with a latent vector for each token (MLA) and with the keys of an indexer (DSA). A window, a chunk, a
short convolution and a state hold only what the end of the text needs. `resume_at` says where to begin, so that all that
follows is what a whole reading would give.
"""

from collections.abc import Iterable
from typing import Any

from ..positions.arguments import check_count, check_positive

__all__ = ["resume_at"]

PER_TOKEN = ("full", "latent", "indexer")  # something of each token, and it never changes
SIZED = ("window", "chunk", "convolution")

Layer = str | tuple[str, int]


def resume_at(layers: Iterable[Layer], place: int, checkpoints: Iterable[int] = ()) -> int:
    """The last token from which a text can be read again exactly, where its first `place` tokens were read before.

    layers, from the first to the last: "full", "latent", "indexer" or "state", or a pair of a kind and its size in tokens:
    ("window", W), where a query attends to W keys with its own; ("chunk", c), to those of its own chunk; ("convolution", k).
    The old text went on, so that layers which forget have dropped what they held at `place`, except at checkpoints: each is
    a number of tokens after which everything that they held was saved. Layers of the first kinds attend with the rows that
    they have of the first `place` tokens, and what is read again never overwrites these.

    One layer after the other, from the last to the first, asks for its input from an earlier token on: a window and a
    convolution go back by W − 1 tokens, a chunk to its beginning, a state to the beginning of the text. So `place` minus the
    result is how many tokens are read again; for windows and full layers only it is the sum of W − 1, up to `place`.

    Raises TypeError or ValueError where a kind is not known, a size or a checkpoint is no number of tokens, or place is
    negative.

    >>> gpt_oss = ["full", ("window", 128)] * 12
    >>> 60_000 - resume_at(gpt_oss, 60_000)
    1524
    >>> resume_at(["state", "full"], 60_000, range(0, 60_000, 8192))
    57344
    """
    check_count(place=place)
    layers, checkpoints = listed("layers", layers), listed("checkpoints", checkpoints)
    for layer in layers:
        check_layer(layer)
    for checkpoint in checkpoints:
        check_count(checkpoints=checkpoint)
    first = place
    for layer in reversed(layers):
        kind, size = (layer, 0) if isinstance(layer, str) else layer
        if kind == "state":
            first = 0
        elif kind == "chunk":
            first -= first % size
        elif kind not in PER_TOKEN:
            first = max(first - size + 1, 0)
    return max([first, *(checkpoint for checkpoint in checkpoints if checkpoint <= place)])


def listed(name: str, values: Iterable[Any]) -> list[Any]:
    """A list of what an argument holds. Raise a TypeError where it holds nothing one by one."""
    try:
        return list(values)
    except TypeError:
        raise TypeError(f"{name} must be a list; got {values!r}") from None


def check_layer(layer: Layer) -> None:
    """Raise a TypeError or ValueError where it is no kind of layer, with a size where that kind has one."""
    if isinstance(layer, str):
        if layer not in (*PER_TOKEN, "state"):
            raise ValueError(f"layers without a size must be {', '.join(PER_TOKEN)} or state; got {layer!r}")
        return
    if not isinstance(layer, tuple) or len(layer) != 2:
        raise TypeError(f"layers must be names, or pairs of a name and a size; got {layer!r}")
    kind, size = layer
    if kind not in SIZED:
        raise ValueError(f"layers with a size must be {', '.join(SIZED)}; got {kind!r}")
    check_positive(**{kind: size})
