"""What the figure "gates" says without scripts, and what the chapter says of it, is true."""

import math
from itertools import product

import pytest

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
        told = "less than 1 %" if share < 0.01 else f"{round(100 * share)} %"
        assert f"Seen from “{SENTENCE[query]}”" in text
        assert f"“{SENTENCE[word]}” stands {far:.2f} away and gets {told} of the weight." in text
        alike = slope(PRESETS[gates], query)
        assert text.endswith("No ALiBi has this ruler." if alike is None else f"with slope {alike:.2f}.")
    assert "All gates are 0.61." in describe_state("equal", 11, 1)
    assert "with slope 0.50." in describe_state("equal", 11, 1)
    assert "No ALiBi" in describe_state("stop", 11, 1) and "No ALiBi" in describe_state("nouns", 11, 1)
    assert "with slope 0.11." in describe_state("stop", 5, 1)


def test_what_the_chapter_says_of_the_figure():
    equal, stop, nouns = (distances(PRESETS[gates], LAST).tolist() for gates in GATES)
    assert f"{PRESETS['equal'][0]:.2f}" == "0.61" and slope(PRESETS["equal"], LAST) == pytest.approx(0.5)
    assert equal == pytest.approx([j / 2 for j in range(11, -1, -1)])
    # The first sentence, without its full stop, nearly vanishes.
    assert PRESETS["stop"][6] == 0.02 and min(stop[:6]) > 4 and max(stop[6:]) < 0.6
    assert 100 * sum(weights("stop")[:6]) < 2 and min(weights("stop")[6:]) > 0.1
    # Each noun takes a step of 1, no other word takes one.
    counted = [sum(word in NOUNS for word in SENTENCE[j + 1 :]) for j in range(12)]
    assert nouns == pytest.approx(counted) and counted[:2] == [4, 3]
