"""The chapters show the scorecard as it is, and each shows what it adds."""

import nbformat
import pytest
from d2lpos_ext.cells import tags
from d2lpos_ext.scorecard import card, expand, slice_of, table
from notebooks import chapters, number, path

from tests.api.names import ROOT

CARD = card(ROOT)
COMPARING = [file for file in path(ROOT) if int(number(file.name)) <= 8]  # the later ones open models of today


def shown(file):
    return [cell for cell in nbformat.read(file, as_version=4).cells if "scorecard" in tags(cell)]


def test_all_encodings_have_all_properties():
    first, *others = (list(column) for column in CARD.values())
    assert all(column == first for column in others)


@pytest.mark.parametrize("chapter", COMPARING, ids=lambda file: file.stem)
def test_a_chapter_shows_its_part_once(chapter):
    [cell] = shown(chapter)
    assert cell.source == slice_of(cell, CARD), "run python book/scorecard.py"


def test_only_the_path_shows_it_and_the_last_chapter_the_whole():
    assert [file for file in chapters(ROOT) if shown(file) and file not in COMPARING] == []
    *others, last = (shown(file)[0].source for file in COMPARING)
    assert last == table(CARD)
    assert table(CARD) not in others


def test_properties_can_be_left_out_if_the_card_has_them():
    tiny = {"Sum": {"knows order": "no", "knows length": "no"}}
    assert table(tiny, without=["knows length"]) == "| Property | Sum |\n| :-- | :-- |\n| knows order | no |"
    with pytest.raises(LookupError, match="knows lenght"):
        table(tiny, without=["knows lenght"])


def test_its_page_has_the_whole():
    assert expand("Before.\n\n```{scorecard}\n```\n", ROOT).endswith(f"\n{table(CARD)}\n")
