"""Memory for keys and values, from what the layers of a reading keep for a token. In bytes."""

from collections.abc import Callable

from .arguments import check_tokens
from .schema import Layer, Reading
from .sight import longest_of, sight
from .tables import Refused


def memory(
    reading: Reading, tokens: int, number: float = 2, page: int = 1, whole: bool = False
) -> dict[str, float]:
    """Bytes of keys and values for one text by kind of layer: full, window and chunk, and indexer for keys that choose keys.

    Kinds of layers that the model does not have are left out; an encoder keeps nothing. number is the size of a number in
    bytes, 2 for half precision. Layers with a window keep at most the window, and layers with chunks one chunk, unless
    whole=True. page is the number of tokens in a page of the program. The state of recurrent layers has one size, which
    `card` counts. Raises Refused if the file does not say what a layer keeps, and for models of pictures.

    >>> qwen3 = {"model_type": "qwen3", "num_key_value_heads": 8}
    >>> memory(read(qwen3), 131_072)["full"] / 2**30
    16.0
    """
    check_tokens(tokens=tokens)

    def rows(limit: int | None) -> int:
        least = tokens if whole or limit is None else min(tokens, limit)
        return -(-least // page) * page

    return {kind: number * size for kind, size in numbers(reading, tokens, rows).items()}


def numbers(reading: Reading, tokens: int, rows: Callable[[int | None], float]) -> dict[str, float]:
    """Numbers that the layers of each kind keep for a text of so many tokens, where `rows(limit)` is for how many of them a
    layer keeps any that never sees more than limit; None for all. Raises as `memory` does.
    """
    if reading["pictures"]:
        raise unknown(reading)
    sizes: dict[str, float] = {}
    for place in reading["layers"] if reading["causal"] else ():
        layer = reading["kinds"][place]
        if not layer["attends"] or layer["crosses"]:
            continue
        if layer["cache"] is None:
            raise unknown(reading)
        kind, limit = limit_of(reading, layer, tokens)
        sizes[kind] = sizes.get(kind, 0) + rows(limit) * layer["cache"]
        if layer["indexer"]:
            sizes["indexer"] = sizes.get("indexer", 0) + rows(limit) * layer["indexer"]["dim"]
    return sizes


def limit_of(reading: Reading, layer: Layer, tokens: int) -> tuple[str, int | None]:
    """Which kind of layer it is, and how many tokens it keeps at most; None for all. A window that hides nothing is full."""
    seeing = sight(reading, layer, longest_of(reading, tokens))["kind"]
    if seeing in ("window", "sides"):
        return "window", layer["window"]
    return ("chunk", layer["chunk"]) if seeing == "chunk" else ("full", None)


def unknown(reading: Reading) -> Refused:
    """Why what a layer keeps is not known."""
    why = reading["cache_refusal"]
    return Refused(why["code"], **why["fields"])
