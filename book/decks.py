"""Write a deck of slides for each notebook of the path and in depth from its built page: python -m book.decks.

A deck is one file that asks for nothing else. It shows what the chapter shows, in the chapter's order: its opening, its
figures, numbered equations, theorems and predictions, then its claims, for a vote, and the list of its exercises without their solutions.
"""

import json
import re
import shutil
import sys
from base64 import b64encode
from copy import copy
from dataclasses import dataclass, replace
from html import escape
from pathlib import Path

import yaml
from bs4 import BeautifulSoup, NavigableString, Tag
from jinja2 import Template

from book.downloads import SITE

ROOT = Path(__file__).parent.parent
sys.path.append(str(ROOT / "book" / "_ext"))
from notebooks import chapters
from programs import whole

OUT = ROOT / "_build" / "class" / "decks"
SENTENCE = re.compile(r"[.?!][)”]?(?=\s+[A-Z“(]|\s*$)")
CODE = "details.hide, .cell_input, .stream, figcaption, aside, .headerlink"
# How many times as large as on its page a slide shows something, at most. The smallest letters of a hero are 13 px high.
TEXT, PICTURE, HERO = 1.8, 3, 1.95
PAGE = Template((ROOT / "book" / "deck.html").read_text("utf-8"), keep_trailing_newline=True)


@dataclass(frozen=True)
class Slide:
    """One slide; all but its anchor and `large` are HTML."""

    anchor: str
    heading: str
    body: str
    notes: str = ""
    section: str = ""
    large: float = TEXT
    entry: str = ""  # in the list of slides, if not the heading

    @property
    def name(self) -> str:
        return " ".join(BeautifulSoup(self.entry or self.heading, "html.parser").get_text().split())

    def html(self, number: int, count: int) -> str:
        tag = "h1" if number == 1 else "h2"
        notes = f'<aside class="notes" aria-label="Notes">{self.notes}</aside>\n' if self.notes else ""
        return (
            f'<section id="{self.anchor}" aria-roledescription="slide" tabindex="-1" '
            f'aria-label="{number} of {count}: {escape(self.name)}">\n'
            f'<header><p class="part">{self.section}</p><{tag}>{self.heading}</{tag}></header>\n'
            f'<div class="stage{" picture" if self.large != TEXT else ""}"><div class="fit" data-most="{self.large}">{self.body}</div></div>\n{notes}</section>'
        )


def read(path: Path) -> BeautifulSoup:
    return BeautifulSoup(path.read_text("utf-8"), "html.parser")


def inside(tag: Tag) -> str:
    return "".join(map(str, tag.contents)).strip()


def slides(article: Tag, ledger: Tag, stem: str) -> list[Slide]:
    """Return the slides of a chapter's article."""
    claims, exercises = votes(article, ledger, stem), homework(article)
    for tag in article.select(".solution, .exercise, .overlooks, .headerlink"):
        tag.decompose()
    for tag in article.select(".ask"):  # its form needs the site's scripts
        ask, options = json.loads(tag["data-ask"]), tag.select(".options > ul > li")
        if ask["kind"] == "choice":
            right = f"<p><strong>“{inside(options[ask['right']].p)}”</strong></p>"
            tag.find_next_sibling("details").summary.insert_after(BeautifulSoup(right, "html.parser"))
        tag.replace_with(*tag.select(".options > *"))
    deck, predictions = [], 0
    for tag in article.select(
        "figure[id], section:not(.theorem-content) > .math[id^=eq-], .theorem.admonition, .predict"
    ):
        section = tag.find_parent("section").find(re.compile("h[1-6]"))
        section = "" if section.name == "h1" else inside(section)
        if tag.name == "figure":
            deck.append(picture(tag, section))
        elif "theorem" in tag["class"]:
            title, proof = tag.select_one(".admonition-title"), tag.find_next_sibling(class_="proof")
            deck.append(Slide(tag["id"], inside(title), inside(tag.section), inside(proof), section))
        elif "math" in tag["class"]:
            number = tag["id"].removeprefix("eq-").replace("-", ".")
            words = copy(tag.find_parent("section").find(re.compile("h[1-6]")))
            for part in words.select(".section-number"):
                part.decompose()
            above, entry = f"{section} · Equation ({number})".lstrip(" ·"), f"Equation ({number}). {words.get_text()}"
            deck.append(Slide(tag["id"], inside(words), *derived(tag), above, entry=entry))
        else:
            predictions += 1
            parts = [str(part) for part in tag.find_all(recursive=False) if part.name != "details"]
            answer = copy(tag.details)
            answer.summary.decompose()
            body = "".join(parts[1:]) + fold("Compare with the answer", inside(answer))
            before = tag.find_previous_sibling("p")  # what the question takes for known
            entry = f"Predict first: {BeautifulSoup(parts[1], 'html.parser').get_text()}"
            deck.append(
                Slide(f"prediction-{predictions}", "Predict first", body, str(before or ""), section, entry=entry)
            )
    return [opening(article), *deck, *claims, *exercises]


