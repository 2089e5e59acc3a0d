"""Print the built pages that people read on paper as one PDF: python -m book.paper.

They become one document, which Chromium prints twice: the first time tells on which page everything stands.
"""

import json
import os
import sys
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from itertools import groupby
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pikepdf
import yaml
from bs4 import BeautifulSoup, Tag
from fontTools.ttLib import TTFont
from fontTools.varLib import instancer
from jinja2 import Template
from playwright.sync_api import Page, sync_playwright

from book.browser import find_chromium, launch
from book.decks import adopt, own_styles, read
from book.downloads import FRONT, PDF, SITE, offer

sys.path.append(str(Path(__file__).parent / "_ext"))
from home import home
from programs import whole

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
CONFIG = yaml.safe_load((ROOT / "_config.yml").read_text("utf-8"))
COPIES = ".again, section:has(> .again):not(:has(> .review:not(.again)))"  # questions that come back
LEFT_OUT = f"{COPIES}, li:has(> p > a[href$='#find-the-mistake']), [data-due], .screen, .ask[hidden], .prediction, .overlooks, #find-the-mistake, .headerlink, .told > .show, .downloads, .subtitle, .onward, .keys, .front + script, .tag_setup, .exercise .cell:has(.output), form, details.hide, script[src], [data-explore] ~ script"
# Parts of which paper has these pages alone. The others ask and answer, need a machine, change, or list records: the
# contents name their addresses.
IN_PART = {"For a model of your own": [], "Projects": [], "Back matter": ["book/quick", "book/notation", "book/references"]}
FRAMES = 6  # of a slider
LETTERS = {"latin": "U+0-FF, U+2000-FFFF", "ext": "U+100-2BA", "greek": "U+370-3FF"}
WIDTH = 567  # px: a page between its margins. A figure is drawn for the width that it is printed at

NUMBER = """pages => document.querySelectorAll("a > .number").forEach(e => {
  e.textContent = pages[decodeURIComponent(e.parentElement.hash.slice(1))];
})"""


def assemble(site: Path) -> str:
    """Return the pages of the folder `site` as one HTML document, which has to stand beside that folder."""
    front, listed = read(site / FRONT), chosen()
    names = [name for _, part in listed for name in part]
    parts = [
        {"caption": caption, "pages": [leaf(site, name, names, name.startswith("chapters")) for name in part]}
        for caption, part in listed
    ]
    others = [name for name in contents() if name not in names]
    return Template((ROOT / "book" / "paper.html").read_text("utf-8"), autoescape=True).render(
        title=CONFIG["title"],
        subtitle=front.select_one(".subtitle").get_text(),
        author=CONFIG["author"],
        year=CONFIG["copyright"],
        version=PROJECT["version"],
        repository=PROJECT["urls"]["Repository"],
        site=site.name,
        styles=[*(link["href"].partition("_static/")[2] for link in front.select("head link[rel=stylesheet]")), "book.css"],
        css=faces(site) + (ROOT / "book" / "paper.css").read_text("utf-8"),
        parts=parts,
        pages=[page for part in parts for page in part["pages"]],
        others=[(read(site / f"{name}.html").h1.get_text().rstrip("#"), *address(name)) for name in others],
    )


def faces(site: Path) -> str:
    """Return the styles of fonts that paper.css names, in weights of their own: one that varies is embedded as drawings."""
    css, out = "", site.with_name("paper-fonts")
    out.mkdir(exist_ok=True)
    for path in sorted((site / "_static" / "fonts").glob("*-wght-*.woff2")):
        name, _, style = path.stem.partition("-wght-")
        family, _, letters = name.replace("latin-ext", "ext").rpartition("-")
        for weight in (400, 600, 650, 700):
            font = instancer.instantiateVariableFont(TTFont(path), {"wght": weight})
            font.flavor = None
            font.save(out / f"{path.stem}-{weight}.ttf")
            css += f'@font-face {{font-family:"{family}"; font-weight:{weight}; font-style:{style}; unicode-range:{LETTERS[letters]}; src:url({out.name}/{path.stem}-{weight}.ttf)}}\n'
    return css


def contents() -> dict[str, str]:
    """Return each page's part of the book, in their order; the first page has none."""
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text("utf-8"))
    pages = {chapter["file"]: part["caption"] for part in toc["parts"] for chapter in part["chapters"]}
    return {Path(FRONT).stem: "", **pages}


