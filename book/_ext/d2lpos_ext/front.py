"""The first page of the book is `index.html`, wherever its source lies: one address, one preview. It is the essay, which
leads from each of its sections to a chapter, and each chapter leads back.
"""

import re
from pathlib import Path

from sphinx.application import Sphinx

from .your_model import light

SECTION = re.compile(r"^## (.+?)\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
PROGRAM = re.compile(r"<script>((?:(?!</script>).){4000,}?)</script>", re.DOTALL)
CHAPTER = re.compile(r"\]\(\.\./(chapters/\d\d-[\w-]+)\.ipynb\)")


def place_front(app: Sphinx) -> None:
    """Let the builder write the root of the table of contents to `index.html`, and lead there."""
    if app.builder.format != "html":
        return
    builder, root = app.builder, app.config.root_doc
    uri, file = builder.get_target_uri, builder.get_outfilename
    builder.get_target_uri = lambda name, typ=None: uri("index" if name == root else name, typ)
    builder.get_outfilename = lambda name: file("index" if name == root else name)


def shorten_programs(app: Sphinx) -> None:
    """Shorten the long programs of the first page of a finished build, which most readers load and few read."""
    path = Path(app.outdir) / "index.html"
    page = PROGRAM.sub(lambda match: f"<script>{light(match[1])}</script>", path.read_text("utf-8"))
    path.write_text(page, "utf-8")


def sections(essay: str) -> dict[str, tuple[str, str]]:
    """Return the title and the anchor of the first section that leads to each chapter in its text.

    >>> sections("## A toll\\nIt [costs](../chapters/06-alibi.ipynb). ")
    {'chapters/06-alibi': ('A toll', 'a-toll')}
    """
    led = {}
    for title, text in SECTION.findall(essay):
        for chapter in CHAPTER.findall(text.split(":::{container}")[0]):
            led.setdefault(chapter, (title, re.sub(r"[^\w-]", "", title.lower().replace(" ", "-"))))
    return led


def lead_back(app: Sphinx, pagename: str, templatename: str, context: dict, doctree: object) -> None:
    """Name the essay in the contents, and at the end of each chapter the section that leads there."""
    context["root_title"] = "The essay"
    if re.match(r"chapters/\d\d-", pagename):
        essay = Path(app.env.doc2path(app.config.root_doc)).read_text("utf-8")
        context["essay"] = sections(essay).get(pagename, ("from its first page", ""))
