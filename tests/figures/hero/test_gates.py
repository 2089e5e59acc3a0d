"""What the figure "gates" says without scripts, and what the chapter says of it, is true."""

import math
from itertools import product

from d2lpos.figures.gates import NOUNS, PRESETS, SENTENCE, describe_state, distances, slope
from d2lpos.figures.hero import GATES

LAST = len(SENTENCE) - 1


def weights(gates, query=LAST):
    return (-distances(PRESETS[gates], query)).softmax(-1).tolist()


def test_the_names_of_the_gates_are_those_of_the_figure():
    assert tuple(PRESETS) == GATES
    assert len(set(SENTENCE)) == len(SENTENCE) == 12 and {*NOUNS} < {*SENTENCE}


def test_the_words_without_scripts_are_true():
    for gates, query, word in product(GATES, (11, 6, 2), (2, 1, 0)):
        text = describe_state(gates, query, word)
        far = sum(math.log(1 / gate) for gate in PRESETS[gates][word + 1 : query + 1])
        share = weights(gates, query)[word]
        percent = "less than 1 %" if share < 0.01 else f"{round(100 * share)} %"
        assert f"Seen from “{SENTENCE[query]}”" in text
        assert f"“{SENTENCE[word]}” stands {far:.2f} away and gets {percent} of the weight." in text
        alike = slope(PRESETS[gates], query)
        assert text.endswith("No ALiBi has this ruler." if alike is None else f"with slope {alike:.2f}.")
