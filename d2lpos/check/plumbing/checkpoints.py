"""What checkpoints cost, and what they save."""

from collections.abc import Callable

import torch

from ..cases import several
from ..verdict import Answer, Case, Check, call, is_empty


def memory_and_mean(tokens: int, every: int, state: int) -> tuple[int, float]:
    again = sum(place % every for place in range(tokens))
    return tokens // every * state, again / tokens


def cost_case(part: int, *sizes: int) -> Case:
    """One of the two numbers that an answer returns."""
    case = call(**dict(zip(("tokens", "every", "state"), sizes, strict=True)))

    def ask(answer: Callable) -> object:
        both = case.ask(answer)
        if is_empty(both):
            return both
        number = several(both, "memory", "mean")[part]
        return torch.tensor(number, dtype=torch.float64) if part else number  # a mean may be rounded

    return Case(case.text, ask)


SIZES = [(12, 4, 10), (10, 4, 7), (7, 1, 3), (5, 9, 20), (100, 31, 1000), (4096, 256, 214_630_400)]
checkpoints = Check(
    "checkpoints",
    reference=memory_and_mean,
    properties={
        "the memory": [cost_case(0, *sizes) for sizes in SIZES],
        "the mean": [cost_case(1, *sizes) for sizes in SIZES],
    },
    mistakes={
        "The two are exchanged: memory comes first.": lambda *sizes: memory_and_mean(*sizes)[::-1],
        "The tokens behind the last checkpoint have none of their own. Round down.":
            ("tokens // every * state → tokens / every * state", "tokens // every * state → -(-tokens // every) * state"),
        "Nothing needs to be saved before the first token.": "tokens // every * state → (tokens // every + 1) * state",
        "These are checkpoints, not bytes: each takes as much as the state.": "tokens // every * state → tokens // every",
        "The last stretch may be shorter than `every`, and then fewer tokens are read again there.":
            "again / tokens → (every - 1) / 2",
        "At a checkpoint nothing is read again, so the mean over a whole stretch is (C − 1)/2.": "again / tokens → every / 2",
        "This is the worst place. The mean over all places is asked for.": "again / tokens → min(every, tokens) - 1",
        "Places are 0 to tokens − 1: a request may differ in its first token, and then nothing is shared.":
            "range(tokens) → range(1, tokens + 1)",
    },
    answers=(Answer("even", 524, {
        "Keys and values of one token are 4,096 bytes: divide by both.": 1048,
        "vLLM's block is the next multiple of 16. The quotient is asked for.": 528,
        "The convolution's inputs are part of what is saved.": 512,
    }),),
    as_good={
        "returned as a float": "The text asks for numbers, and 30.0 is one.",
        "returned as a tensor of one number": "The text names no type.",
    },
)
