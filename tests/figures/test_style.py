"""The book's look: the same colors in Python and on the page, told apart by everyone, in both themes."""

import re
import subprocess
import sys
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from matplotlib.colors import to_rgb

from d2lpos.figures import STYLE, figure, label_line
from d2lpos.figures.style import PAGE

CSS = (Path(__file__).parents[2] / "book/_static/book.css").read_text("utf-8")
LIGHT = dict(re.findall(r"--([\w-]+):(#\w{6})", re.search(r":root \{(.*?)\}", CSS, re.DOTALL)[1]))

# Linear RGB as people without one kind of cone see it: Viénot, Brettel and Mollon 1999.
SIGHT = {
    "all cones": np.eye(3),
    "no long cones": np.array([[0.11238, 0.88762, 0], [0.11238, 0.88762, 0], [0.00401, -0.00401, 1]]),
    "no middle cones": np.array([[0.29275, 0.70725, 0], [0.29275, 0.70725, 0], [-0.02234, 0.02234, 1]]),
}


def linear(color):
    rgb = np.array(to_rgb(color))
    return np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)


def contrast(one, other):
    luminance = sorted(float(linear(color) @ [0.2126, 0.7152, 0.0722]) for color in (one, other))
    return (luminance[1] + 0.05) / (luminance[0] + 0.05)


def oklab(rgb):
    """Björn Ottosson's space, in which distances are about as large as they look."""
    cones = np.array([[0.4122, 0.5363, 0.0514], [0.2119, 0.6807, 0.1074], [0.0883, 0.2817, 0.6300]]) @ rgb
    mix = np.array([[0.2105, 0.7936, -0.0041], [1.9780, -2.4286, 0.4506], [0.0259, 0.7828, -0.8087]])
    return mix @ np.cbrt(cones)


def test_colors_are_those_of_the_page():
    assert {f"enc-{key}": style.color for key, style in STYLE.items()} == {
        name: color for name, color in LIGHT.items() if name.startswith("enc-")
    }
    assert PAGE == {name: LIGHT[name] for name in PAGE}


def test_marks_stand_out_from_the_paper_and_labels_are_readable():
    assert min(contrast(style.color, PAGE["paper"]) for style in STYLE.values()) > 2.2
    assert (
        min(contrast(PAGE[ink], PAGE[ground]) for ink in ("ink", "ink-2") for ground in ("paper", "ground"))
        > 4.5
    )


@pytest.mark.parametrize("sight", SIGHT)
def test_no_two_encodings_look_alike(sight):
    seen = {key: oklab(SIGHT[sight] @ linear(style.color)) for key, style in STYLE.items()}
    nearest = min((np.linalg.norm(seen[a] - seen[b]), a, b) for a, b in combinations(seen, 2))
    assert nearest[0] > 0.07, nearest


def test_color_never_stands_alone():
    for attribute in ("label", "color", "dash", "marker"):
        assert len({getattr(style, attribute) for style in STYLE.values()}) == len(STYLE), attribute


def test_a_figure_fits_a_phone():
    fig, axes = figure(5.4, 2, ncols=2)
    assert fig.get_size_inches().tolist() == [5.4, 2] and axes.shape == (2,)
    with pytest.raises(ValueError, match="width is 6 inches; it must be positive and at most 5.4"):
        figure(6)


def test_a_label_stands_at_the_end_of_its_line():
    _, ax = figure()
    (line,) = ax.plot([0, 1, 2], [5, 6, 9], label="RoPE", **STYLE["rope"].line)
    label = label_line(line)
    assert label.get_text() == "RoPE" and label.xy == (2, 9)


def test_the_package_imports_without_matplotlib():
    code = "import sys, d2lpos; sys.exit(bool({'matplotlib', 'ipywidgets'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_names_of_the_package_are_functions_although_modules_have_the_same():
    code = """
import d2lpos.figures.show, d2lpos.figures.hero, d2lpos.figures.doors
from d2lpos.figures import doors, emblem, explore, figure, hero, show
assert all(map(callable, (doors, emblem, explore, figure, hero, show)))
"""
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
