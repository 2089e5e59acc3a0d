"""A picture in a notebook: an image that hosts let through, and the figure in its place where scripts run."""

import xml.etree.ElementTree as ET
from itertools import chain
from pathlib import Path
from urllib.parse import unquote

import nbformat
import pytest
from bs4 import BeautifulSoup
from d2lpos_ext.svg import drawn, inline
from notebooks import every

from d2lpos.figures.image import image

NOTEBOOKS = every(Path(__file__).parents[2])
SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="90" height="40">\n<text>100 % & “#1”: $& $1</text>\n</svg>\n'.replace("&", "&amp;")
FIGURE = f'<main title="1 & 2">{SVG}</main><script>document.title = document.querySelector("svg").textContent.trim()</script>'


@pytest.fixture(params=[True, False], ids=["scripts", "no scripts"])
def page(browser, request):
    context = browser.new_context(java_script_enabled=request.param)
    yield context.new_page()
    context.close()


def test_the_figure_takes_the_place_of_the_image_where_scripts_run(page, request):
    page.set_content(image(SVG, 'A "line" & words.', FIGURE))
    runs = "no scripts" not in request.node.name
    if runs:
        page.wait_for_function("document.title")
        assert page.title() == "100 % & “#1”: $& $1"
        assert page.locator("main").get_attribute("title") == "1 & 2"
    assert page.locator("img").count() == (not runs)
    if not runs:
        assert page.get_by_role("img", name='A "line" & words.').bounding_box()["width"] == 90
        assert page.locator("body").inner_text() == ""


def test_a_figure_without_a_still_takes_the_place_of_its_words(page, request):
    page.set_content(image("", "A line.", "<main>Here.</main>"))
    if "no scripts" in request.node.name:
        assert page.get_by_alt_text("A line.").count() == 1
    else:
        page.get_by_text("Here.").wait_for()


def test_a_built_page_has_the_picture_and_the_figure_itself():
    assert drawn(f"<p>{image(SVG, 'A line.')}</p>") == f"<p>{inline(SVG)}</p>"
    assert drawn(image(SVG, "A line.", FIGURE)) == FIGURE
    assert drawn(image("", "A line.", FIGURE)) == FIGURE


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_what_a_host_may_take_out_of_an_output_leaves_a_picture_and_no_stray_text(path):
    cells = nbformat.read(path, as_version=4).cells
    for data in (output.get("data", {}) for output in chain(*(cell.get("outputs", []) for cell in cells))):
        assert data.keys() <= {"text/plain", "text/html"}
        output = BeautifulSoup(data.get("text/html", ""), "html.parser")
        for table in output.select("table.results"):
            table.decompose()
        assert output.get_text().strip() == "" and {tag.name for tag in output.find_all(True)} <= {"img"}
        for picture in output.select("img"):
            kind, svg = picture["src"].replace("\n", "").split(",", 1)
            assert kind == "data:image/svg+xml" and picture["alt"].strip()
            assert ET.fromstring(unquote(svg)).get("aria-label") == picture["alt"]
