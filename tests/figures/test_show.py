"""A shown figure: words for those who do not see it, the page's colors, the same bytes on every run."""

import re
import xml.etree.ElementTree as ET

import matplotlib.pyplot as plt
import numpy as np
import pytest
from d2lpos_ext.svg import drawn

from d2lpos.figures import STYLE, figure, show
from tests.browser import chromium


def curve(alt="A falling curve."):
    fig, ax = figure()
    ax.plot(np.exp(-np.arange(60) / 20), **STYLE["rope"].line)
    ax.plot(np.linspace(0, 1, 60), color="black")
    ax.set(xlabel="offset n − m", ylabel="score")
    return show(fig, alt)


@pytest.fixture(scope="module")
def page():
    with chromium() as browser:
        yield browser.new_page()


@pytest.mark.parametrize("alt", ["", " \n"])
def test_a_figure_without_words_is_refused(alt):
    with pytest.raises(ValueError, match="alt is empty: say in words what the figure shows"):
        curve(alt)


def test_the_bundle_holds_the_picture_and_its_words():
    data = curve("Scores < 1 & “falling”.")._repr_mimebundle_()
    root = ET.fromstring(drawn(data["text/html"]))
    assert root.get("role") == "img" and root.get("aria-label") == "Scores < 1 & “falling”."
    assert (root.get("width"), root.get("height"), root.get("viewBox")) == (
        "388.8pt", "216pt", "0 0 388.8 216",
    )
    assert data["text/plain"] == "Scores < 1 & “falling”."


def test_the_powers_of_a_logarithmic_axis_are_written():
    fig, ax = figure()
    ax.semilogy([1e-3, 1])
    assert "10−3" in "".join(ET.fromstring(show(fig, "A rising line.").svg).itertext()).replace("\n", "")


def test_every_run_gives_the_same_bytes():
    assert curve() == curve()


def ids(svg):
    return re.findall(r' id="(.*?)"', svg)


def test_two_figures_on_a_page_share_no_id():
    one, two = (set(ids(curve(alt).svg)) for alt in ("one", "two"))
    assert one and not one & two


def test_names_hang_on_words_and_order_not_on_coordinates():
    """So a coordinate whose last digit another processor rounds differently changes no name."""

    def dots(shift, label):
        fig, axes = plt.subplots(1, 2)
        for ax, hatch in zip(axes, "/x", strict=True):
            ax.plot([0, 1], [0, 1], marker="o")
            ax.bar([0], [1], hatch=hatch)
            ax.set_position([0.1 + shift, 0.1, 0.3, 0.8])
            ax.set(xlabel=label, xticks=[], yticks=[])
        return show(fig, "Dots and bars.").svg

    here, there = dots(0, "x"), dots(1e-9, "x")
    assert here == there
    assert len(ids(here)) == len(set(ids(here))) > 3
    assert ids(dots(0.1, "x")) == ids(here) != ids(dots(0, "y"))
    used = set(re.findall(r'(?:href="|url\()#(.*?)[")]', here))
    assert used == set(ids(here))


def test_colors_are_the_page_s_and_black_is_its_ink():
    svg = curve().svg
    assert "stroke: var(--enc-rope, #d55e00)" in svg and "stroke: currentColor" in svg
    assert not re.search(r"(?<!, )#[0-9a-f]{6}[;\"]", svg)


def test_nothing_is_left_that_only_matplotlib_needs():
    svg = curve().svg
    assert not re.search(r"metadata|<style|<!--|DejaVu|xlink|\d\.\d{3,}", svg)
    assert ">offset n − m</text>" in svg
    assert len(svg) < 9_000


def test_a_heatmap_stores_one_pixel_for_each_entry():
    fig, ax = figure(3, 3)
    ax.imshow(np.random.default_rng(0).normal(size=(64, 64)))
    svg = show(fig, "Noise.").svg
    assert len(svg) < 16_000
    assert "image-rendering:pixelated" in svg


DARK = '<html style="--ink:#e4e1da;--paper:#15171a;--enc-rope:#f58b4c"><body>{}</body>'
COLORS = """() => [...document.querySelectorAll('svg, svg text, svg path[style*=enc-rope]')].map(
    element => [element.localName, getComputedStyle(element).backgroundColor, getComputedStyle(element).fill,
                getComputedStyle(element).stroke])"""


def test_inside_a_dark_page_the_figure_takes_its_colors(page):
    page.set_content(DARK.format(curve().svg))
    colors = page.evaluate(COLORS)
    assert {background for name, background, *_ in colors if name == "svg"} == {"rgb(21, 23, 26)"}
    assert {fill for name, _, fill, _ in colors if name == "text"} == {"rgb(228, 225, 218)"}
    assert [stroke for name, *_, stroke in colors if name == "path"] == ["rgb(245, 139, 76)"]


def test_alone_the_figure_brings_light_paper(page):
    page.set_content(f'<body style="background:#000">{curve().svg}</body>')
    colors = page.evaluate(COLORS)
    assert {background for name, background, *_ in colors if name == "svg"} == {"rgb(255, 254, 251)"}
    assert {fill for name, _, fill, _ in colors if name == "text"} == {"rgb(29, 31, 34)"}
    assert [stroke for name, *_, stroke in colors if name == "path"] == ["rgb(213, 94, 0)"]
