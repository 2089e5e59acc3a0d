"""The slider: what it stores, what it does live, and how it behaves in each place that shows a notebook."""

import re
from functools import cache
from types import SimpleNamespace

import nbformat
import pytest
from d2lpos_ext.svg import drawn
from nbclient import NotebookClient

from d2lpos.figures import STYLE, explore, figure

CELL = """\
from d2lpos.figures import explore, figure

def draw(shift):
    fig, ax = figure(height=2)
    ax.plot([0, shift])
    return fig

explore(draw, [1, 2], "shift", "A line.")
"""
WIDGET = "application/vnd.jupyter.widget-view+json"


def draw(shift):
    fig, ax = figure(height=2)
    ax.plot([0, 1, 2], [shift, 0, -shift], **STYLE["alibi"].line)
    ax.set_title(f"drawn for {shift}")
    return fig


def slider(values=range(5), name="shift"):
    return explore(draw, values, name, alt=lambda value: f"A line that falls by {value}.")


@cache
def stored(name="shift"):
    """What a page keeps of the slider, drawn once for all tests."""
    return slider(name=name).html


def bundle(explorer):
    """What a notebook gets, with its figure in the place of the image."""
    data = explorer._repr_mimebundle_()
    return data | {"text/html": drawn(data["text/html"])}


def test_without_a_kernel_the_bundle_is_a_page_and_its_words():
    assert set(bundle(slider())) == {"text/html", "text/plain"}
    assert bundle(slider())["text/plain"] == "A line that falls by 0."
    assert bundle(slider()) == bundle(slider())  # the same bytes on every run


def test_the_page_holds_a_picture_and_its_words_for_each_value():
    html = bundle(slider())["text/html"]
    assert re.findall(r'(?:alt|aria-label)="(.*?)"', html) == [
        f"A line that falls by {shift}." for shift in range(5)
    ]
    assert re.findall(r">drawn for (\d)<", html) == list("01234")
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", html)


def test_values_read_as_a_person_writes_them():
    html = bundle(slider((-1, 0.5, 1e-4), name="slope <m>"))["text/html"]
    assert re.findall(r'data-value="(.*?)"', html) == ["0.5", "0.0001"]
    assert ">−1</output>" in html
    assert "slope &lt;m&gt;" in html


@pytest.mark.parametrize("values", [[], [1]])
def test_a_slider_with_nothing_to_slide_is_refused(values):
    with pytest.raises(ValueError, match=f"a slider needs two values, but there are {len(values)}"):
        slider(values)


def test_values_that_read_alike_are_refused():
    with pytest.raises(ValueError, match="values must read differently; got 1, 1, 2"):
        slider((1.0000001, 1.0000002, 2.0))


def test_live_the_slider_has_every_value_and_draws_as_it_moves():
    control, view = slider(range(5)).live().children
    control.value = 3
    assert "drawn for 3" in view.value and "falls by 3" in view.value


def test_a_kernel_adds_the_live_view_to_the_same_page():
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(CELL)])
    client = NotebookClient(notebook, startup_timeout=300, kernel_name="python3", store_widget_state=False)
    client.execute()
    (output,) = notebook.cells[0].outputs
    assert set(output.data) == {WIDGET, "text/html", "text/plain"}
    assert output.data[WIDGET]["version_major"] == 2 and len(output.data[WIDGET]["model_id"]) == 32


def test_a_kernel_without_ipywidgets_shows_the_page_and_one_sentence(monkeypatch, without):
    monkeypatch.setattr("IPython.get_ipython", lambda: SimpleNamespace(kernel=True))
    without("ipywidgets")
    data = bundle(slider(range(9)))
    assert set(data) == {"text/html", "text/plain"}
    assert "The slider steps through 9 stored pictures, because ipywidgets is not installed." in data["text/html"]


# In the browser


@pytest.fixture
def page(browser):
    page = browser.new_page()
    problems = []
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
    page.on("request", lambda request: problems.append(request.url) if request.url[:5] != "data:" else None)
    yield page
    page.close()
    assert not problems


def state(frame, index=0):
    """What slider number `index` says, to the ear and to the eye."""
    root = frame.locator("[data-explore]").nth(index)
    return (
        root.locator("input").get_attribute("aria-valuetext"),
        root.locator("output").inner_text(),
        root.get_by_role("img").get_attribute("aria-label"),
    )


def test_the_keyboard_moves_it_and_its_neighbor_stays(page):
    page.set_content(stored() + stored("offset"))
    control = page.get_by_role("slider", name="shift")
    control.press("ArrowRight")
    control.press("ArrowRight")
    assert state(page) == ("2", "2", "A line that falls by 2.")
    assert state(page, 1) == ("0", "0", "A line that falls by 0.")
    control.press("End")
    assert state(page) == ("4", "4", "A line that falls by 4.")
    control.press("Home")
    assert state(page) == ("0", "0", "A line that falls by 0.")
    assert page.get_by_text("drawn for").count() == 2  # one picture at a time in each


def test_a_hand_can_drag_it(page):
    page.set_content(stored())
    box = page.get_by_role("slider").bounding_box()
    assert box["height"] >= 44
    page.mouse.move(box["x"] + 10, box["y"] + 22)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] - 2, box["y"] + 22)
    page.mouse.up()
    assert state(page)[0] == "4"


def test_two_copies_of_one_output_both_work(page):
    page.set_content(stored() * 2)
    page.get_by_role("slider").nth(1).press("ArrowRight")
    assert state(page)[0] == "0" and state(page, 1)[0] == "1"


def test_without_scripts_the_first_picture_stands(browser):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.set_content(stored())
    assert page.get_by_role("img").count() == 1
    assert page.get_by_role("slider").is_disabled()
    context.close()


def test_it_fits_a_narrow_page(page):
    page.set_viewport_size({"width": 320, "height": 600})
    page.set_content(f"<style>svg {{max-width:100%; height:auto}}</style>{stored()}")
    assert page.evaluate("document.documentElement.scrollWidth") <= 320
