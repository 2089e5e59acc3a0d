"""What `hero` sends: the same bytes for the same options, words for those without scripts, clear errors."""

import re
import subprocess
import sys
from collections import Counter
from html import escape
from io import BytesIO
from pathlib import Path

import pytest
from PIL import Image, ImageChops, ImageStat

from book.stills import WIDTH, figures, still
from d2lpos.figures import STYLE
from d2lpos.figures.hero import OPTIONS, STILLS, hero, module
from d2lpos.figures.style import PAGE
from tests.figures.hero.drawn import html

FIGURES = list(OPTIONS)
HERE = Path(__file__).parents[3] / "d2lpos/figures"


@pytest.mark.parametrize("name", FIGURES)
def test_the_bundle_holds_the_figure_and_its_words(name):
    figure = hero(name)
    bundle = figure._repr_mimebundle_()
    assert bundle == {"text/html": html(figure), "text/plain": figure.description}
    inside = re.search(r'<div data-hero="\w{12}">(.*?)</div>', html(figure), re.DOTALL)[1]
    assert f"<p>{figure.description}</p>" in inside
    acts = r"\b(drag|move (it|both|the)|switch|press|check|choose|pick|click|slider)\b"
    assert not re.search(acts, inside, re.IGNORECASE)  # there is nothing to do where scripts do not run


def test_a_picture_or_a_table_of_each_figure_of_the_book_stays_where_scripts_do_not_run():
    drawn = [figure for figure in figures() if figure.name != "grid"]
    assert {figure.name for figure in figures()} == set(OPTIONS)
    assert set(STILLS.glob("*.svg")) == {figure.still for figure in drawn}, "run `make cards`"
    for figure in drawn:
        picture = figure.still.read_text("utf-8")
        assert picture in figure.html.split("<script")[0]
        assert f'aria-label="{escape(figure.description)}"' in picture and len(picture) < 31_000
    assert "<table" in html(hero("grid")).split("<script")[0]
    assert "<svg" not in html(hero("dial", m=3)).split("<script")[0]


@pytest.mark.parametrize("name", ["board", "clocks", "gates"])
def test_a_picture_shows_what_the_script_draws_on_paper(browser, name):
    page = browser.new_page(viewport={"width": WIDTH, "height": 560}, reduced_motion="reduce")
    page.emulate_media(media="print")
    picture = still(page, hero(name))
    shots = [page.screenshot()]
    plain = picture.replace("'Source Sans 3', ", "")
    page.set_content(f"<body style='margin:0;--paper:#fff;--ink:#000'>{plain}")
    shots.append(page.screenshot())
    page.close()
    drawn, stored = (Image.open(BytesIO(shot)).convert("L") for shot in shots)
    off = ImageChops.difference(drawn, stored).point(lambda value: 255 * (value > 96))
    assert ImageStat.Stat(off).mean[0] / 255 < 0.005


SIZES = [
    ("board", {"still": "all"}, 60_000),
    ("gates", {}, 40_000),
    ("grid", {}, 60_000),
    ("patch", {"target": "ring", "view": "to scale"}, 55_000),
    ("ranks", {}, 60_000),
    ("stack", {"layers": ["full"] * 4}, 50_000),
]


@pytest.mark.parametrize(("name", "options", "most"), SIZES)
def test_the_figure_is_small_enough_for_a_page(name, options, most):
    assert len(html(hero(name, **options)).encode()) < most


@pytest.mark.parametrize("name", FIGURES)
def test_the_same_options_give_the_same_bytes_and_others_another_key(name):
    def key(figure):
        return re.search(r'data-hero="(\w+)"', html(figure))[1]

    assert hero(name).html == html(hero(name))
    keys = {key(hero(name))} | {key(hero(name, **{o: v})) for o, v in OTHERS[name].items()}
    assert len(keys) == 1 + len(OTHERS[name])


OTHERS = {
    "board": {"layer": 16, "pair": 0, "still": "all"},
    "buckets": {"kind": "shaw", "buckets": 8, "max_distance": 40, "clip": 1, "length": 8, "offset": 127},
    "cliff": {"p": 31, "length": 20, "remedy": "blocks"},
    "clocks": {"p": 63, "mode": "digits", "base": 10_000, "plain": True},
    "dial": {"m": 0, "n": 32, "pair": 0, "lock": True},
    "dropout": {"place": "whole position", "rate": 0.5, "offset": 32, "seed": 8},
    "gates": {"gates": "stop", "query": 8, "word": 0},
    "grid": {"study": "order", "value": "loss", "split": "unseen", "length": 64},
    "ranks": {"order": (0, 1, 2, 3, 4, 5, 6, 7), "rule": "each"},
    "patch": {"target": "ring", "view": "to scale", "row": 0, "column": 7},
    "shuffle": {"order": (5, 4, 3, 2, 1, 0), "positions": True, "causal": True, "seed": 8},
    "slopes": {"heads": 12, "length": 4096, "rule": "paper", "back": 256, "match": 12},
    "stack": {"layers": ("full", "none", "window", "full"), "sharper": True, "length": 32, "record": False},
    "stretch": {"rule": "yarn", "length": 64},
}
for options in OTHERS.values():
    options["play"] = True


