"""What fits."""

from collections.abc import Callable

from ..cases import several
from ..verdict import Answer, Case, Check, call, is_empty


def in_bytes(
    layers: int, heads: int, kv_heads: int, features: int, tokens: int, size: int
) -> tuple[int, int]:
    return 2 * layers * kv_heads * features * tokens * size, heads * tokens**2 * size


def memory_case(part: int, *sizes: int) -> Case:
    """One of the two numbers that an answer returns."""
    names = ("layers", "heads", "kv_heads", "features", "tokens", "size")
    case = call(**dict(zip(names, sizes, strict=True)))

    def ask(answer: Callable) -> object:
        both = case.ask(answer)
        return both if is_empty(both) else several(both, "the cache", "the bias of one layer")[part]

    return Case(case.text, ask)


SIZES = [(1, 2, 2, 4, 3, 2), (3, 8, 2, 16, 10, 4), (2, 6, 3, 5, 7, 1), (80, 64, 8, 128, 131072, 2)]
memory = Check(
    "memory",
    reference=in_bytes,
    properties={
        "the cache": [memory_case(0, *sizes) for sizes in SIZES],
        "the bias": [memory_case(1, *sizes) for sizes in SIZES],
    },
    mistakes={
        "The two are exchanged: the cache comes first.": lambda *sizes: in_bytes(*sizes)[::-1],
        "The cache holds keys and values: twice as much.": "2 * layers → layers",
        "The cache has kv_heads, which several heads share.": "layers * kv_heads → layers * heads",
        "Every layer has a cache of its own.": "2 * layers → 2",
        "These are numbers, not bytes: each takes size bytes.":
            "features * tokens * size, heads * tokens**2 * size → features * tokens, heads * tokens**2",
        "The bias differs from head to head, and scores belong to heads, not to kv_heads.":
            "size, heads → size, kv_heads",
        "This is the bias of all layers. One is asked for: the next may use the same memory.":
            "size, heads → size, layers * heads",
    },
    answers=(Answer("llama", (1_073_741_824, 4_294_967_296), {
        "The cache comes first.": (4_294_967_296, 1_073_741_824),
        "The cache holds keys and values: twice as much.": (536_870_912, 4_294_967_296),
        "The cache has 8 heads, which several query heads share.": (4_294_967_296, 4_294_967_296),
        "This is the bias of all 32 layers.": (1_073_741_824, 137_438_953_472),
        "Bytes are asked for, not their number in billions.": lambda given: max(given) < 1000,
    }),),
    as_good={
        "returned as a float": "The text asks for whole numbers, and 96.0 is one.",
        "returned as a tensor of one number": "The text names no type.",
    },
)
