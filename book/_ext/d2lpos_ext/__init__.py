"""The Sphinx extension that turns plain notebooks into pages: tags into boxes, links into citations."""

from pathlib import Path

import nbformat
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinxcontrib.bibtex.plugin import register_plugin

from . import api, ledger
from .cells import translate
from .citations import RoundAuthorYear, cite, index
from .exercises import tabulate
from .formulas import setup_formulas
from .mentions import Mentions, check_numbers, note_anchor
from .policy import write_policies
from .repair import repair_pages
from .slim import slim
from .social import describe, set_address, without_placeholder

register_plugin("sphinxcontrib.bibtex.style.referencing", "author_year_round", RoundAuthorYear)


def read(app: Sphinx, docname: str, content: list[str]) -> None:
    """Rewrite one source file, before MyST parses it."""
    logger = logging.getLogger(__name__)
    content[0] = without_placeholder(content[0])
    sources = index(app.env.get_domain("cite").bibdata.data.entries)

    def cited(text: str) -> str:
        text, problems = cite(text, sources)
        for problem in problems:
            logger.warning(problem, location=docname)
        return text

    if not app.env.doc2path(docname).endswith(".ipynb"):
        chapters = sorted(name for name in app.env.found_docs if name.startswith("chapters/"))
        page = tabulate(content[0], [Path(app.env.doc2path(name)) for name in chapters])
        content[0] = cited(ledger.expand(api.expand(page, app.confdir), app.confdir))
        return
    notebook = nbformat.reads(content[0], as_version=4)
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            cell.source = cited(cell.source)
    try:
        notebook.cells, anchors = translate(notebook.cells)
    except ValueError as error:
        logger.warning(str(error), location=docname)
        return
    for label, anchor in anchors.items():
        note_anchor(app.env, docname, label, anchor)
    content[0] = nbformat.writes(notebook)


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("source-read", read)
    app.add_transform(Mentions)
    app.connect("env-check-consistency", check_numbers)
    setup_formulas(app)
    app.connect("config-inited", set_address)
    app.connect("html-page-context", describe)
    app.connect("build-finished", repair_pages, priority=900)  # after all that write pages
    app.connect("build-finished", slim, priority=901)
    app.connect("build-finished", write_policies, priority=902)  # nothing may change after it
    return {"parallel_read_safe": True, "parallel_write_safe": True}
