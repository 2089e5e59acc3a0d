"""Parts by other projects that the site brings: a table of them, and the text of each license beside the pages."""

from collections.abc import Iterator
from importlib.metadata import distribution
from pathlib import Path

import yaml
from sphinx.application import Sphinx

BLOCK = "```{third-party}\n```"
ROW = '| {name} | <a href="../_static/licenses/{file}">{license}</a> | {version} | {use} |'


def parts(book: Path) -> Iterator[dict[str, str]]:
    """Yield the rows of third-party.yml, each with a `version`, the `words` of its license, and the `file` where they go.

    Raises ValueError where an installed package does not have the one file that a row names.
    """
    for part in yaml.safe_load((book / "third-party.yml").read_text("utf-8")):
        text = book / part["text"]
        if package := part.get("from"):
            installed = distribution(package)
            [path] = [path for path in installed.files if path.name == part["text"] and "licen" in str(path).lower()]
            text, part = installed.locate_file(path), {"version": installed.version} | part
        yield part | {"file": part["name"].lower().replace(" ", "-") + ".txt", "words": text.read_text("utf-8")}


def expand(text: str, root: Path) -> str:
    """Return a page's Markdown with the table in place of a `{third-party}` block."""
    if BLOCK not in text:
        return text
    head = ["| Part | License | Version | What it does |", "| :-- | :-- | :-- | :-- |"]
    return text.replace(BLOCK, "\n".join([*head, *(ROW.format(**part) for part in parts(root / "book"))]))


def write_licenses(app: Sphinx) -> None:
    """Write the licenses into the finished site, if it has the page that links to them."""
    if "book/third-party" not in app.env.found_docs:
        return
    folder = Path(app.outdir, "_static", "licenses")
    folder.mkdir()
    for part in parts(Path(app.confdir, "book")):
        (folder / part["file"]).write_text(part["words"], "utf-8")
