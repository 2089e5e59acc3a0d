"""The page that reads a configuration in the browser: its form and its styles stand in the page, its scripts beside it.

All scripts of book/your-model are one file of the site, and the tables that they share with `d2lpos.config` another.
"""

import json
import re
from pathlib import Path

from sphinx.application import Sphinx

from .search import pack

MODULE = 'typeof module === "undefined" ? readerWords : require("./words.js")'  # where Node finds the words
BLOCK = re.compile(r"^```\{your-model\}\n```$", re.MULTILINE)
FOLDER = Path(__file__).parents[2] / "your-model"
TABLES = Path(__file__).parents[3] / "d2lpos" / "config" / "tables"
SCRIPTS = ("words", "reader", "answers", "names", "verdict", "facts", "figures", "page")  # in the order in which they run
# What each file says again or Node alone needs, comments, and blanks at the begin of a line.
IDLE = re.compile(r"^\"use strict\";\n|^if \(typeof module .*\n|^\s*//.*\n|^\s*/\*\*[\s\S]*?\*/\n|  // .*$|^\s+", re.MULTILINE)


def expand(text: str, root: str | Path) -> str:
    """Return a page's Markdown with what its block `{your-model}` stands for."""

    def page(_: re.Match) -> str:
        style = f"<style>{(FOLDER / 'page.css').read_text('utf-8')}</style>\n"
        scripts = "\n".join(f'<script defer src="../_static/your-model{name}.js"></script>' for name in ("-tables", ""))
        return f"```{{raw}} html\n{style}{(FOLDER / 'page.html').read_text('utf-8')}{scripts}\n```"

    return BLOCK.sub(page, text)


def light(script: str) -> str:
    """A script for a browser, without comments and indentation.

    >>> light("// one\\nlet a = 1;  // two\\n  /** three */\\n  a += 1;\\n")
    'let a = 1;\\na += 1;\\n'
    """
    return IDLE.sub("", script).replace(MODULE, "readerWords")


def write_scripts(app: Sphinx, exception: Exception | None) -> None:
    """Write the page's scripts, and the tables that they read, into a finished build."""
    if not exception and app.builder.format == "html":
        static = Path(app.outdir) / "_static"
        scripts = (light((FOLDER / f"{name}.js").read_text("utf-8")) for name in SCRIPTS)
        (static / "your-model.js").write_text("".join(['"use strict";\n', *scripts]), "utf-8")
        tables = {path.stem: json.loads(path.read_text("utf-8")) for path in sorted(TABLES.glob("*.json"))}
        (static / "your-model-tables.js").write_text(f'const yourModelTables = "{pack(tables)}";\n', "utf-8")
