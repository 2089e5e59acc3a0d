"""The models that a figure reads with, as files of the site: a page loads one where its reader asks for it."""

from pathlib import Path
from shutil import copy

from sphinx.application import Sphinx

RESULTS = Path(__file__).parents[2] / "results"


def bring_readers(app: Sphinx, exception: Exception | None) -> None:
    """Copy them into a finished build."""
    if not exception and app.builder.format == "html":
        for path in RESULTS.glob("readers-*.js"):
            copy(path, Path(app.outdir) / "_static")
