"""What the build makes of a notebook: a tiny book, built with the configuration of the real one."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import nbformat
import pytest
from bs4 import BeautifulSoup
from d2lpos_ext.cells import EXERCISE, THEOREM, translate
from d2lpos_ext.formulas import Temml
from d2lpos_ext.svg import shorten
from d2lpos_ext.trust import SENTENCE, say_how_to_trust
from fontTools.ttLib import TTFont

from d2lpos.figures.image import image

ROOT = Path(__file__).parents[2]
GOOD = Path(__file__).with_name("good.ipynb")
TOC = """\
format: jb-book
root: book/preface
parts:
  - numbered: true
    chapters: [{file: chapters/01-order}]
  - numbered: true
    chapters: [{file: chapters/in-depth/01b-order}]
  - chapters: [{file: book/references}]
"""
PREFACE = """\
# A tiny book

It begins with [a sum](../chapters/01-order.ipynb). See Figure 1.1, exercise 1.2, equation (1.1) and the
[cell](#claim-sum-has-no-order) that decides. `[Haviv et al. (2022)](https://arxiv.org/abs/2203.16634)` is
code, and [Haviv et al. (2022)](https://arxiv.org/pdf/2203.16634v2.pdf) is a paper.
"""
CARD = {
    "exercise": "1.1",
    "code": "def total(x):\n    return x",
    "ask": {"id": "1.1.x", "kind": "choice", "options": ["a < b", "two"], "right": 1, "overlooks": {"0": "This one holds."}},
    "says": "✗ total: fails 1 of 2 properties",
}


def build(folder: Path, preface: str, notebook: str) -> subprocess.CompletedProcess:
    """Build a book of two pages and a bibliography, as `make book` does, where torch cannot be imported."""
    left_out = shutil.ignore_patterns("*.ipynb", "*.md", "__pycache__")
    shutil.copytree(ROOT / "book", folder / "book", ignore=left_out)
    shutil.copy(ROOT / "_config.yml", folder)
    (folder / "_toc.yml").write_text(TOC, "utf-8")
    (folder / "book" / "mistakes" / "01-order.json").write_text(json.dumps([CARD]), "utf-8")
    (folder / "book" / "preface.md").write_text(preface, "utf-8")
    (folder / "book" / "references.md").write_text("# References\n\n```{bibliography}\n```\n", "utf-8")
    (folder / "chapters" / "in-depth").mkdir(parents=True)
    (folder / "chapters" / "01-order.ipynb").write_text(notebook, "utf-8")
    deep = re.sub(r"\b1\.(\d)\b", r"1B.\1", notebook)
    deep = re.sub(r'"(ex-|sum-has|running-sum|list-has|beautiful)', r'"deep-\1', deep)
    (folder / "chapters" / "in-depth" / "01b-order.ipynb").write_text(deep, "utf-8")
    for name in ("torch", "d2lpos"):
        (folder / f"{name}.py").write_text(f"raise ImportError('a build needs no {name}')\n", "utf-8")
    program = "from jupyter_book.cli.main import main; main()"
    command = [sys.executable, "-c", program, "build", ".", "-W", "-n", "--keep-going", "-q"]
    environment = os.environ | {"PYTHONPATH": str(folder), "NO_COLOR": "1"}
    return subprocess.run(command, check=False, cwd=folder, env=environment, capture_output=True, text=True)


@pytest.fixture(scope="module")
def temml():
    temml = Temml()
    yield temml
    temml.close()


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("book")
    run = build(folder, PREFACE, GOOD.read_text("utf-8"))
    assert run.returncode == 0, run.stdout + run.stderr
    return folder / "_build" / "html"


def read(path: Path) -> BeautifulSoup:
    return BeautifulSoup(path.read_text("utf-8"), "html.parser")


@pytest.fixture(scope="module")
def page(site):
    return read(site / "chapters" / "01-order.html")


@pytest.fixture(scope="module")
def preface(site):
    return read(site / "index.html")


def words(element) -> str:
    return " ".join(element.get_text().split())


def beginnings(pattern: re.Pattern) -> list[re.Match]:
    cells = nbformat.read(GOOD, as_version=4).cells
    return [match for cell in cells if (match := pattern.match(cell.source))]


def test_exercises_keep_number_title_and_effort(page):
    heads = beginnings(EXERCISE)
    boxes = page.select("div.exercise")
    assert len(heads) == len(boxes) == 2
    for head, box in zip(heads, boxes, strict=True):
        title = box.select_one(".admonition-title")
        assert words(title.select_one(".caption-number")) == f"Exercise {head['number']}"
        assert head["title"].split(",")[0] in words(title)
        assert words(box.select_one(".effort")) == f"{head['minutes']} minutes, {head['difficulty']}"
        assert "**" not in words(box)
        assert "not attempted yet" in words(box)


def test_solutions_fold_below_their_exercise(page):
    for box in page.select("div.exercise"):
        solution = box.find_next_sibling()
        assert solution.name == "details" and "solution" in solution["class"] and "open" not in solution.attrs
        assert words(solution.summary) == f"Solution to {words(box.select_one('.admonition-title'))}"
        assert "✓" in words(solution)
        assert "#@title" not in words(solution)
        assert not solution.select("details")
    assert "Walk through the list from its end." in words(page.select_one("#solution-ex-reverse"))


def test_theorem_keeps_number_and_proof_is_marked(page):
    (head,), (box,) = beginnings(THEOREM), page.select("div.theorem")
    assert words(box.select_one(".admonition-title")) == f"Theorem {head['number']} ({head['title']})"
    assert words(page.select_one("div.proof:not(.theorem) em")) == "Proof."


def test_mistakes_stand_below_the_last_exercise_and_keep_their_answer(page):
    section = page.select_one("#find-the-mistake")
    assert page.select(".exercise, .solution")[-1].find_next("h2") == section.h2
    card = section.select_one(".mistake")
    assert words(card.p) == "Exercise 1.1, answered" and card.pre.get_text().startswith("def total(x):")
    assert "hidden" not in card.select_one(".ask").attrs and words(card.ul) == "a < b two"
    assert json.loads(card.select_one(".ask")["data-ask"])["right"] == 1
    assert "open" not in card.details.attrs and words(card.details.pre) == CARD["says"]


def test_question_lists_its_options_for_a_form_and_hides_what_they_overlook(page):
    box = page.select_one("#question-1-1")
    assert words(box.select_one(".admonition-title")) == "Question 1.1"
    place = box.select_one(".ask:not([hidden])")
    assert [words(option) for option in place.select(".options:not([hidden]) li")] == ["All of it.", "Nothing."]
    assert words(place.select_one(".overlooks[hidden] li")).startswith("Exchange two terms")
    assert json.loads(place["data-ask"]) == {"id": "1.1", "kind": "choice", "overlooks": {"0": ""}, "right": 1}
    assert "commutative" in words(box.select_one("details:not([open])"))
    assert words(box).count("Nothing.") == 1


def test_setup_is_folded(page):
    fold = page.select_one(".tag_setup details.hide")
    assert words(fold.summary).startswith("Show the setup")
    assert "find_spec" in words(fold)


def test_opening_stands_above_its_caption_and_both_folds(page):
    figure = page.select_one("figure.opening")
    assert figure["id"] == "fig-1-1"
    assert figure.find_previous_sibling().name == "p"
    svg, caption = figure.select_one(".cell_output svg"), figure.figcaption
    setup, code = figure.select_one(".tag_setup details"), figure.select_one(".tag_opening details")
    shown = [words(fold.summary).split("Hide")[0].strip() for fold in (setup, code)]
    assert shown == ["Show the setup", "Show the code of this figure"]
    order = [id(part) for part in figure.find_all(True)]
    assert order.index(id(svg)) < order.index(id(caption)) < order.index(id(setup))
    assert len(page.select(".tag_setup")) == len(page.select("figure.opening")) == 1


def test_what_a_hand_is_asked_for_is_a_paragraph_of_its_own(page):
    first, second = page.select("#fig-1-1 figcaption p")
    assert "class" not in first.attrs and second["class"] == ["try"]
    assert words(second) == "Try it. Drag a bar."


def test_a_setup_without_an_opening_stays_where_it_is():
    notebook = nbformat.read(GOOD, as_version=4)
    notebook.cells[2].metadata.tags.remove("opening")
    shown, _ = translate(notebook.cells)
    assert "setup" in shown[1].metadata.tags and shown[2].source == '<figure id="fig-1-1">'


def test_margin_note_stands_in_the_margin(page):
    note = page.select("aside.margin:not(:has(.verdict))")
    assert [words(aside) for aside in note] == ["The numbers are vectors in the chapters. Here they are plain."]


def test_figures_are_part_of_the_page(page):
    for number, alt in ((1, "Three bars."), (2, "The same three bars, turned around.")):
        figure = page.select_one(f"figure#fig-1-{number}")
        assert words(figure.figcaption).startswith(f"Figure 1.{number}. The bars")
        svg = figure.select_one(".cell_output svg")
        assert (svg["role"], svg["aria-label"]) == ("img", alt)
        assert "max-width:100%" in svg["style"]
        ink = re.fullmatch(r"url\(#(.+)\)", svg.path["fill"])[1]
        assert svg.select_one(f'[id="{ink}"]')
    assert not page.select("article img")


def test_styles_that_pictures_repeat_are_classes():
    part, own = '<path style="font: &quot;X&quot;"/>', '<path style="top: 0"/>'
    page = "<head></head>{}" + f'<script type="image/svg+xml"><svg style="top: 0">{own}{{}}</svg></script>'
    short = shorten(page.format(f'<svg style="top: 0">{part}</svg>', part))
    path = '<path class="_0"/>'
    styled = page.replace("</head>", '<style>._0{{font: "X"}}</style></head>')
    assert short == styled.format(f'<svg style="top: 0">{path}</svg>', path)


def test_the_site_is_slim(site):
    with TTFont(site / "_static" / "vendor" / "fontawesome" / "webfonts" / "fa-solid-900.woff2") as font:
        assert 0xF0C9 in font.getBestCmap() and len(font.getBestCmap()) < 60
    assert not list(site.rglob("*.map"))


def test_headings_have_one_anchor_which_is_the_page_s_own(page):
    assert page.select_one('a[href="#break-it-first"]') and page.select("section#break-it-first > h2")
    assert not page.select("h2 > a[id]")


def test_mentions_are_links(page, preface):
    targets = {
        "Figure 1.1": "fig-1-1", "Exercise 1.1": "ex-reverse", "Theorem 1.1": "thm-1-1",
        "Equation (1.1)": "eq-1-1",
    }
    for text, anchor in targets.items():
        link = page.find("a", href=f"#{anchor}", string=text)
        assert link or any(words(a) == text for a in page.select(f'a[href="#{anchor}"]')), text
        assert page.select_one(f'[id="{anchor}"]')
    away = {words(a): a["href"] for a in preface.select("article a.reference.internal")}
    assert away["Figure 1.1"] == "chapters/01-order.html#fig-1-1"
    assert away["exercise 1.2"] == "chapters/01-order.html#ex-twice"
    assert away["equation (1.1)"] == "chapters/01-order.html#eq-1-1"
    assert away["cell"] == "chapters/01-order.html#claim-sum-has-no-order"


def test_formulas_are_mathml(page):
    formula = page.select_one("#eq-1-1")
    assert len(formula.select("mtable.tml-jot > mtr")) > 1
    assert words(formula).endswith("(1.1)")
    assert all(span.find("math", recursive=False) for span in page.select("span.math"))


def test_functions_signs_and_dots_have_the_room_that_they_have_in_print(temml):
    for formula in (r"r_1 \ln(x)", r"\tfrac12 \max(x)", r"(a) \cos(x)", r"x_i \max_j(x)", r"\frac{(a)}{\max}"):
        assert re.search(r"</mspace>(<msub>)?<mi>\w+", temml.mathml(formula, display=False))
    assert "mspace" not in temml.mathml(r"a = -\ln(x)", display=False)
    assert '<mo lspace="0em" rspace="0em">…</mo>' in temml.mathml(r"1, \dots, H", display=False)
    assert '<mo lspace="0em" rspace="0em">⋯</mo>' in temml.mathml(r"1 + \cdots + H", display=False)


def test_a_line_over_a_formula_is_a_border(temml):
    """Firefox draws the line of menclose thick, and too far left; Chromium draws none."""
    formula = temml.mathml(r"\overline{x} + \overline{y^2}", display=True)
    assert formula.count('<mrow class="tml-overline">') == 2 and "menclose" not in formula


def test_printed_words_may_wrap_and_columns_may_not():
    def tags(text: str) -> list[list[str]]:
        stream = nbformat.v4.new_output("stream", name="stdout", text=text)
        result = nbformat.v4.new_output("execute_result", data={"text/plain": text})
        cells = [nbformat.v4.new_code_cell("twice", outputs=[output]) for output in (stream, result)]
        return [cell.metadata.get("tags", []) for cell in translate(cells)[0]]

    assert tags("✓ twice: 2 properties hold\n  of lists, too") == [["words"]] * 2
    for columns in ("a  1\nb  2", "tensor([0.5])", " [1, 2]"):
        assert tags(columns) == [[]] * 2


def test_the_site_has_the_characters_of_its_formulas(site, page):
    with TTFont(site / "_static" / "fonts" / "stix-two-math.woff2") as font:
        known = font.getBestCmap()
    assert {ord(c) for c in "".join(formula.text for formula in page("math"))} - {0x2061} <= known.keys()
    assert {0x221A, 0x210E, 0x1D465} <= known.keys()  # a root, and letters that browsers make italic
    assert len(known) < 300


def test_a_font_of_its_own_has_the_signs_of_tall_roots(site):
    """Chromium keeps room behind every root for the widest sign of its font."""
    widths = {}
    for name in ("stix-two-math", "stix-two-math-roots"):
        with TTFont(site / "_static" / "fonts" / f"{name}.woff2") as font:
            variants, sign = font["MATH"].table.MathVariants, font.getBestCmap()[0x221A]
            signs = variants.VertGlyphConstruction[variants.VertGlyphCoverage.glyphs.index(sign)]
            widths[name] = [font["hmtx"][v.VariantGlyph][0] for v in signs.MathGlyphVariantRecord]
            assert (signs.GlyphAssembly is not None) == (name == "stix-two-math-roots")
    [low] = widths["stix-two-math"]
    assert low == widths["stix-two-math-roots"][0] < max(widths["stix-two-math-roots"])


def test_claims_show_their_verdicts_in_the_margin(page):
    verdicts = {words(word): word["class"] for word in page.select("aside.margin .verdict")}
    assert verdicts == {
        "True": ["verdict", "v-true"], "Half true": ["verdict", "v-half"], "False": ["verdict", "v-false"],
        "Open": ["verdict", "v-open"],
    }
    deciding = page.select_one("#claim-sum-has-no-order")
    assert [words(aside) for aside in deciding.select("aside")] == [
        "True A sum has no order.", "Half true A running sum has no order.", "False A list has no order.",
    ]
    assert "3.75" in words(page.select_one("#claim-sum-has-no-order"))
    assert "full-width" not in page.select_one("table.scorecard")["class"]


@pytest.mark.parametrize(("columns", "wide"), [(5, False), (6, True)])
def test_a_scorecard_of_many_columns_goes_into_the_margin(columns, wide):
    table = "\n".join("|" + f" {cell} |" * columns for cell in ("a", ":--", "b"))
    cell = nbformat.v4.new_markdown_cell(table, metadata={"tags": ["scorecard"]})
    (shown,), _ = translate([cell])
    assert ("full-width" in shown.source) == wide


def test_a_page_in_depth_is_numbered_as_its_file(site, page):
    deep = read(site / "chapters" / "in-depth" / "01b-order.html")
    assert words(deep.article.h1).startswith("1B. ")
    assert [words(head) for head in deep.select("h2 .section-number")][:2] == ["1B.1.", "1B.2."]
    assert "1B. Order in a sum" in words(page.select_one(".bd-sidebar-primary"))
    assert words(deep.select_one("#deep-ex-reverse .admonition-title")).startswith("Exercise 1B.1")
    mentions = {words(link): link["href"] for link in deep.select("p a.reference.internal")}
    assert mentions["Figure 1B.1"] == "#fig-1B-1"
    assert mentions["Exercise 1B.1"] == "#deep-ex-reverse"


def test_links_to_papers_are_citations(page, preface, site):
    text = words(page.article)
    assert "The idea is old: Zaheer et al. (2017) build" in text
    assert "attention (Vaswani et al., 2017) inherits" in text
    assert words(page.select_one('a[href="https://arxiv.org/abs/1912.10077"]')) == "This paper"
    assert words(page.select_one("p code")) == "[Shaw et al. (2018)](https://arxiv.org/abs/1803.02155)"
    (haviv,) = preface.select(".bibtex-citation a")
    anchor = haviv["href"].removeprefix("book/references.html#")
    assert "Adi Haviv" in words(read(site / "book" / "references.html").select_one(f'[id="{anchor}"]'))
    assert "[Haviv et al. (2022)](https" in words(preface.code)


def test_theme_is_repaired(site):
    assert not list(site.rglob("fontawesome.js"))
    index = read(site / "index.html")
    assert index.html["lang"] == "en"
    assert index.title.string
    for path in site.rglob("*.html"):
        if "_static" in path.parts:
            continue
        html = read(path)
        ids = [tag["id"] for tag in html.select("[id]")]
        assert sorted(ids) == sorted(set(ids)), path
        faults = "summary[aria-label], [role=doc-biblioentry], #ethical-ad-placement, .sidebar-title"
        assert not html.select(f'{faults}, script[src*="fontawesome"], .search-button-field[aria-label]')
        assert all(bar["role"] for bar in html.select("#pst-primary-sidebar"))


def test_a_notebook_to_download_says_how_to_trust_it_where_figures_move(tmp_path):
    drawn, plain = nbformat.read(GOOD, as_version=4), nbformat.read(GOOD, as_version=4)
    output = next(cell for cell in drawn.cells if cell.get("outputs")).outputs[0]
    output.data["text/html"] = image("<svg/>", "A line.", "<script>move()</script>")
    for name, notebook in {"plain": plain, "drawn": drawn}.items():
        path = tmp_path / "_sources" / f"{name}.ipynb"
        path.parent.mkdir(exist_ok=True)
        nbformat.write(notebook, path)
    say_how_to_trust(SimpleNamespace(outdir=tmp_path))
    copies = {name: nbformat.read(tmp_path / "_sources" / f"{name}.ipynb", as_version=4) for name in ("plain", "drawn")}
    assert copies["plain"] == plain
    assert copies["drawn"].cells[0].source == f"{drawn.cells[0].source}\n\n{SENTENCE}"
    assert copies["drawn"].cells[1:] == drawn.cells[1:]


def test_mistakes_fail_the_build(tmp_path):
    notebook = nbformat.read(GOOD, as_version=4)
    wrong = {"Try Exercise 1.1": "See Figure 1.9. Try Exercise 1.1", "1912.10077": "1912.99999"}
    wrong |= {"Exercise 1.2. Turn it twice": "Exercise 1.3. Turn it twice", "Theorem 1.1": "Theorem 1.4"}
    for cell in notebook.cells:
        for old, new in wrong.items():
            cell.source = cell.source.replace(old, new)
    preface = "[Vaswani et al. (2016)](https://arxiv.org/abs/1706.03762)\n[X](https://doi.org/10.1/x)\n"
    run = build(tmp_path, f"# Preface\n\n{preface}", nbformat.writes(notebook))
    assert run.returncode != 0
    for message in (
        "01-order.ipynb: WARNING: [This paper](https://arxiv.org/abs/1912.99999) has no entry",
        "preface.md: WARNING: [X](https://doi.org/10.1/x) has no entry in references.bib",
        "[Vaswani et al. (2016)](https://arxiv.org/abs/1706.03762) is by Vaswani, 2017, says references.bib",
        "undefined label: 'figure-1.9'",
        "the page would show exercise 1.2, where the notebook says 1.3",
        "the page would show theorem 1.1, where the notebook says 1.4",
    ):
        assert message in run.stderr, message
