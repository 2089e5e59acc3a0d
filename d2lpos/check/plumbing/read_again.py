"""How many tokens are read again."""


from ..verdict import Case, Check, call


def tokens_of(layers: list[tuple[str, int]], place: int) -> int:
    first = place
    for kind, size in reversed(layers):
        if kind == "window":
            first = first - size + 1
        if kind == "chunk":
            first = first - first % size
        if kind == "state":
            first = 0
        first = max(first, 0)
    return place - first


def widest(layers: list[tuple[str, int]], place: int) -> int:
    windows = [layer for layer in layers if layer[0] == "window"]
    one = max(windows, default=None)
    return tokens_of([layer for at, layer in enumerate(layers) if layer not in windows or at == layers.index(one)], place)


def added_up(layers: list[tuple[str, int]], place: int) -> int:
    parts = [tokens_of([layer], place) for layer in layers]
    return min(sum(parts), place)


def texts(*cases: tuple[str, int]) -> list[Case]:
    """Cases told as "window 5, full", from the first layer to the last."""
    return [
        call(layers=[(name.split()[0], int(name.partition(" ")[2] or 0)) for name in words.split(", ")], place=place)
        for words, place in cases
    ]


read_again = Check(
    "read_again",
    reference=tokens_of,
    properties={
        "windows: what each of them needs adds up": texts(
            ("window 5", 20), ("window 4, full, window 7", 30), ("full", 9), ("window 1, full", 8),
            ("window 3, window 3, window 3, window 3", 40), ("full, window 300, full, full, window 200", 5000),
        ),
        "a chunk is read from its beginning, from where the layer above asks": texts(
            ("chunk 4", 11), ("chunk 5, full", 20), ("chunk 4, chunk 8, full", 13), ("window 3, chunk 4", 15),
            ("chunk 4, window 3", 15), ("chunk 6, full, window 4, chunk 5", 24),
        ),
        "a state needs the text from its beginning, and nothing is read before that": texts(
            ("state", 7), ("full, state, window 4", 12), ("window 3, state, full", 25), ("window 9", 5), ("window 30, chunk 4", 6),
        ),
    },
    mistakes={
        "A query's own key is one of the W, so W − 1 come from earlier tokens.": "size + 1 → size",
        "The widest window is not enough. What leaves the first window layer is exact only from its own window on, and the next needs "
        "a window of exact ones.": widest,
        "Go from the last layer to the first: a layer needs its input from where the layer above needs its output.":
            "reversed(layers) → layers",
        "A chunk begins before the token that the layer above asks for, which need not be `place`.":
            ("first - first % size → first - place % size", added_up),
        "This is from where on to read. How many tokens are read again?": "place - first → first",
        "There are no tokens before the first one.": "first = max(first, 0) → pass",
        "A state contains every token, so without a checkpoint all of them are read again.": "first = 0 → pass",
    },
    as_good={
        "returned as a float": "The text asks for a number of tokens, and 4.0 is one.",
        "returned as a tensor of one number": "The text names no type.",
        "first = 0 → first = -1": "The next line makes it 0.",
        "max(first, 0) → max(0, first)": "The larger of two, in either order.",
    },
)