def chosen() -> list[tuple[str, list[str]]]:
    """Return the parts of the book with the pages that are printed."""
    printed = (name for name, part in contents().items() if name in IN_PART.get(part, [name]))
    return [(part, list(names)) for part, names in groupby(printed, contents().get)]


def address(name: str) -> tuple[str, str]:
    """Return where a page is on the web, and how paper says so, if the book has a home: else it is a file of the repository."""
    repository = PROJECT["urls"]["Repository"]
    if site := home(repository):
        return f"{site}{name}.html", f"{site}{name}.html".removeprefix("https://")
    [file] = [f"{name}{suffix}" for suffix in (".md", ".ipynb") if (ROOT / f"{name}{suffix}").exists()]
    return f"{repository}/blob/main/{file}", ""


def element(html: str) -> Tag:
    return BeautifulSoup(html, "html.parser").find()


def leaf(site: Path, name: str, printed: list[str], sections: bool = False) -> dict:
    """Return what the book shows of one page."""
    page = BeautifulSoup(whole((site / f"{name}.html").read_text("utf-8"), site), "html.parser")
    if f"{name}.html" == FRONT:  # its heading is on the title page
        page.article.h1.string = page.select_one(".subtitle").get_text()
    article = page.article
    for choice in article.select("form [id]"):  # paper has no form that a link could fill in
        for link in article.select(f"a[href='#{choice['id']}']"):
            link.unwrap()
    for tag in article.select(LEFT_OUT):
        tag.decompose()
    for cell in article.select(".cell"):
        if not cell.find(True):  # nothing is left of it, and a heading must not stay behind with that
            cell.decompose()
    for both in article.select("noscript"):  # paper runs no script
        both.unwrap()
    for figure in article.select("[data-explore]"):
        figure.replace_with(frames(figure))
    gather(article)
    for part in article.select("details.part"):  # what a reader ticks off, by chapter
        part.summary.name, part.name = "p", "div"
    for fold in article.select("details"):  # tables
        fold.summary.decompose()
        fold.unwrap()
    stem = Path(name).stem
    adopt(article, f"{stem}-")
    for link in article.select("a[href]"):
        link["href"] = leads(link["href"], site, name, printed)
    heading = article.h1.get_text()
    return {
        "id": stem,
        "name": f"page-{stem}",
        "article": article,
        "styles": own_styles(page, f"{stem}-"),
        "heading": heading,
        "running": json.dumps(heading, ensure_ascii=False),  # a string of CSS, too
        "sections": [(h2.parent["id"], h2.get_text()) for h2 in article.select("h2")] if sections else [],
    }


def frames(figure: Tag) -> Tag:
    """Return the pictures of a slider side by side, evenly chosen where there are many."""
    pictures = [(figure.output.get_text(), str(figure.svg))]
    pictures += [(script["data-value"], script.string) for script in figure.select("script[data-value]")]
    row, count = element('<div class="frames"></div>'), min(FRAMES, len(pictures))
    for index in range(count):
        value, picture = pictures[round(index * (len(pictures) - 1) / (count - 1))]
        frame = element(f"<div><p>{figure.label.get_text(strip=True)} {value}</p>{picture}</div>")
        adopt(frame, f"{figure['data-explore']}-{index}-")
        row.append(frame)
    return row


def gather(article: Tag) -> None:
    """Move what a page folds, answers and solutions, to its end, and say where it is; with an answer goes what shows it first."""
    answers = []

    def take(fold: Tag, box: Tag, title: str, what: str = "Answer") -> None:
        fold.attrs = {"id": f"answer-{len(answers) + 1}", "class": "admonition"} | fold.attrs
        head = f'<p class="admonition-title"><a href="#{box["id"]}">{title}</a></p>'
        fold.summary.replace_with(element(head))
        fold.name = "div"
        box.append(turn(what, fold["id"]))
        answers.append(fold.extract())

    for count, fold in enumerate(article.select(".predict > details"), 1):
        fold.parent.attrs.setdefault("id", f"prediction-{count}")
        fold.parent.p.string = f"Predict first ({count})"
        shown = first_result(fold.parent.find_next_sibling())
        take(fold, fold.parent, f"Prediction {count}")
        answers += [tag.extract() for tag in shown]
    for solution in article.select(".solution"):
        take(solution, solution.find_previous_sibling("div", class_="exercise"), solution.summary.get_text(), "Solution")
    for fold in article.select(".review > details"):
        take(fold, fold.parent, fold.parent.p.get_text())
    if answers:
        article.section.append(element('<section id="answers"><h2>Answers</h2></section>'))
        article.select_one("#answers").extend(answers)