@pytest.mark.parametrize("name", FIGURES)
def test_the_docstring_tells_each_option_with_its_values(name):
    paragraph = re.search(rf"^ *{name}: (.*?)(?=^ *\w+: |\n\n)", hero.__doc__, re.DOTALL | re.MULTILINE)[1]
    words = set(re.findall(r"[\w-]+", paragraph))
    for option, known in OPTIONS[name].items():
        assert option in words or option == "play", option
        limits = re.fullmatch(r"(?:None or )?a whole number from (-?\d+) to (-?\d+)", known.wanted)
        if limits and option not in ("seed", "word"):  # the last word is the query
            assert set(limits.groups()) <= words, option
        if known.wanted.startswith("one of ") and name != "slopes":  # its lengths are powers of two
            assert set(re.findall(r"[\w-]+", known.wanted[7:])) <= words, option


def test_every_option_is_tried():
    tried, known = ({name: set(options) for name, options in all.items()} for all in (OTHERS, OPTIONS))
    assert tried == known


CHANGED = {"order": [0, 5, 2, 3, 4, 1], "positions": True, "causal": True}
WORDS_OF = [
    ("buckets", {}, "causal model, with maximum distance 128"),
    ("buckets", {}, "After training on 64 tokens, 5 of the buckets"),
    ("buckets", {"kind": "both"}, "for two sides"),
    ("buckets", {"kind": "shaw"}, "clip 16: "),
    ("cliff", {}, "Positions that are 8 apart"),
    ("cliff", {"length": 20, "remedy": "error"}, "8 to 19 have no row"),
    ("cliff", {"length": 32, "remedy": "last row"}, "7 to 31 all get row 7"),
    ("cliff", {"length": 20, "remedy": "stretched"}, "become 0.37 as long"),
    ("cliff", {"length": 8, "remedy": "blocks"}, "a row of its own"),
    ("clocks", {"mode": "digits"}, "position 11 as 001011."),
    ("clocks", {"p": 40, "base": 10_000}, "position 40, each 4.64 times"),
    ("dial", {"m": 3, "n": 20, "pair": 0}, "position 3 and a key at position 20 by ω = 1.00 rad"),
    ("dial", {"m": 3, "n": 20, "pair": 0}, "= −0.28."),
    ("grid", {}, "read 128, 256 and 512? Loss in nats on the last tokens at length 512."),
    ("grid", {"study": "order"}, "Accuracy at length 8. The"),
    ("shuffle", {}, "nothing else changes"),
    ("shuffle", CHANGED, "“the dog jumps over the fox”, with positions added, under a causal mask."),
    ("slopes", {}, "on the nearest 10, 19, 37, 74, 148, 293, 458, 497 keys"),
    ("slopes", {}, "64 tokens back that scores 6 more gets 0, 0, 2, 31, 63, 70, 66, 59 %"),
    ("slopes", {"heads": 12, "rule": "paper"}, "12 heads and the slopes of the paper rule"),
    ("stretch", {}, "256 tokens brings them to 4 times"),
    ("dropout", {}, "rate 0.2 on the position only. The similarity of positions 8 and 12 is 8.6"),
    ("dropout", {"place": "sum"}, "a standard deviation of 2.3."),
    ("dropout", {"place": "independent"}, "a standard deviation of 2.3."),
    ("dropout", {"place": "whole position"}, "a standard deviation of 6.5."),
    ("dropout", {"place": "token"}, "a standard deviation of 0.0."),
    ("dropout", {"place": "none"}, "a standard deviation of 0.0."),
]


def test_the_words_follow_the_options():
    for name, options, words in WORDS_OF:
        assert words in hero(name, **options).description, (name, options)
    assert "nothing else" not in hero("shuffle", **CHANGED).description
    assert "A word" not in hero("slopes", length=64).description


