"""The book as one PDF: the document that is printed, and what Chromium makes of it."""

import re
import shutil
from collections import Counter
from copy import copy
from pathlib import Path

import pikepdf
import pypdfium2
import pytest
from bs4 import BeautifulSoup

from book.downloads import PDF
from book.paper import ROOT, WIDTH, address, chosen, contents, gather, opened, write
from tests.browser import need_chromium
from tests.site.detectors import SCRIPT
from tests.site.pages import PAGES

MOST, SHEETS, HALF, THIRD = 12e6, 620, 0.02, 1 / 3  # bytes, pages, the share of half-empty ones, the least of a sheet
PRINTED = [name for _, names in chosen() for name in names]


@pytest.fixture(scope="module")
def document(printed) -> BeautifulSoup:
    return BeautifulSoup(printed.with_name("paper.html").read_text("utf-8"), "html.parser")


def headings(document: BeautifulSoup) -> list[str]:
    return [heading.get_text() for heading in document.select("h1")]


def test_every_page_is_there_in_order(document):
    assert list(contents()) == PAGES and set(PRINTED) < set(PAGES)
    assert [leaf["id"] for leaf in document.select(".leaf")] == [Path(name).stem for name in PRINTED]
    others = [link["href"] for link in document.select(".plan .others a")]
    assert others == [address(name)[0] for name in PAGES if name not in PRINTED]
    assert headings(document)[:2] == ["Contents", "How does a Transformer know the order of its words?"]


def test_ids_are_unique_and_everything_that_is_named_is_there(document):
    ids = Counter(tag["id"] for tag in document.select("[id]"))
    assert [name for name, count in ids.items() if count > 1] == []
    named = [link["href"][1:] for link in document.select("a[href^='#']")]
    named += [use["xlink:href"][1:] for use in document.find_all("use", attrs={"xlink:href": True})]
    named += re.findall(r"url\(#([^)]+)\)", str(document))
    assert named and sorted(set(named) - ids.keys()) == []


def test_pictures_keep_the_styles_of_their_page(document):
    rules = dict(re.findall(r'\[id="(.+?)"\] {(.*)}\n', document.style.string))
    used = [(leaf["id"], tag["class"][0]) for leaf in document.select(".leaf") for tag in leaf.select("[class^='_']")]
    assert used and all(f".{name}{{" in rules[leaf] for leaf, name in used)


def test_links_lead_into_the_book_or_to_the_web(document):
    assert [link["href"] for link in document.select("a") if not re.match("#|https?:", link["href"])] == []


def test_nothing_is_folded_and_no_answer_stands_beside_its_question(document, site):
    assert [cell for cell in document.select(".cell") if not cell.find(True)] == []
    assert document.select("details, .headerlink, form, [data-explore]") == []
    leaves = {leaf["id"]: leaf for leaf in document.select(".leaf")}
    for name in PRINTED:
        page = (site / f"{name}.html").read_text("utf-8")
        leaf = leaves[Path(name).stem]
        answers = leaf.select("section[id$='-answers'] > .admonition")
        folded = len(re.findall(r'class="[^"]*\b(?:predict|review)\b(?! again)|<details class="solution ', page))
        assert len(answers) == len(leaf.select(".turn")) == folded
        assert not leaf.select(".exercise ~ .solution")


def test_what_shows_the_answer_to_a_prediction_first_goes_to_the_end_with_it():
    asked = '<div class="predict"><p>Predict first</p><p>How many?</p><details><summary>Compare</summary><p>Seven.</p></details></div>'
    told = '<div class="told"><div class="cell"><pre>count()</pre><div class="output">7</div></div><p>They are seven.</p>{}</div>'
    for rest in ("", "<p><strong>Next.</strong> Who?</p>", '<div class="cell"></div>', '<div class="math">x</div><p>So.</p>'):
        article = BeautifulSoup(f"<article><section>{asked}{told.format(rest)}</section></article>", "html.parser").article
        gather(article)
        below = article.select_one(".predict").find_next_sibling()
        assert below.decode_contents() == rest
        assert [tag.get_text() for tag in article.select("#answers > *")][1:] == ["Prediction 1Seven.", "count()7", "They are seven."]


def test_sliders_become_rows_of_pictures(document):
    rows = document.select(".frames")
    assert rows
    for row in rows:
        assert 2 <= len(row.select("svg")) == len({words.get_text() for words in row.select("p")}) <= 6


def test_figures_are_drawn_for_the_width_that_they_are_printed_at():
    """Else a figure that is laid out for one column may be printed in two, with letters half as large."""
    css = (ROOT / "book/paper.css").read_text("utf-8")
    page, margin = map(int, re.search(r"@page \{size:(\d+)mm \d+mm; margin:\d+mm (\d+)mm ", css).groups())
    assert round((page - 2 * margin) / 25.4 * 96) == WIDTH


@pytest.fixture(scope="module")
def printed(site, tmp_path_factory) -> Path:
    need_chromium()
    copy = tmp_path_factory.mktemp("paper") / "html"
    shutil.copytree(site, copy)
    write(copy)
    return copy


@pytest.fixture(scope="module")
def pdf(printed):
    with pikepdf.open(printed / PDF) as pdf:
        yield pdf


FOOT = 48  # points below the text of a page


