"""What `hero` sends: the same bytes for the same options, words for those without scripts, clear errors."""

import re
from html import escape
from io import BytesIO
from pathlib import Path

import pytest
from d2lpos_ext.svg import drawn
from PIL import Image, ImageChops, ImageStat

from book.stills import WIDTH, figures, still
from d2lpos.figures import STYLE
from d2lpos.figures.hero import OPTIONS, STILLS, hero
from d2lpos.figures.style import PAGE

FIGURES = list(OPTIONS)
HERE = Path(__file__).parents[3] / "d2lpos/figures"


@pytest.mark.parametrize("name", FIGURES)
def test_the_bundle_holds_the_figure_and_its_words(name):
    figure = hero(name)
    bundle = figure._repr_mimebundle_()
    assert bundle.keys() == {"text/html", "text/plain"} and bundle["text/plain"] == figure.description
    assert drawn(bundle["text/html"]) == figure.html
    inside = re.search(r'<div data-hero="\w{12}">(.*?)</div>', figure.html, re.DOTALL)[1]
    assert f"<p>{escape(figure.description)}</p>" in inside
    acts = r"\b(drag|move (it|both|the)|switch|press|check|choose|pick|click|slider)\b"
    assert not re.search(acts, inside, re.IGNORECASE)  # there is nothing to do where scripts do not run


def test_a_picture_of_each_figure_of_the_book_stays_where_scripts_do_not_run():
    assert {figure.name for figure in figures()} == set(OPTIONS)
    assert set(STILLS.glob("*.svg")) == {figure.still for figure in figures()}, "run `make cards`"
    for figure in figures():
        assert not figure.description.startswith("The interactive"), f"write words for {figure.name} into descriptions.json"
        picture = figure.still.read_text("utf-8")
        assert picture in figure.html.split("<script")[0]
        assert f'aria-label="{escape(figure.description)}"' in picture and len(picture) < 31_000
    assert "<svg" not in hero("dial", m=3).html.split("<script")[0]


@pytest.mark.parametrize("name", ["clocks", "gates", "packed", "pairs"])
def test_a_picture_shows_what_the_script_draws_on_paper(browser, name):
    page = browser.new_page(viewport={"width": WIDTH, "height": 560}, reduced_motion="reduce")
    page.emulate_media(media="print")
    picture = still(page, hero(name))
    shots = [page.screenshot()]
    plain = picture.replace("'Source Sans 3', ", "")
    page.set_content(f"<body style='margin:0;--paper:#fff;--ink:#000'>{plain}")
    shots.append(page.screenshot())
    page.close()
    live, stored = (Image.open(BytesIO(shot)).convert("L") for shot in shots)
    off = ImageChops.difference(live, stored).point(lambda value: 255 * (value > 96))
    assert ImageStat.Stat(off).mean[0] / 255 < 0.005


def test_the_same_options_give_the_same_bytes_and_others_another_key():
    def key(figure):
        return re.search(r'data-hero="(\w+)"', figure.html)[1]

    others = {"m": 0, "n": 31, "play": True}
    assert others.keys() == OPTIONS["dial"].keys()
    assert hero("dial").html == hero("dial").html
    assert len({key(hero("dial")), *(key(hero("dial", **{name: value})) for name, value in others.items())}) == 4


def test_the_numbers_in_the_words_are_those_that_the_figure_draws():
    """But of the pairs, whose words sum up records (test_pairs.py)."""
    sizes = {"2", "5", "8", "12", "16", "128"}  # of a base, a lead, chunks, places, a window, a text
    number = r"(?<![\w.])\d+(?:,\d{3})*(?:\.\d+)?"
    for figure in figures():
        if figure.name != "pairs":
            drawn = re.findall(r">([^<]+)<", figure.still.read_text("utf-8"))
            known = re.findall(number, str([drawn, figure.state, OPTIONS[figure.name]]))
            assert set(re.findall(number, figure.description)) - {*known} <= sizes, figure.name


def test_a_state_that_is_not_in_the_book_is_told_by_its_options():
    assert hero("dial", m=3).description == "The interactive figure “dial” with m = 3, n = 6."


# A figure, its options, and what is said of them; a TypeError of an unknown option, a ValueError of all else.
BAD = [
    ("dials", {},
     ("no hero figure 'dials'; there are buckets, cliff, clocks, dial, dropout, gates, "
      "lengths, longer, packed, pairs, patch, shuffle, slopes, stretch")),
    ("buckets", {"buckets": 12}, r"buckets of buckets must be one of 8, 16, 32, 64; got 12"),
    ("buckets", {"offset": 128}, r"a whole number from -127 to 127; got 128"),
    ("clocks", {"plain": 1}, r"plain of clocks must be True or False; got 1"),
    ("clocks", {"plain": True, "mode": "digits"},
     r"mode of clocks must be clocks where plain is True; got 'digits'"),
    ("dial", {"q": 3}, r"dial has no option 'q'; it has m, n"),
    ("dial", {"m": True}, r"m of dial .* got True"),
    ("dropout", {"rate": 0.6}, r"rate of dropout must be a number from 0 to 0.5; got 0.6"),
    ("dropout", {"rate": float("nan")}, r"rate .* got nan"),
    ("pairs", {"pair": 32}, r"pair of pairs must be None or a whole number from 0 to 31; got 32"),
    ("shuffle", {"order": "012345"}, r"order .* got '012345'"),
    ("shuffle", {"order": [0, True, 2, 3, 4, 5]}, r"order .* got \[0, True"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "options", "message"), BAD)
def test_bad_input_is_refused(name, options, message):
    with pytest.raises(TypeError if "has no option" in message else ValueError, match=message):
        hero(name, **options)


# The sources.

SOURCES = {path.stem: path.read_text("utf-8") for path in HERE.glob("*.js")}


@pytest.mark.parametrize("name", SOURCES)
def test_a_source_is_small_and_asks_for_nothing(name):
    assert len(SOURCES[name].encode()) < (25_600 if name == "machine" else 14_750)
    asks = r"^import |https?://(?!www\.w3\.org)|innerHTML|fetch\(|</script|<!--"
    assert not re.search(asks, SOURCES[name], re.MULTILINE)


@pytest.mark.parametrize("name", FIGURES)
def test_colors_are_those_of_the_encodings(name):
    known = PAGE | {f"enc-{key}": style.color for key, style in STYLE.items()}
    used = re.findall(r"var\(--([\w-]+),(#\w+)\)", SOURCES[name])
    assert used and all(known[key] == color for key, color in used)
    assert re.findall(r"#[0-9a-fA-F]{6}\b", SOURCES[name]) == [color for _, color in used]