# A figure, its options, and what is said of them; a TypeError of an unknown option, a ValueError of all else.
BAD = [
    ("dials", {},
     ("no hero figure 'dials'; there are board, buckets, cliff, clocks, dial, dropout, gates, "
      "grid, patch, ranks, shuffle, slopes, stack, stretch")),
    ("board", {"layer": 30}, r"layer of board must be None or a whole number from 0 to 29; got 30"),
    ("board", {"pair": True}, r"pair of board must be None or a .* from 0 to 31; got True"),
    ("board", {"still": True}, r"still of board must be None or 'all'; got True"),
    ("board", {"still": "all", "pair": 3},
     r"layer and pair of board must be None where still is 'all'; got None and 3"),
    ("buckets", {"kind": "t5"}, r"kind of buckets must be one of both, causal, shaw; got 't5'"),
    ("buckets", {"buckets": 12}, r"buckets of buckets must be one of 8, 16, 32, 64; got 12"),
    ("buckets", {"offset": 128}, r"a whole number from -127 to 127; got 128"),
    ("cliff", {"p": 32}, r"p of cliff must be a whole number from 0 to 31; got 32"),
    ("cliff", {"length": 7}, r"length of cliff .* from 8 to 32; got 7"),
    ("cliff", {"remedy": "clamp"}, r"one of error, last row, wrapped, .* got 'clamp'"),
    ("clocks", {"p": 64}, r"p of clocks must be a whole number from 0 to 63; got 64"),
    ("clocks", {"mode": "bits"}, r"mode of clocks must be one of digits, clocks; got 'bits'"),
    ("clocks", {"plain": 1}, r"plain of clocks must be True or False; got 1"),
    ("clocks", {"plain": True, "mode": "digits"},
     r"mode of clocks must be clocks where plain is True; got 'digits'"),
    ("clocks", {"base": 1e4}, r"base .* one of 8, 64, 1000, 10000, 100000; got 10000.0"),
    ("dial", {"q": 3}, r"dial has no option 'q'; it has m, n, pair, lock"),
    ("dial", {"m": 33}, r"m of dial must be a whole number from 0 to 32; got 33"),
    ("dial", {"m": True}, r"m of dial .* got True"),
    ("dial", {"lock": 1}, r"lock of dial must be True or False; got 1"),
    ("dropout", {"rate": 0.6}, r"rate of dropout must be a number from 0 to 0.5; got 0.6"),
    ("dropout", {"rate": float("nan")}, r"rate .* got nan"),
    ("dropout", {"offset": 0}, r"offset of dropout must be a whole number from 1 to 32; got 0"),
    ("dropout", {"place": "Sum"}, r"place .* one of none, sum, token, .* got 'Sum'"),
    ("gates", {"gates": "all"}, r"gates of gates must be one of equal, stop, nouns; got 'all'"),
    ("gates", {"query": 12}, r"query of gates must be a whole number from 0 to 11; got 12"),
    ("gates", {"word": -1}, r"word of gates must be a whole number from 0 to 11; got -1"),
    ("gates", {"word": 8, "query": 7}, r"word of gates must not stand after its query; got 8 and 7"),
    ("grid", {"study": "dial"}, r"study of grid must be one of order, .*, digits; got 'dial'"),
    ("grid", {"length": "64"}, r"length of grid must be None or a whole number; got '64'"),
    ("grid", {"length": 32}, r"length of extrapolation must be one of 64, 128, 256, 512; got 32"),
    ("grid", {"length": 0}, r"length of extrapolation must be one of 64, 128, 256, 512; got 0"),
    ("grid", {"study": "order", "split": "unseen"}, r"split of order must be one of test; got"),
    ("grid", {"study": "needle", "value": "loss_last"},
     r"value of needle must be one of accuracy, loss; got 'loss_last'"),
    ("patch", {"target": "column"},
     r"target of patch must be one of row, right, diagonal, ring; got 'column'"),
    ("patch", {"view": "16"}, r"view of patch must be one of 8 × 8, counted, to scale; got"),
    ("patch", {"row": 8}, r"row of patch must be a whole number from 0 to 7; got 8"),
    ("patch", {"column": True}, r"column of patch .* got True"),
    ("shuffle", {"order": [0, 1, 2, 3, 4, 4]}, r"order .* the numbers 0 to 5 in any order; got"),
    ("shuffle", {"order": "012345"}, r"order .* got '012345'"),
    ("shuffle", {"order": [0, True, 2, 3, 4, 5]}, r"order .* got \[0, True"),
    ("ranks", {"order": [7, 0, 1, 6, 2, 5, 3, 4]}, r"two for each processor, the earlier one"),
    ("ranks", {"order": [0, 1, 2, 3]}, r"order of ranks must be the chunks 0 to 7, .*got \[0"),
    ("ranks", {"order": "01234567"}, r"order of ranks must be .*; got '01234567'"),
    ("ranks", {"order": [0, True, 2, 3, 4, 5, 6, 7]}, r"order of ranks .* got \[0, True"),
    ("ranks", {"rule": "rank"}, r"rule of ranks must be one of text, row, each; got 'rank'"),
    ("stretch", {"rule": "pi"}, r"rule of stretch must be one of as trained, .*; got 'pi'"),
    ("stretch", {"length": 63}, r"length of stretch must be a whole number from 64 to 512"),
    ("stack", {"layers": ["full"] * 3}, r"layers of stack must be four of full, window, none; got"),
    ("stack", {"layers": "full"}, r"layers of stack .*; got 'full'"),
    ("stack", {"layers": ["full", "full", "full", "rope"]}, r"layers of stack .* got .*'rope'"),
    ("stack", {"length": 31}, r"length of stack must be a whole number from 32 to 256; got 31"),
    ("stack", {"record": None}, r"record of stack must be True or False; got None"),
    ("stack", {"sharper": 1}, r"sharper of stack must be True or False; got 1"),
    ("slopes", {"heads": 17}, r"heads of slopes must be a whole number from 1 to 16; got 17"),
    ("slopes", {"length": 500}, r"length of slopes must be one of 4, 8, .*, 4096; got 500"),
    ("slopes", {"rule": "code"}, r"rule of slopes must be one of released, paper; got"),
    ("slopes", {"back": 100}, r"back of slopes must be one of 2, 4, .*, 2048; got 100"),
    ("slopes", {"match": 13}, r"match of slopes must be a whole number from 0 to 12; got 13"),
    ("cliff", {"play": 1}, r"play of cliff must be True or False; got 1"),
    ("shuffle", {"seed": -1}, r"seed of shuffle .* 0 to 4294967295; got -1"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "options", "message"), BAD)