def opening(article: Tag) -> Slide:
    """Return the title, with what the chapter asks and where it leads."""
    question, goals = article.select("section > p", limit=2)
    return Slide("title", inside(article.h1), f'<div class="question">{question}</div>{goals}')


def derived(formula: Tag) -> tuple[str, str]:
    """Return a formula with the paragraph that leads to it, from where its sentence begins, and the paragraph below it."""
    parts = [copy(formula)]
    del parts[0]["id"]
    for tag in formula.find_previous_siblings():
        if tag.name != "p" and "math" not in tag.get("class", ()):
            break
        parts.insert(0, copy(tag))
        del parts[0]["id"]
        if tag.name == "p" and not tag.get_text().strip()[:1].islower():
            break
    below = formula.find_next_sibling()
    return "".join(map(str, parts)), str(below) if below and below.name == "p" else ""


def picture(figure: Tag, section: str) -> Slide:
    """Return a figure or a table below the first sentence of its caption."""
    caption, shown = figure.figcaption, copy(figure)
    for tag in shown.select(CODE):
        tag.decompose()
    first, rest = split(caption.p)
    others = "".join(map(str, caption.find_all("p", recursive=False)[1:]))
    number = caption.p.strong.get_text().rstrip(".")
    body = "".join(inside(output) for output in shown.select(".output.text_html")) or inside(shown)
    large = HERO if shown.select("[data-hero]") else PICTURE if shown.select("svg, img") else TEXT
    notes = f"<p><strong>{number}.</strong> {rest}</p>{others}"
    above = f"<span>{section} · </span>{number}" if section else number
    return Slide(figure["id"], first, body, notes, above, large, entry=f"{number}. {first}")


def split(paragraph: Tag) -> tuple[str, str]:
    """Return the HTML of a caption's first sentence, without the number, and of what follows.

    >>> split(BeautifulSoup("<p><strong>Figure 1.</strong> A <em>d. c.</em> is. Of.</p>", "html.parser").p)
    ('A <em>d. c.</em> is.', 'Of.')
    """
    parts = [part for part in paragraph.contents if part is not paragraph.strong]
    text = "".join(part.get_text() for part in parts)
    for sentence in SENTENCE.finditer(text):
        at, left = 0, sentence.end()
        while left > len(parts[at].get_text()):
            left -= len(parts[at].get_text())
            at += 1
        part = parts[at]
        if left == len(part.get_text()):
            halves = parts[: at + 1], parts[at + 1 :]
        elif isinstance(part, NavigableString):
            halves = [*parts[:at], part[:left]], [part[left:], *parts[at + 1 :]]
        else:  # inside of what stands out
            continue
        first, rest = ("".join(html(half) for half in some).strip() for some in halves)
        return first, rest
    raise ValueError(f"a caption must have a sentence that ends: {text!r}")


def html(part: Tag | NavigableString) -> str:
    return str(part) if isinstance(part, Tag) else escape(part, quote=False)


