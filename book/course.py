"""Pack a course for a class, the handout, the slides and the plan: python -m book.course."""

import shutil
from html import escape
from pathlib import Path
from urllib.parse import unquote, urlsplit

from book import decks, handout
from book.downloads import SITE

OUT = decks.ROOT / "_build" / "class"
PAGE = """\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>A course with “Where words stand”</title>
<style>{styles}
main {{max-width:62rem; margin:0 auto; padding:1rem 1.25rem 3rem}} html:root .bd-content .bd-article.bd-article h1 {{font-size:2.25rem}}
html:root .bd-content .bd-article.bd-article:not(:has(.margin)) .pst-scrollable-table-container {{width:auto; min-width:0; max-width:100%; overflow-x:auto; margin:1rem 0}} .bd-article pre {{overflow-x:auto}}</style>
</head>
<body class="bd-content">
<main class="bd-article">
<h1>A course with “Where words stand”</h1>
<p>This folder is for teachers. To the class you give the notebooks, which have no solutions: <a href="handout.zip">handout.zip</a> is all of them in one file, and its README tells how to run them. Open notebooks in JupyterLab, from the folder <code>handout</code>. Slides open in any browser, without a network, and so does this page.</p>
<div class="pst-scrollable-table-container" tabindex="0"><table><thead><tr><th>Chapter</th><th>Slides</th><th>Notebook</th></tr></thead><tbody>
{rows}
</tbody></table></div>
<div>
{plan}
</div>
</main>
</body>
</html>
"""


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
    return PAGE.format(styles=decks.styles(site, page), rows=rows, plan=decks.inside(plan))


def write(site: Path, out: Path) -> Path:
    """Write the course of the built pages in `site` into a new folder `out`; return the path of its zip."""
    shutil.rmtree(out, ignore_errors=True)
    handout.write(out / "handout")
    decks.write(site, out / "decks")
    (out / "index.html").write_text(index(site, out), "utf-8")
    for name in ("LICENSE", "LICENSE-TEXT"):
        shutil.copy(decks.ROOT / name, out)
    return Path(shutil.make_archive(str(out), "zip", out.parent, out.name))


if __name__ == "__main__":
    print(f"The course is in {OUT} and {write(SITE, OUT)}: begin with {(OUT / 'index.html').as_uri()}")
