"""The diagram of the four doors: what each state shows and says, and whether all of it can be read."""

import re
from pathlib import Path

import pytest

from d2lpos.content import CoPE, FoX, Inkling, PaTH
from d2lpos.figures import STYLE, doors
from d2lpos.figures.doors import WIRE, WIRED
from d2lpos.offset.shaw import Shaw
from d2lpos.rotary import RoPE, RoPEValues
from tests.site.detectors import SCRIPT

STATIC = Path(__file__).parents[2] / "book/_static"


def test_only_the_open_doors_are_open():
    alt = doors({2}).alt
    assert re.findall(r"Door (\d), [^,]*, (\w+)", alt) == [
        ("1", "closed"),
        ("2", "open"),
        ("3", "closed"),
        ("4", "closed"),
    ]
    assert doors({2}).svg.count('<circle r="13"') == 2  # queries and keys
    assert doors(()).svg.count('<circle r="13"') == 0


def test_every_line_has_its_encoding_s_color_and_dash():
    svg = doors().svg
    for key in ("sinusoidal", "learned", "rope", "relative", "alibi"):
        dash = " ".join(str(2 * length) for length in STYLE[key].dash) or "none"
        assert f'stroke="{STYLE[key].css}" stroke-width="2" stroke-dasharray="{dash}"' in svg


def test_equal_words_leave_alike_unless_a_door_is_open():
    """The fifth column of the last row is that of “the”, as the first is."""

    def columns(svg):
        shades = re.findall(r'<path d="M(\d+) (\d+)h10v6h-10z" fill-opacity="([\d.]+)"/>', svg)
        after = [(int(x), shade) for x, y, shade in shades if int(y) > 400]
        return [[shade for x, shade in after if x == middle - 5] for middle in (17, 146)]

    first, second = columns(doors(()).svg)
    assert len(first) == 4 and first == second
    first, second = columns(doors({4}).svg)
    assert first != second


def test_the_wire_leads_to_those_who_read_the_text_and_to_no_others():
    guests = {guest.name: number for number, some in WIRED.items() for guest in some}
    assert guests == {"PaTH, RePo": 2, "decay": 3, "FoX": 3, "CoPE, Inkling": 3}
    assert all(encoding.needs_hidden for encoding in (PaTH, FoX, CoPE, Inkling))
    assert not any(encoding.needs_hidden for encoding in (RoPE, RoPEValues, Shaw))
    svg = doors(wire=True).svg
    for guest in (guest for some in WIRED.values() for guest in some):
        assert f">{guest.name}</text>" in svg
        assert f"M{WIRE} {guest.y}H" in svg or f"V{guest.y}H332" in svg, guest.name
    assert svg.count("sinusoidal") == svg.count("Shaw") == 0


def test_a_door_that_is_not_there_is_refused():
    with pytest.raises(ValueError, match=r"open is \{5\}; the doors have the numbers 1 to 4"):
        doors({5})


# Each text and where it ends, in the picture's own units.
ENDS = "[...document.querySelectorAll('svg text')].map(text => [text.textContent, text.getBBox().x + text.getBBox().width])"


@pytest.fixture
def page(browser, tmp_path):
    font = (STATIC / "fonts/source-sans-3-latin-wght-normal.woff2").as_uri()
    face = f'@font-face {{font-family:"Source Sans 3"; src:url({font})}}'
    path = tmp_path / "page.html"
    path.write_text(f'<meta charset="utf-8"><style>{face}</style>{doors(wire=True).svg}', "utf-8")
    page = browser.new_page()
    page.goto(path.as_uri())
    yield page
    page.close()


@pytest.mark.parametrize("face", ["Source Sans 3", "DejaVu Sans"])  # the book's, and a wide one
def test_no_text_is_cut_or_overlaps_another(face, page):
    """Nor does a name reach the wire. The doors without it stand on the first page, which `tests/site` looks through."""
    page.add_style_tag(content=f'text {{font-family:"{face}" !important}}')
    page.evaluate("document.fonts.load('13px \"Source Sans 3\"')")
    page.evaluate(SCRIPT)
    assert page.evaluate("[...detect.text(), ...detect.overlaps()]") == []
    arrows = {guest.name for some in WIRED.values() for guest in some}
    ends = page.evaluate(ENDS) if face == "Source Sans 3" else []
    for text, right in ends:
        assert right < (326 if text in arrows else WIRE), text