def test_bad_input_is_refused(name, options, message):
    with pytest.raises(TypeError if "has no option" in message else ValueError, match=message):
        hero(name, **options)


def test_the_module_is_printed_without_torch_and_matplotlib():
    script = """
import runpy, sys
sys.argv = sys.argv[1:]
sys.modules |= dict.fromkeys(["d2lpos", "matplotlib", "numpy", "torch"])  # None makes an import fail
runpy.run_path(sys.argv[0], run_name="__main__")
"""
    run = [sys.executable, "-c", script, str(HERE / "hero.py"), "dial"]
    assert subprocess.run(run, capture_output=True, text=True, check=True).stdout == module("dial")


# The sources.

SOURCES = {path.stem: path.read_text("utf-8") for path in HERE.glob("*.js")}


def test_every_source_is_a_figure_or_the_helpers():
    assert set(SOURCES) == {*FIGURES, "helpers", "reader", "row", "machine"}


@pytest.mark.parametrize("name", SOURCES)
def test_a_source_is_small_and_asks_for_nothing(name):
    assert len(SOURCES[name].encode()) < (25_600 if name == "machine" else 14_750)
    asks = r"^import |https?://(?!www\.w3\.org)|innerHTML|fetch\(|</script|<!--"
    assert not re.search(asks, SOURCES[name], re.MULTILINE)


def test_the_machine_that_reads_is_small():
    assert sum(len(SOURCES[name].splitlines()) for name in ("reader", "machine")) <= 440


def test_no_helper_stands_in_two_modules():
    names = Counter(
        name
        for source in SOURCES.values()
        for name in re.findall(r"^(?:export )?(?:const|function) (\w+)", source, re.MULTILINE)
    )
    assert names["easing"] == 1  # the search finds something
    assert {name for name, count in names.items() if count > 1} == {"LOOK", "TOUR", "render"}


def test_the_plain_form_is_sent_where_it_is_asked_for():
    assert SOURCES["row"] in hero("clocks", plain=True).html
    assert SOURCES["row"] not in hero("clocks").html


@pytest.mark.parametrize("name", FIGURES)
def test_colors_are_those_of_the_encodings(name):
    known = PAGE | {f"enc-{key}": style.color for key, style in STYLE.items()}
    used = re.findall(r"var\(--([\w-]+),(#\w+)\)", SOURCES[name])
    assert used and all(known[key] == color for key, color in used)
    assert re.findall(r"#[0-9a-fA-F]{6}\b", SOURCES[name]) == [color for _, color in used]
