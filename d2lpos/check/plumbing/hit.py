"""How long a prefix all kinds of layers have."""


from ..verdict import Case, Check, call


def blocks_of(full: list[bool], window: list[bool], states: list[bool], needed: int) -> int:
    for blocks in range(len(full), 0, -1):
        near = window[max(blocks - needed, 0) : blocks]
        if all(full[:blocks]) and all(near) and states[blocks - 1]:
            return blocks
    return 0


def shortest(full: list[bool], window: list[bool], states: list[bool], needed: int) -> int:
    everything = [True] * len(full)
    return min(
        blocks_of(full, everything, everything, needed),
        blocks_of(everything, window, everything, needed),
        blocks_of(everything, everything, states, needed),
    )


def without_states(full: list[bool], window: list[bool], states: list[bool], needed: int) -> int:
    return blocks_of(full, window, states if any(states) else [True] * len(full), needed)


def caches(*cases: tuple[str, str, str, int]) -> list[Case]:
    """Cases told as "##.#", a block a sign."""
    names = ("full", "window", "states")
    return [
        call(**{name: [sign == "#" for sign in row] for name, row in zip(names, rows, strict=True)}, needed=needed)
        for *rows, needed in cases
    ]


hit = Check(
    "hit",
    reference=blocks_of,
    properties={
        "full layers need every block": caches(
            ("##.#", "####", "####", 1), (".##", "###", "###", 2), ("#####", "#####", "#####", 3), ("###..#", "######", "######", 2),
        ),
        "windows need the last blocks before the hit": caches(
            ("####", "..##", "####", 2), ("#####", "##.#.", "#####", 2), ("###", "##.", "###", 4), ("######", "#.#.#.", "######", 1),
            ("####", "####", "####", 4), ("######", "#.##..", "######", 3), ("###", "#..", "###", 0),
        ),
        "a state must have been saved behind the last block of the hit": caches(
            ("####", "####", ".#..", 1), ("###", "###", "...", 2), ("#####", "#####", "#..#.", 2), ("######", "######", "##...#", 3),
        ),
        "one length serves all": caches(
            ("######", ".##..#", ".#..#.", 2), ("#####", "..##.", "..#.#", 1), ("#######", "##..##.", ".#..#.#", 2),
        ),
    },
    mistakes={
        "Each kind has a longest hit of its own, and the least of them need not suit the others. Look for one length that suits all.":
            shortest,
        "A block of a full layer stands for nothing without all blocks before it.":
            "all(full[:blocks]) → full[blocks - 1]",
        "A window needs its last `needed` blocks before the hit and no more. The first ones were dropped long ago.":
            ("window[max(blocks - needed, 0) : blocks] → window[:blocks]",
             "window[max(blocks - needed, 0) : blocks] → window[: min(needed, blocks)]"),
        "A hit that is shorter than the window needs only the blocks that there are.":
            "all(near) → len(near) == needed and all(near)",
        "Only the state behind the last block is read. Those before it need not be there.":
            "states[blocks - 1] → all(states[:blocks])",
        "The state behind block 2 is number 1 of the list.": "states[blocks - 1] → [*states, True][blocks]",
        "Where no state was saved, the states begin at token 0, and so must everything else.": without_states,
    },
    fixed={
        "len(full) is len(window)": "Each list has an entry for each block.",
        "len(full) is len(states)": "Each list has an entry for each block.",
        "len(states) is len(window)": "Each list has an entry for each block.",
        "entries that are equal are one object": "There is one True and one False.",
    },
    as_good={
        "returned as a float": "The text asks for a number of blocks, and 2.0 is one.",
        "returned as a tensor of one number": "The text names no type.",
        "len(full) → len(window)": "There are as many blocks in each list.",
        "len(full) → len(states)": "There are as many blocks in each list.",
        "range(len(full), 0, -1) → range(len(full), -1, -1)": "A hit of 0 blocks is what is returned without any.",
        "max(blocks - needed, 0) → max(0, blocks - needed)": "The larger of two, in either order.",
    },
)
