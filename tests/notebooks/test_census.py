"""A chapter of the path is read in one sitting, and shows before it tells."""

import nbformat
import pytest
from notebooks import path

from tests.api.names import ROOT
from tests.notebooks.census import census


@pytest.mark.parametrize("chapter", path(ROOT), ids=lambda file: file.stem)
def test_a_chapter_keeps_within_bounds(chapter):
    found = census(nbformat.read(chapter, as_version=4))
    assert found.words <= 3000
    assert found.words <= 450 * found.pictures
    assert found.only_true <= 5
    assert found.estimate <= found.minutes <= 25
