"""The book's look: the same colors in Python and on the page, told apart by everyone, in both themes."""

import re
from itertools import combinations, product
from pathlib import Path

import numpy as np
import pytest
from colorspacious import cspace_convert, deltaE
from matplotlib.colors import to_rgb

from d2lpos.figures import STYLE, figure, hero, label_line
from d2lpos.figures.style import PAGE

CSS = (Path(__file__).parents[2] / "book/_static/book.css").read_text("utf-8")
THEMES = {
    theme: dict(re.findall(r"--([\w-]+):(#\w{6})", re.search(rf"{start} \{{(.*?)\}}", CSS, re.DOTALL)[1]))
    for theme, start in {"light": ":root", "dark": r'\[data-theme="dark"\]'}.items()
}
LIGHT = THEMES["light"]
# Machado, Oliveira and Fernandes 2009: what is seen without one kind of cone.
SIGHTS = {
    "all cones": None,
    "no long": "protanomaly",
    "no middle": "deuteranomaly",
    "no short": "tritanomaly",
}
APART = 10  # in CAM02-UCS, where 1 is about the least that a trained eye sees


def linear(color):
    rgb = np.array(to_rgb(color))
    return np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)


def contrast(one, other):
    luminance = sorted(float(linear(color) @ [0.2126, 0.7152, 0.0722]) for color in (one, other))
    return (luminance[1] + 0.05) / (luminance[0] + 0.05)


def simulated(color, sight):
    space = {"name": "sRGB1+CVD", "cvd_type": SIGHTS[sight], "severity": 100}
    return cspace_convert(to_rgb(color), space, "sRGB1").clip(0, 1) if SIGHTS[sight] else to_rgb(color)


def test_colors_are_those_of_the_page():
    assert {f"enc-{key}": style.color for key, style in STYLE.items()} == {
        name: color for name, color in LIGHT.items() if name.startswith("enc-")
    }
    assert PAGE == {name: LIGHT[name] for name in PAGE}


@pytest.mark.parametrize("theme", THEMES)
def test_marks_stand_out_from_the_paper_and_labels_are_readable(theme):
    colors = THEMES[theme]
    low = {key: contrast(colors[f"enc-{key}"], colors["paper"]) for key in STYLE}
    assert {key: ratio for key, ratio in low.items() if ratio < 3} == {}
    grounds = product(("ink", "ink-2"), ("paper", "ground"))
    assert min(contrast(colors[ink], colors[ground]) for ink, ground in grounds) > 4.5


@pytest.mark.parametrize("theme", THEMES)
def test_the_first_state_of_the_pairs_of_a_trained_model_stands_out(theme):
    ink, paper = (np.array(to_rgb(THEMES[theme][name])) for name in ("ink", "paper"))
    share = float(re.search(r"\.even\{fill-opacity:([\d.]+)", hero("pairs").source)[1])
    assert contrast(share * ink + (1 - share) * paper, paper) > 3


@pytest.mark.parametrize("sight", SIGHTS)
@pytest.mark.parametrize("theme", THEMES)
def test_encodings_are_told_apart_by_color_or_else_by_dash(theme, sight):
    shown = {key: simulated(THEMES[theme][f"enc-{key}"], sight) for key in STYLE}
    for one, other in combinations(STYLE, 2):
        distance = deltaE(shown[one], shown[other], input_space="sRGB1")
        strokes = {len(STYLE[key].dash) for key in (one, other)}  # in one period, with their gaps
        assert distance > APART or (len(strokes) == 2 and distance > APART / 2), (one, other, distance)


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


def test_names_of_the_package_are_functions_although_modules_have_the_same(python):
    code = """
import d2lpos.figures.show, d2lpos.figures.hero, d2lpos.figures.doors
from d2lpos.figures import doors, emblem, explore, figure, hero, show
assert all(map(callable, (doors, emblem, explore, figure, hero, show)))
"""
    assert python("-c", code).returncode == 0
