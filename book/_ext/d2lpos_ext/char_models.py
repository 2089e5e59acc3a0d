"""The machine that reads, as files of the site: its program, and its models, which a page loads where a reader asks."""

from pathlib import Path
from shutil import copy

from programs import share
from sphinx.application import Sphinx

RESULTS = Path(__file__).parents[2] / "results"


def bring_char_models(app: Sphinx) -> None:
    """Bring them into a finished build."""
    for path in RESULTS.glob("readers-*.js"):
        copy(path, Path(app.outdir) / "_static")
    share(Path(app.outdir))