@pytest.fixture(scope="module")
def sheets(printed):
    """The text of each page, and where its first line begins and its last ends, in points."""
    with pypdfium2.PdfDocument(printed / PDF) as pdf:
        pages_of = []
        for page in pdf:
            text = page.get_textpage()
            lines = [text.get_rect(line) for line in range(text.count_rects())]
            lines = [(top, bottom) for _, bottom, _, top in lines if bottom > FOOT]
            pages_of.append((text, max(lines)[0], min(low for _, low in lines)))
        yield pages_of


@pytest.fixture(scope="module")
def pages(sheets) -> list[str]:
    """The words of each page."""
    return [text.get_text_bounded() for text, _, _ in sheets]


def test_it_is_small_and_tagged_and_names_itself(printed, pdf):
    assert (printed / PDF).stat().st_size < MOST
    assert pdf.Root.MarkInfo.Marked and pdf.Root.StructTreeRoot.K
    assert pdf.Root.Lang == "en" and pdf.Root.ViewerPreferences.DisplayDocTitle
    assert {str(pdf.docinfo[name]) for name in ("/Title", "/Author")} == {"Where words stand", "the d2lpos authors"}


def test_bookmarks_and_contents_lead_to_every_chapter(document, pdf, pages):
    with pdf.open_outline() as outline:
        assert [item.title for item in outline.root] == headings(document)
    plan = copy(document.select_one(".plan"))
    for link in plan.select("a[href^='#']"):
        page = pikepdf.Page(pdf.Root.Dests[f"/{link['href'][1:]}"][0]).index
        assert bare(link.span.get_text()) in bare(pages[page])
        link.select_one(".number").string = str(page + 1)
    assert bare(plan.get_text()) in bare("".join(pages))


def bare(words: str) -> str:
    """Words without the spaces between them, which a reader of PDF can only guess."""
    return re.sub(r"\s", "", words)


def test_it_has_few_sheets_and_few_of_them_end_above_their_middle(document, printed, pdf):
    """A figure does not break, so a sheet may end early before one, and the last of a page where it likes."""
    assert len(pdf.pages) <= SHEETS
    begins = {pikepdf.Page(pdf.Root.Dests[f"/{leaf['id']}"][0]).index for leaf in document.select(".leaf")}
    with pypdfium2.PdfDocument(printed / PDF) as drawn:
        ends = [lowest(page) for page in drawn]
    early = [n for n, end in enumerate(ends[:-1], 1) if end < 0.5 and n not in begins]
    assert len(early) <= HALF * len(ends), early
    assert [n for n in early if ends[n - 1] < THIRD] == []
    first = pikepdf.Page(pdf.Root.Dests["/quick"][0]).index
    assert first + 1 in begins  # as it says, it prints on one sheet


def test_letters_are_outlines_of_a_font(pdf):
    kinds = [font["/Subtype"] for page in pdf.pages for font in page.resources.get("/Font", {}).values()]
    assert kinds.count("/Type3") <= len(kinds) / 50


def lowest(page) -> float:
    """Where the lowest ink of a page is that belongs to its text, as a share of its height."""
    picture = page.render(scale=0.3, grayscale=True).to_pil().point(lambda shade: 255 * (shade < 235))
    width, height = picture.size
    box = picture.crop((0, 0, width, round(height * (1 - FOOT / page.get_height())))).getbbox()
    return box[3] / height if box else 0


def test_no_page_is_empty_and_every_number_is_known(pages):
    assert [number for number, words in enumerate(pages, 1) if len(words) < 30] == []
    assert not re.search(r"(?<![.\d])000$|\bpage 000\b|\bundefined\b|Loading", "\n".join(pages), re.MULTILINE)


def test_no_heading_is_left_behind_at_the_foot_of_a_page(document, pages):
    titles = {bare(heading.get_text()) for heading in document.select(".leaf :is(h2, h3)")}
    assert titles <= {bare(line) for words in pages for line in words.splitlines()}
    assert [n for n, words in enumerate(pages, 1) if bare(words.splitlines()[-1]) in titles] == []


def beyond(sheets: list, words: str) -> list[tuple[int, float, float]]:
    """On which page the words stand, how far above them its first line is, and how far below them its last, in points."""
    gaps = []
    for number, (text, first, last) in enumerate(sheets, 1):
        search = text.search(words)
        while hit := search.get_next():
            _, bottom, _, top = text.get_charbox(hit[0])
            gaps.append((number, first - top, bottom - last))
    return gaps


@pytest.mark.parametrize("words", ["Solution: page", "Answer: page"])
def test_no_page_begins_with_what_ends_an_exercise_or_a_question(sheets, words):
    gaps = beyond(sheets, words)
    assert len(gaps) > 20
    assert [number for number, above, _ in gaps if above < 12] == []


@pytest.mark.parametrize("effort", ["minutes, easy", "minutes, medium", "minutes, hard"])
def test_no_exercise_parts_from_its_title(sheets, effort):
    gaps = beyond(sheets, effort)
    assert len(gaps) > 5
    assert [number for number, _, below in gaps if below < 12] == []


def test_nothing_runs_out_of_a_page(printed):
    with opened(printed.with_name("paper.html")) as page:
        page.evaluate(SCRIPT)
        assert page.evaluate("detect.text()") + page.evaluate("detect.overflow()") == []
