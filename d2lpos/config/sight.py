"""What a token sees in a layer: one answer for the sentence, for the lines of layers and for the page."""

from typing import TypedDict

from .schema import Layer, Part, Reading
from .tables import table
from .words import fill


class Sight(TypedDict, total=False):
    """kind is window, sides, chunk, tile, indexer, text or picture. tokens says how many keys, cells the side of a square, and
    each for how many tokens every further key stands where keys before the window are compressed."""

    kind: str
    tokens: int
    cells: int
    each: int | None


def sight(reading: Part, layer: Layer, longest: int | None) -> Sight:
    """What a token sees in a layer that attends to its own text.

    longest is the longest text that the file allows, in tokens: a window that it does not exceed hides nothing. Where a token
    sees later ones, too, tokens counts those on one side, without itself.
    """
    window = layer["window"]
    if window is not None and (longest is None or window < longest):
        if reading["causal"]:
            return {"kind": "window", "tokens": window, "each": layer["compressed"]}
        return {"kind": "sides", "tokens": window - 1, "each": layer["compressed"]}
    if layer["chunk"] is not None:
        return {"kind": "chunk", "tokens": layer["chunk"]}
    if layer["tile"] is not None:
        return {"kind": "tile", "cells": layer["tile"]}
    if layer["keys"] is not None:
        return {"kind": "indexer", "tokens": layer["keys"]}
    return {"kind": "picture" if reading.get("pictures") else "text"}


def longest_of(reading: Reading, tokens: int | None) -> int | None:
    """The longest text that the file allows, or the one at hand if that is longer; a window that it exceeds hides keys."""
    allowed = reading["lengths"]["allowed"]
    return allowed and max(allowed, tokens or 0)


def sees(seeing: Sight) -> str:
    """The same in words, for a sentence."""
    words = table("words")["sight"]
    what = fill(words[seeing["kind"]], **seeing)
    return fill(words["compressed"], what=what, **seeing) if seeing.get("each") is not None else what