def first_result(told: Tag | None) -> list[Tag]:
    """Return what stands directly below a prediction and shows its answer: code, its first outputs, and what is said of them.

    >>> below = element('<div class="told"><pre></pre><figure></figure><p>So.</p><p><b>Then.</b></p><figure></figure></div>')
    >>> [tag.name for tag in first_result(below)]
    ['pre', 'figure', 'p']
    """
    first = []
    for tag in told.find_all(True, recursive=False) if told and "told" in told.get("class", []) else []:
        said = first and first[-1].name in ("p", "aside")
        shown = said and any(one.name == "figure" or one.select(".output") for one in first)
        begins = tag.name not in ("p", "aside") or getattr(next(tag.children, None), "name", "") in ("b", "strong")
        if {"math", "admonition", "told"} & set(tag.get("class", [])) or shown and begins:
            break
        first.append(tag)
    return first


def turn(what: str, anchor: str) -> Tag:
    return element(
        f'<p class="turn"><a href="#{anchor}">{what}: page <span class="number">000</span></a></p>'
    )


def leads(href: str, site: Path, name: str, printed: list[str]) -> str:
    """Return where a link of a page leads: to a place in the PDF, to a page that is not in it, or to a file in the repository."""
    parts = urlsplit(href)
    if parts.scheme or not parts.path:
        return href
    path = Path(unquote(parts.path))
    if path.suffix == ".html":
        page = os.path.normpath(Path(name).parent / path).removesuffix(".html")
        if page in printed:
            return "#" + "-".join(filter(None, (path.stem, parts.fragment)))
        return address(page)[0] + f"#{parts.fragment}" * bool(parts.fragment)
    picture = (site / f"{name}.html").parent.joinpath(path).read_bytes()
    [source] = [file for file in (ROOT / "book").rglob(path.name) if file.read_bytes() == picture]
    return f"{PROJECT['urls']['Repository']}/blob/main/{source.relative_to(ROOT).as_posix()}"


@contextmanager
def opened(document: Path) -> Iterator[Page]:
    """Open the document in a browser, with its figures drawn as they begin."""
    with sync_playwright() as playwright:
        browser = launch(playwright)
        try:
            page = browser.new_page(viewport={"width": WIDTH, "height": 800}, reduced_motion="reduce")
            page.set_default_timeout(0)
            page.emulate_media(media="print")
            page.goto(document.as_uri())
            page.evaluate("() => document.fonts.ready.then(() => null)")
            yield page
        finally:
            browser.close()


def space(pdf: pikepdf.Pdf, titles: list[str]) -> None:
    """Give the bookmarks back the spaces that Chromium drops where a title breaks into lines."""
    whole = {"".join(title.split()): " ".join(title.split()) for title in titles}

    def mend(items: list[pikepdf.OutlineItem]) -> None:
        for item in items:
            item.title = whole.get("".join(item.title.split()), item.title)
            mend(item.children)

    with pdf.open_outline() as outline:
        mend(outline.root)


def write(site: Path) -> Path:
    """Print the pages of the folder `site` into a PDF in it; return its path."""
    document = site.with_name("paper.html")
    document.write_text(assemble(site), "utf-8")
    options = {"prefer_css_page_size": True, "print_background": True}
    with opened(document) as page, pikepdf.open(BytesIO(page.pdf(**options))) as draft:
        places = {name[1:]: pikepdf.Page(place[0]).label for name, place in draft.Root.Dests.items()}
    with opened(document) as page:  # anew: Chromium breaks a page elsewhere when it prints for the second time
        page.evaluate(NUMBER, places)
        printed = page.pdf(tagged=True, outline=True, **options)
        titles = page.evaluate("() => [...document.querySelectorAll('h1, h2, h3')].map(e => e.innerText)")
    with pikepdf.open(BytesIO(printed)) as pdf:
        space(pdf, titles)
        with pdf.open_metadata() as about:
            about["dc:title"] = CONFIG["title"]
            about["dc:creator"] = [CONFIG["author"]]
            about["dc:description"] = PROJECT["description"]
            about["dc:language"] = ["en"]
        # What stands alone, as Chromium writes it, takes twice the room.
        pdf.save(site / PDF, object_stream_mode=pikepdf.ObjectStreamMode.generate)
    return site / PDF


if __name__ == "__main__":
    if not find_chromium():
        sys.exit("Chromium prints the book, and there is none: `make browser` installs it.")
    print("The book as one PDF is at", write(SITE))
    offer(SITE)
