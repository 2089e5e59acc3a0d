"""The page that a host shows where none is, `404.html`. It may be shown in any folder, so it looks for the book itself."""

import re
from pathlib import Path
from urllib.parse import quote

from jinja2 import Template
from sphinx.application import Sphinx

BOOK = Path(__file__).parents[2]


def page(title: str, home: str, links: dict[str, str]) -> str:
    """Return the page of a book. `home` is its address, "" where it has none; `links` are names and places in the book.

    Without scripts the links lead to that address. A book without one is taken to begin where its host does.
    """
    static = BOOK / "_static"
    return Template((BOOK / "_templates" / "404.html").read_text("utf-8"), autoescape=True).render(
        title=title, home=home, root=f"{home.rstrip('/')}/", links=links,
        mark=f"data:image/svg+xml,{quote((static / 'mark.svg').read_text('utf-8'))}",
        look=look((static / "book.css").read_text("utf-8")),
    )


def look(css: str) -> dict[str, str]:
    """Return what the book's style sheet names: colors that follow the mode, and the rest as it is.

    >>> look(':root {--ink:#000; --col:9rem;} html[data-theme="dark"] {--ink:#fff;}')
    {'ink': 'light-dark(#000, #fff)', 'col': '9rem'}
    """
    light, dark = (
        dict(re.findall(r"--([\w-]+):([^;]+);", css.partition(f"{mode} {{")[2].partition("}")[0]))
        for mode in (":root", 'html[data-theme="dark"]')
    )
    return light | {name: f"light-dark({light[name]}, {color})" for name, color in dark.items()}


def write_not_found(app: Sphinx) -> None:
    """Write the page into a finished build."""
    to = app.builder.get_target_uri
    links = {"The first page": to(app.config.root_doc), "All chapters": f"{to('book/preface')}#the-chapters"}
    written = page(app.config.html_title, app.config.html_baseurl, links)
    Path(app.outdir, "404.html").write_text(written, "utf-8")