def fold(summary: str, answer: str) -> str:
    return f'<details class="answer" aria-live="polite"><summary>{summary}</summary><div>{answer}</div></details>'


def votes(article: Tag, ledger: Tag, stem: str) -> list[Slide]:
    """Return the chapter's claims, each with its verdict and the ledger's reason below a fold."""
    reasons = {}
    for claim in ledger.select(".ledger > li"):
        reasons[claim.select_one(".words").get_text()] = inside(claim.find("p", class_=False))
        for trained in claim.select(".trained"):
            if link := trained.select_one(f".verdict a[href*='/{stem}.html#']"):
                anchor = link["href"].partition("#")[2]
                link.find_parent(class_="verdict").decompose()
                reasons[anchor] = inside(trained).partition(":")[2].strip()
    slides = []
    for verdict in article.select("aside .verdict"):
        words = copy(verdict.parent)
        words.select_one(".verdict").decompose()
        wording = words.get_text().strip()
        decided = verdict.find_previous(class_="claim")
        reason = reasons.get(wording) or (reasons.get(decided.get("id") or decided.span["id"]) if decided else None) or ""
        body = f'<p class="words">{inside(words)}</p>' + fold(
            "Show the verdict", f"<p>{verdict}</p><p>{reason}</p>"
        )
        slides.append(Slide(
            f"vote-{len(slides) + 1}", "Vote: true, half true, false or open?", body, section="A claim",
            entry=f"Vote: {inside(words)}",
        ))
    return slides


def homework(article: Tag) -> list[Slide]:
    """Return the list of the exercises, titles and minutes, if there are any."""
    rows = ""
    for exercise in article.select("div.exercise"):
        title = re.sub(
            r"^(Exercise \S+)\s+\((.*)\)$", r"<strong>\1.</strong> \2", inside(exercise.p).strip(),
            flags=re.DOTALL,
        )
        rows += f"<tr><td>{title}</td><td>{exercise.select_one('.effort').get_text()}</td></tr>"
    return [Slide("exercises", "Exercises", f"<table><tbody>{rows}</tbody></table>")] if rows else []


def page_of(site: Path, notebook: Path) -> Path:
    """Return the built page of a notebook."""
    return site / notebook.relative_to(ROOT).with_suffix(".html")


def shown(site: Path, notebook: Path, ledger: Tag) -> tuple[BeautifulSoup, list[Slide]]:
    """Return the built page of a notebook, and its slides."""
    page = BeautifulSoup(whole(page_of(site, notebook).read_text("utf-8"), site), "html.parser")
    return page, slides(page.article, ledger, notebook.stem)


def deck(site: Path, notebook: Path, ledger: Tag) -> str:
    """Return the deck of a notebook as HTML, from the built pages in the folder `site` and the ledger's article."""
    page, parts = shown(site, notebook, ledger)
    return render(site, parts[0].name, parts, ["" for _ in parts], styles(site, page))


def lecture(site: Path, ledger: Tag) -> str:
    """Return the deck of the lecture that book/lecture.yml lists, from the slides of several chapters."""
    plan = yaml.safe_load((ROOT / "book" / "lecture.yml").read_text("utf-8"))
    notebooks = {path.stem: path for path in chapters(ROOT)}
    known, parts, minute = {}, [], 0
    for line in plan:
        stem, anchor = line["slide"].split("#")
        if stem not in known:
            known[stem] = shown(site, notebooks[stem], ledger)
        [slide] = [slide for slide in known[stem][1] if slide.anchor == anchor]
        until = minute + line["minutes"]
        asked = f"<p><strong>Minutes {minute} to {until}.</strong> {escape(line['ask'])}</p>"
        words = f"{until - minute} min, from {minute}: {line.get('title') or slide.name}"
        parts.append(replace(slide, heading=line.get("title") or slide.heading, notes=asked + slide.notes, entry=words))
        minute = until
    own = "".join(f'[id^="{stem}-"] {{{own_styles(page, f"{stem}-")}}}' for stem, (page, _) in known.items())
    prefixes = [line["slide"].split("#")[0] + "-" for line in plan]
    return render(site, f"One lecture of {minute} minutes", parts, prefixes, styles(site, None, own))


