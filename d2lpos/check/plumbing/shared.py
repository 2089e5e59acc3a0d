"""What two requests may share."""


from ..verdict import Answer, Case, Check, call

Request = tuple[list[int], str | None]


def alike(old: list[int], new: list[int]) -> int:
    """So many tokens are equal from the first one on."""
    same = [a == b for a, b in zip(old, new, strict=False)]
    return same.index(False) if False in same else len(same)


def of_whole_blocks(old: list[int], new: list[int], block: int, adapters: tuple) -> int:
    if adapters[0] != adapters[1]:
        return 0
    return min(alike(old, new), len(new) - 1) // block * block


def requests(*pairs: tuple[list[int], list[int], int], adapters: tuple = (None, None)) -> list[Case]:
    return [call(old=old, new=[int(f"{token}") for token in new], block=block, adapters=adapters) for old, new, block in pairs]


shared = Check(
    "shared",
    reference=of_whole_blocks,
    properties={
        "whole blocks that are equal from the first token on": requests(
            ([5, 6, 7, 8, 9], [5, 6, 7, 8, 3, 4], 2),
            ([5, 6, 7, 8, 9, 1], [5, 6, 8, 7, 9, 1], 2),
            ([3, 6, 7, 8], [5, 6, 7, 8, 9], 2),
            ([6, 7, 8, 9], [5, 6, 7, 8, 9], 1),
            ([5, 6, 7], [5, 6, 7, 8, 9, 1, 2], 4),
            ([5, 6, 7, 8, 9], [5, 6, 7, 8, 9, 1], 3),
            ([5, 6, 7, 8], [5, 6, 7, 8, 9, 1], 2),
            ([5000, 6000, 7000], [5000, 6000, 7000, 9], 1),
            ([5, 5, 6, 5, 9], [5, 5, 6, 5, 5, 8], 2),
            ([*range(20)], [*range(18)], 12),
        ),
        "the last token is computed, whatever is kept": requests(
            ([5, 6, 7, 8], [5, 6, 7, 8], 2),
            ([5, 6, 7, 8, 9], [5, 6, 7], 1),
            ([5, 6, 7, 8, 9, 1], [5, 6, 7, 8], 4),
        ),
        "each adapter has keys of its own": [
            *requests(([5, 6, 7, 8, 9], [5, 6, 7, 8, 3], 2), adapters=(None, "law")),
            *requests(([5, 6, 7, 8, 9], [5, 6, 7, 8, 3], 2), adapters=("law", "law")),
            *requests(([5, 6, 7, 8, 9], [5, 6, 7, 8, 3], 2), adapters=("law", "lab")),
            *requests(([5, 6, 7, 8, 9], [5, 6, 7, 8, 3], 2), adapters=("law", None)),
            *requests(([5, 6, 7, 8, 9], [5, 6, 7, 8, 3], 2), adapters=("law", "".join("law"))),
        ],
    },
    mistakes={
        "Behind a token that differs, equal tokens have other keys: they have seen that token.":
            "same.index(False) if False in same else len(same) → sum(same)",
        "Blocks are kept whole. Round down.": (
            "// block * block → // 1",
            "min(alike(old, new), len(new) - 1) // block → -(-min(alike(old, new), len(new) - 1) // block)",
        ),
        "Blocks are asked for as tokens: multiply.": "// block * block → // block",
        "Nothing is left to compute, so there are no logits for the next token. The last token must be computed.":
            "len(new) - 1 → len(new)",
        "The last token must be computed of the new request alone. All blocks of the old one are kept.":
            lambda old, new, block, adapters: of_whole_blocks(old[:-1], new, block, adapters),
        "Another adapter computes other keys.": "adapters[0] != adapters[1] → False",
        "Names that are equal need not be one object: compare them by ==.":
            "adapters[0] != adapters[1] → adapters[0] is not adapters[1]",
    },
    answers=(Answer("unchanged", 11, {
        "What is changed in a layer's queries is felt in what leaves it, and so in the keys of all later layers.": 30,
        "The adapter leaves the keys of layer 10 alone, and what enters it, too.": 10,
        "It is the other way round: in so many layers keys and values change.": 19,
        "In so many layers the adapter changes queries. Keys and values are asked for.": 20,
    }),),
    as_good={
        "returned as a float": "The text asks for a whole number, and 1.0 is one.",
        "returned as a tensor of one number": "The text names no type.",
        "adapters[1] → adapters[-1]": "Of two adapters, 1 is the last.",
        "alike(old, new) → alike(new, old)": "What two requests begin with is the same, whichever comes first.",
        "min(alike(old, new), len(new) - 1) → min(len(new) - 1, alike(old, new))": "The least of two, in either order.",
        "same = [a == b for a, b in zip(old, new, strict=False)] → same = [a == b for b, a in zip(old, new, strict=False)]": (
            "Whether two are equal does not depend on their order."
        ),
        "zip(old, new, strict=False) → zip(new, old, strict=False)": "Whether two are equal does not depend on their order.",
        "zip(old, new, strict=False) → zip(old, new)": "zip is not strict by itself.",
    },
)
