"""A picture in a notebook: an image that hosts let through, and the figure in its place where scripts run."""

import xml.etree.ElementTree as ET
from pathlib import Path
from urllib.parse import unquote

import nbformat
import pytest
from bs4 import BeautifulSoup
from d2lpos_ext.svg import drawn, inline
from notebooks import every

from d2lpos.figures.image import image

SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="90" height="40">\n<text>100 % &amp; “#1”: $&amp; $1</text>\n</svg>\n'
FIGURE = f'<main title="1 & 2">{SVG}</main><script>document.title = document.querySelector("svg").textContent.trim()</script>'


@pytest.mark.parametrize("scripts", [True, False])
def test_the_figure_takes_the_place_of_the_image_where_scripts_run(browser, scripts):
    with browser.new_context(java_script_enabled=scripts) as context:
        page = context.new_page()
        page.set_content(image(SVG, 'A "line" & words.', FIGURE) + image("", "A dot.", "<main>Here.</main>"))
        if scripts:
            page.get_by_text("Here.").wait_for()
            page.wait_for_function("document.title")
            assert page.title() == "100 % & “#1”: $& $1" and page.locator("img").count() == 0
        else:
            assert page.get_by_role("img", name='A "line" & words.').bounding_box()["width"] == 90
            assert page.locator("body").inner_text().strip() == "" and page.get_by_alt_text("A dot.").count() == 1


def test_a_built_page_has_the_picture_and_the_figure_itself():
    assert drawn(f"<p>{image(SVG, 'A line.')}</p>") == f"<p>{inline(SVG)}</p>"
    assert drawn(image(SVG, "A line.", FIGURE)) == drawn(image("", "A line.", FIGURE)) == FIGURE


@pytest.mark.parametrize("path", every(Path(__file__).parents[2]), ids=lambda path: path.stem)
def test_what_a_host_may_take_out_of_an_output_leaves_a_picture_and_no_stray_text(path):
    outputs = [output for cell in nbformat.read(path, as_version=4).cells for output in cell.get("outputs", [])]
    for data in (output.get("data", {}) for output in outputs):
        assert data.keys() <= {"text/plain", "text/html"}
        html = BeautifulSoup(data.get("text/html", ""), "html.parser")
        for table in html.select("table.results"):
            table.decompose()
        assert html.get_text().strip() == "" and {tag.name for tag in html.find_all(True)} <= {"img"}
        for picture in html.select("img"):
            kind, svg = picture["src"].replace("\n", "").split(",", 1)
            assert kind == "data:image/svg+xml" and picture["alt"].strip()
            assert ET.fromstring(unquote(svg)).get("aria-label") == picture["alt"]