def render(site: Path, title: str, parts: list[Slide], prefixes: list[str], css: str) -> str:
    """Return a deck as HTML; each prefix stands before all ids of its slide, which may be another chapter's, too."""
    body = BeautifulSoup("", "html.parser")
    for number, (slide, prefix) in enumerate(zip(parts, prefixes, strict=True), 1):
        tree = BeautifulSoup(slide.html(number, len(parts)) + "\n", "html.parser")
        for tag in tree.select("[id^='p-'], [id^='id']"):  # of paragraphs and citations, which may come twice
            del tag["id"]
        if prefix:
            adopt(tree, prefix)
        body.append(tree)
    anchors = [prefix + slide.anchor for slide, prefix in zip(parts, prefixes, strict=True)]
    for link in body.select("a[href]"):
        if link["href"][1:] not in anchors and not link["href"].startswith("https:"):
            link.unwrap()
    # The machine that reads has all its models, since the class may choose.
    models = sorted((site / "_static").glob("readers-*.js")) if body.select(".reads") else []
    return PAGE.render(
        title=escape(title), styles=css, slides=body, count=len(parts),
        entries="\n".join(f'<li><a href="#{anchor}">{escape(slide.name)}</a></li>' for anchor, slide in zip(anchors, parts, strict=True)),
        models="".join(f"<script>{model.read_text('utf-8')}</script>\n" for model in models),
        film=(ROOT / "book" / "film.css").read_text("utf-8"), script=(ROOT / "book" / "deck.js").read_text("utf-8"),
    )


def adopt(tree: Tag, prefix: str) -> None:
    """Give `prefix` to every id below `tree`, and to what refers to one."""
    for tag in [tree, *tree.find_all(True)]:
        for name, value in tag.attrs.items():
            if name in ("id", "for", "aria-labelledby", "aria-describedby"):
                tag[name] = " ".join(prefix + word for word in value.split())
            elif name in ("href", "xlink:href"):
                tag[name] = re.sub("^#", f"#{prefix}", value)
            elif isinstance(value, str):
                tag[name] = value.replace("url(#", f"url(#{prefix}")


def own_styles(page: BeautifulSoup, prefix: str = "") -> str:
    """Return the styles that a page has for its pictures, and not those of our sheet that it alone has, for ids that begin with `prefix`."""
    return "".join(style.string for style in page.select("head > style:not(link[href*='all.css'] + style)")).replace("url(#", f"url(#{prefix}")


def styles(site: Path, page: BeautifulSoup | None, own: str = "") -> str:
    """Return the styles of a page, or `own` ones, with those of the slides, and all that they load in them."""
    css = (
        (site / "_static" / "book.css").read_text("utf-8")
        + (own_styles(page) if page else own)
        + (ROOT / "book" / "deck.css").read_text("utf-8")
    )
    return re.sub(r"url\((fonts/[^)]+|mark\.svg)\)", lambda url: embedded(site / "_static" / url[1]), css)


def embedded(path: Path) -> str:
    """Return a file as an address of CSS that holds all of it."""
    kind = {".woff2": "font/woff2", ".svg": "image/svg+xml"}[path.suffix]
    return f"url(data:{kind};base64,{b64encode(path.read_bytes()).decode()})"


def write(site: Path, out: Path) -> list[Path]:
    """Write the decks of the built pages in `site` into a new folder `out`; return their paths."""
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    decks = {notebook: out / f"{notebook.stem}.html" for notebook in chapters(ROOT)}
    ledger = read(site / "book" / "ledger.html").article
    for notebook, path in decks.items():
        path.write_text(deck(site, notebook, ledger), "utf-8")
    return list(decks.values())


if __name__ == "__main__":
    write(SITE, OUT)
    print("The slides of the chapters are in", OUT)
