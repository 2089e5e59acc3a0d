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
SCRIPTS = ("words", "reader", "answers", "names", "facts", "figures", "page")  # in the order in which they run
# What each file says again or Node alone needs, comments, and blanks at the begin of a line.
IDLE = re.compile(r"^\"use strict\";\n|^if \(typeof module .*\n|^\s*//.*\n|^\s*/\*\*[\s\S]*?\*/\n|  // .*$|^\s+", re.MULTILINE)

QUOTED = r""""(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|`[^`$]*(?:\$(?!\{)[^`$]*|\$\{[^{}`]*\}[^`$]*)*`"""
TEXTS, BLANKS = re.compile(QUOTED), re.compile(rf"({QUOTED})| ?([{{}}()\[\],;:?=<>|&*%!]) ?")
FOR_THE_COMMAND = ("asks", "layers", "units")  # words that the page does not say


def expand(text: str, root: str | Path) -> str:
    """Return a page's Markdown with what its block `{your-model}` stands for."""

    def page(_: re.Match) -> str:
        style = f"<style>{(FOLDER / 'page.css').read_text('utf-8')}</style>\n"
        scripts = "\n".join(f'<script defer src="../_static/your-model{name}.js"></script>' for name in ("-tables", ""))
        return f"```{{raw}} html\n{style}{(FOLDER / 'page.html').read_text('utf-8')}{scripts}\n```"

    return BLOCK.sub(page, text)


def light(script: str) -> str:
    """A script for a browser, without comments, indentation, and blanks around marks.

    >>> light("// one\\nlet a = 1;  // two\\n  /** three */\\n  b = [a, ' , '];\\n")
    "let a=1;\\nb=[a,' , '];\\n"
    """
    return "\n".join(map(tight, IDLE.sub("", script).replace(MODULE, "readerWords").split("\n")))


def tight(line: str) -> str:
    """A line without blanks around marks; as it is where a template within a template or a slash could hold such blanks.

    >>> tight("a = { b: `${c} = ${d}`, e }"), tight("a = b / c")
    ('a={b:`${c} = ${d}`,e}', 'a = b / c')
    """
    return line if set(TEXTS.sub("", line)) & set("`/") else BLANKS.sub(r"\1\2", line)


def write_scripts(app: Sphinx, exception: Exception | None) -> None:
    """Write the page's scripts, and the tables that they read, into a finished build."""
    if not exception and app.builder.format == "html":
        static = Path(app.outdir) / "_static"
        scripts = (light((FOLDER / f"{name}.js").read_text("utf-8")) for name in SCRIPTS)
        (static / "your-model.js").write_text("".join(['"use strict";\n', *scripts]), "utf-8")
        tables = {path.stem: json.loads(path.read_text("utf-8")) for path in sorted(TABLES.glob("*.json"))}
        tables["words"] = {name: words for name, words in tables["words"].items() if name not in FOR_THE_COMMAND}
        (static / "your-model-tables.js").write_text(f'const yourModelTables = "{pack(tables)}";\n', "utf-8")
