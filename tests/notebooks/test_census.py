"""A chapter of the path says how long it takes, and few of its cells show True and nothing else."""

import nbformat
import pytest
from notebooks import path

from tests.api.names import ROOT
from tests.notebooks.census import census


@pytest.mark.parametrize("chapter", path(ROOT), ids=lambda file: file.stem)
def test_a_chapter_keeps_within_bounds(chapter):
    counts = census(nbformat.read(chapter, as_version=4))
    assert counts.only_true <= 5
    assert counts.estimate <= counts.minutes
