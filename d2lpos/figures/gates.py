"""What gates make of a sentence: the distances and weights of the figure "gates" in words and numbers."""

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from ..content.distance import gated_distance

SENTENCE = ("The", "cat", "sat", "on", "a", "mat", ".", "My", "dog", "ate", "its", "hat")
NOUNS = ("cat", "mat", "dog", "hat")
PRESETS = {
    "equal": [math.exp(-0.5)] * len(SENTENCE),
    "stop": [0.02 if word == "." else 0.9 for word in SENTENCE],
    "nouns": [math.exp(-1) if word in NOUNS else 1.0 for word in SENTENCE],
}


def distances(gates: Sequence[float], query: int) -> Tensor:
    """How far each word up to the query stands from it, as FoX counts; (query + 1,), float64.

    >>> distances([0.5, 0.5, 1.0], query=2)
    tensor([0.6931, 0.0000, 0.0000], dtype=torch.float64)
    """
    read = torch.tensor(gates, dtype=torch.float64).log()[None, None, None]
    far = -gated_distance(read, torch.tensor([query]), torch.arange(len(gates)))
    return far[0, 0, 0, : query + 1] + 0.0  # no −0


def slope(gates: Sequence[float], query: int) -> float | None:
    """The slope with which ALiBi has the same ruler; None where no slope does.

    >>> slope([1.0, 0.5, 0.5], query=2)
    0.6931471805599453
    """
    steps = {0.0 - math.log(gate) if gate else math.inf for gate in gates[1 : query + 1]}
    return steps.pop() if len(steps) == 1 and math.inf not in steps else None


def describe_state(gates: str, query: int, word: int) -> str:
    if word > query:
        raise ValueError(f"word of gates must not stand after its query; got {word} and {query}")
    chosen = PRESETS[gates]
    far = distances(chosen, query)
    weight, alike = (-far).softmax(-1)[word].item(), slope(chosen, query)
    how = {
        "equal": f"All gates are {chosen[0]:.2f}.",
        "stop": "The gate of the full stop is 0.02, so that little is kept of what came before it. All others are 0.90.",
        "nouns": "The gates of nouns are 0.37, all others 1, so that the ruler counts nouns.",
    }[gates]
    return (
        f"The sentence “{' '.join(SENTENCE)}” has a gate at each word: the share that it keeps of all that came before. "
        f"{how} Seen from “{SENTENCE[query]}”, the distance of a word is the sum of −ln gate over the words after it. "
        f"“{SENTENCE[word]}” stands {far[word]:.2f} away and gets {percent(weight)} of the weight. "
        + (
            "No ALiBi has this ruler."
            if alike is None
            else f"This is the ruler of ALiBi with slope {alike:.2f}."
        )
    )


def percent(share: float) -> str:
    return "less than 1 %" if 0 < share < 0.01 else f"{100 * share:.0f} %"
