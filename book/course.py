"""Pack a course for a class, the handout, the slides and the plan: python -m book.course."""

import shutil
from html import escape
from pathlib import Path
from urllib.parse import unquote, urlsplit

from jinja2 import Template

from book import decks, handout
from book.downloads import SITE

OUT = decks.ROOT / "_build" / "class"
PAGE = Template((decks.ROOT / "book" / "course.html").read_text("utf-8"), keep_trailing_newline=True)


def index(site: Path, out: Path) -> str:
    """Return the page that lists what the folder `out` holds, with the book's page for teachers as the plan."""
    page = decks.read(site / "book" / "teachers.html")
    titles = {path.stem: decks.read(path).title.get_text() for path in sorted((out / "decks").glob("*.html"))}
    rows = "\n".join(
        f'<tr><td>{escape(title.removesuffix(" — slides"))}</td><td><a href="decks/{stem}.html">{stem}.html</a></td>'
        f"<td>{next((out / 'handout').rglob(f'{stem}.ipynb')).relative_to(out / 'handout')}</td></tr>"
        for stem, title in titles.items()
    )
    plan = page.article
    plan.h1.name = "h2"
    for tag in plan.select(".headerlink, script"):
        tag.decompose()
    ids = {
        path.stem: {tag["id"] for tag in decks.read(path).select("section")}
        for path in (out / "decks").iterdir()
    }
    for link in plan.select("a[href]"):
        parts = urlsplit(link["href"])
        stem, anchor = Path(unquote(parts.path)).stem, unquote(parts.fragment)
        if anchor.startswith("ex-"):
            anchor = "exercises"
        if anchor in {"", *ids.get(stem, ())} and stem in ids:  # a deck, or a slide of it
            link["href"] = f"decks/{stem}.html#{anchor}".rstrip("#")
        elif parts.path and not parts.scheme:
            link.unwrap()
    for tag in plan.select("pre"):
        tag["tabindex"] = "0"  # it scrolls on a phone
    return PAGE.render(styles=decks.styles(site, page), rows=rows, plan=decks.inside(plan))


def write(site: Path, out: Path) -> Path:
    """Write the course of the built pages in `site` into a new folder `out`; return the path of its zip."""
    shutil.rmtree(out, ignore_errors=True)
    handout.write(out / "handout")
    decks.write(site, out / "decks")
    (out / "lecture.html").write_text(decks.lecture(site, decks.read(site / "book" / "ledger.html").article), "utf-8")
    (out / "index.html").write_text(index(site, out), "utf-8")
    for name in ("LICENSE", "LICENSE-TEXT"):
        shutil.copy(decks.ROOT / name, out)
    return Path(shutil.make_archive(str(out), "zip", out.parent, out.name))


if __name__ == "__main__":
    print(f"The course is in {OUT} and {write(SITE, OUT)}: begin with {(OUT / 'index.html').as_uri()}")
