"""The figure of a study: all that was measured is in it, and it can be read."""

from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from d2lpos.figures.style import PAGE
from d2lpos.lab import STUDIES, frame, summary
from d2lpos.lab.plot import GAP, named, plot
from tests.lab.results import result

VALUES = {"order": "accuracy", "extrapolation": "loss"}


def test_a_name_tells_what_is_unlike_the_usual():
    usual = {"encoding": "t5", "reading": "as trained", "scale": 1.0, "places": "counted", "stack": "", "again": False}
    usual |= {"steps": 0, "drop": 0.0, "dropout": "all", "causal": False}
    changed = {
        "T5": {}, "RoPE, YaRN, trained on": {"encoding": "rope", "reading": "yarn, trained on"},
        "T5, × 1.23": {"scale": 1.234}, "T5, squares": {"places": "squares"}, "T5, alternate": {"stack": "alternate"},
        "T5, in every block": {"again": True}, "T5, 150 steps": {"steps": 150}, "T5, causal": {"causal": True},
        "T5, dropout 10% (residual)": {"drop": 0.1, "dropout": "residual"},
    }  # fmt: skip
    table = pd.DataFrame([usual | one for one in changed.values()])
    assert named(table)["name"].tolist() == list(changed)
    assert named(table[7:8])["name"].tolist() == ["T5"]  # what all have in common


def test_a_split_that_is_not_there_is_refused(tables):
    with pytest.raises(ValueError, match="split must be"):
        plot(tables["order"], "accuracy", "unseen")


@pytest.fixture(scope="module")
def tables():
    return {study: frame(map(result, STUDIES[study].runs(range(3)))) for study in VALUES}


@pytest.fixture(scope="module")
def figures(tables):
    figures = {study: plot(tables[study], value) for study, value in VALUES.items()}
    for figure in figures.values():
        figure.draw_without_rendering()
    yield figures
    for figure in figures.values():
        plt.close(figure)


def written(ax):
    return [text for text in ax.texts if text.get_text()]


def test_a_panel_has_the_lines_of_its_door_and_the_others_in_gray(tables, figures):
    axes = figures["extrapolation"].axes
    assert [ax.get_title("left") for ax in axes] == [
        "Nothing, or at the input", "At queries and keys", "At the scores",
    ]
    drawn = [{line.get_label() for line in ax.lines if line.get_label()[0] != "_"} for ax in axes]
    assert {"none", "sinusoidal", "learned, last row"} == drawn[0] - {"learned"}
    assert all(name.startswith("RoPE") for name in drawn[1]) and {"T5", "ALiBi", "FIRE"} <= drawn[2]
    names = set(named(tables["extrapolation"])["name"])
    assert set.union(*drawn) >= names - {"learned"} and sum(map(len, drawn)) == len(set.union(*drawn))
    for ax, own in zip(axes, drawn, strict=True):
        gray = [line for line in ax.lines if line.get_color() == PAGE["rule"]]
        trained = [line for line in gray if set(line.get_xdata()) == {64}]
        assert len(trained) == 1 + ("learned" not in own)  # the line of the training; a table ends there, too
        assert len(gray) - 1 == len(names) - len(own)


@pytest.mark.parametrize("study", VALUES)
def test_every_seed_is_a_dot(tables, figures, study):
    lines = [line for ax in figures[study].axes for line in ax.lines if line.get_linestyle() == "None"]
    dots = [line.get_xydata() for line in lines if line.get_marker() not in ("_", "|")]  # those end the bars
    drawn = np.concatenate(dots)[:, 0 if study == "order" else 1]
    table = tables[study]
    assert sorted(drawn) == sorted(table.loc[table["split"] == "test", VALUES[study]])


@pytest.mark.parametrize("study", VALUES)
def test_every_mean_has_its_interval(tables, figures, study):
    bars = np.concatenate([
        np.ptp(collection.get_segments(), axis=1).max(axis=-1)
        for ax in figures[study].axes
        for collection in ax.collections
    ])
    means = summary(tables[study].query("split == 'test'"), value=VALUES[study])
    assert sorted(bars) == pytest.approx(sorted(means["high"] - means["low"]), rel=1e-9)


def test_every_line_has_its_name_at_its_end(tables, figures):
    labels = [text for ax in figures["extrapolation"].axes for text in written(ax)]
    table = named(tables["extrapolation"].query("split == 'test' and length == 512"))
    assert sorted(label.get_text() for label in labels) == sorted(set(table["name"]))
    ends = table.groupby("name")["loss"].mean()
    for label in labels:
        assert label.xy == (512, pytest.approx(ends[label.get_text()]))
    leads = [text for ax in figures["extrapolation"].axes for text in ax.texts if not text.get_text()]
    assert sorted((lead.xy, lead.xyann[1]) for lead in leads) == sorted((label.xy, label.xyann[1]) for label in labels)


def test_no_name_covers_another_or_leaves_the_figure(figures):
    for figure in figures.values():
        width, height = figure.get_size_inches() * figure.dpi
        for ax in figure.axes:
            names = sorted(written(ax), key=lambda text: text.get_window_extent().y0)
            assert names == sorted(names, key=lambda text: text.xy[1])  # as their lines end
            boxes = [text.get_window_extent() for text in names]
            least = min((high.y0 - low.y0 for low, high in pairwise(boxes)), default=GAP * figure.dpi / 72)
            assert 0.95 < least * 72 / figure.dpi / GAP < 1.05, "as near as they may"
            assert all(0 <= box.x0 and box.x1 <= width and 0 <= box.y0 and box.y1 <= height for box in boxes)
