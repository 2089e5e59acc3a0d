"""The Sphinx extension that turns plain notebooks into pages: tags into boxes, links into citations."""

import gc
from pathlib import Path

import nbformat
from notebooks import anchored, chapters
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinxcontrib.bibtex.plugin import register_plugin

from . import api, ledger, models, predictions, reviews, scorecard, third_party, your_model
from .cells import translate
from .char_models import bring_char_models
from .citations import RoundAuthorYear, cite, index
from .exercises import tabulate
from .formulas import setup_formulas, write_font
from .front import lead_back, place_front
from .mentions import Mentions, check_numbers, note_anchor
from .mistakes import place_mistakes
from .moved import lead_on
from .not_found import write_not_found
from .numbers import renumber
from .policy import write_policies
from .repair import repair_pages
from .search import change_tools, skip_index, write_index
from .slim import slim
from .social import describe, set_address, without_placeholder
from .solutions import fold_solutions
from .trust import say_how_to_trust

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
        page = tabulate(content[0], chapters(Path(app.confdir)))
        page = models.expand(scorecard.expand(page, Path(app.confdir)), app.confdir)
        for module in (reviews, predictions, third_party, your_model):
            page = module.expand(page, Path(app.confdir))
        content[0] = cited(ledger.expand(api.expand(page, app.confdir), app.confdir))
        return
    notebook = nbformat.reads(content[0], as_version=4)
    notebook.cells = reviews.bring_back(notebook.cells, Path(app.env.doc2path(docname)).parent)
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            cell.source = cited(anchored(cell.source, set()))
    notebook.cells = place_mistakes(notebook.cells, Path(app.confdir, "book", "mistakes", f"{Path(docname).name}.json"))
    try:
        notebook.cells, anchors = translate(notebook.cells)
    except ValueError as error:
        logger.warning(str(error), location=docname)
        return
    for label, anchor in anchors.items():
        note_anchor(app.env, docname, label, anchor)
    notebook.metadata.setdefault("language_info", {})["pygments_lexer"] = "ipython3"  # which knows `!`
    content[0] = nbformat.writes(notebook)


def finish(app: Sphinx, exception: Exception | None) -> None:
    """Change the site of a finished build, each step after those that write what it reads."""
    if exception or app.builder.format != "html":
        return
    steps = [write_font, say_how_to_trust, lead_on, your_model.write_scripts, repair_pages, change_tools, slim, write_index]
    steps += [bring_char_models, write_not_found, third_party.write_licenses, write_policies]  # nothing may change after the last
    for step in steps:
        step(app)


def setup(app: Sphinx) -> dict[str, bool]:
    gc.set_threshold(200_000)  # the trees of the pages grow and stay: to search them for garbage takes a tenth of a build
    app.connect("source-read", read)
    app.add_transform(Mentions)
    app.connect("env-get-updated", renumber, priority=900)  # after all that count
    app.connect("env-check-consistency", check_numbers)
    setup_formulas(app)
    fold_solutions(app)
    app.connect("config-inited", set_address)
    app.connect("builder-inited", place_front)
    app.connect("builder-inited", skip_index)
    app.connect("html-page-context", describe)
    app.connect("html-page-context", lead_back, priority=900)  # after the theme
    app.connect("build-finished", finish, priority=900)  # after all that write pages
    return {"parallel_read_safe": True, "parallel_write_safe": True}
