"""What a reader downloads says in its first cell how its figures move: JupyterLab does not trust it yet."""

from pathlib import Path

import nbformat
from sphinx.application import Sphinx

SENTENCE = (
    "*In JupyterLab the figures of a downloaded notebook stand still until you run their cells or trust the notebook: "
    "View, Activate Command Palette, Trust Notebook.*"
)


def say_how_to_trust(app: Sphinx) -> None:
    """Add the sentence to each notebook that a finished build offers and that has a figure to move."""
    for path in (Path(app.outdir) / "_sources").rglob("*.ipynb"):
        text = path.read_text("utf-8")
        if "data-figure=" in text:
            notebook = nbformat.reads(text, as_version=4)
            notebook.cells[0].source += f"\n\n{SENTENCE}"
            path.write_text(nbformat.writes(notebook) + "\n", "utf-8")
