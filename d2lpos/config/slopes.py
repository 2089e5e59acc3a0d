"""Slopes of ALiBi's heads, as `d2lpos.bias.alibi.slopes` has them for released models, which names their source."""

import math

from .schema import Encoding


def slopes(encoding: Encoding) -> list[float]:
    """The slope of each head, by the rule of the released code, divided by √features where the model divides its scores so.

    >>> slopes({"kind": "ALiBi", "heads": 3, "octaves": 8.0, "divided": None})
    [0.0625, 0.00390625, 0.25]
    """
    heads, octaves, features = encoding["heads"], encoding["octaves"], encoding["divided"]
    below = 2 ** int(math.log2(heads))
    steps = [head + 1 if head < below else head - below + 0.5 for head in range(heads)]
    return [2 ** (-octaves / below * step) / math.sqrt(features or 1) for step in steps]
