"""The page that reads a configuration in the browser: its form and its styles stand in the page, its scripts beside it.

The scripts of book/your-model are two files of the site, of which the page loads the second when it needs it, and the tables that
they share with `d2lpos.config` another.
"""

import json
import re
from base64 import b64encode
from pathlib import Path

from sphinx.application import Sphinx

from .search import pack

MODULE = 'typeof module === "undefined" ? readerWords : require("./words.js")'  # where Node finds the words
BLOCK = re.compile(r"^```\{your-model\}\n```$", re.MULTILINE)
FOLDER = Path(__file__).parents[2] / "your-model"
TABLES = Path(__file__).parents[3] / "d2lpos" / "config" / "tables"
SCRIPTS = {  # in the order in which they run; the second is loaded for a file, a command or a card
    "your-model": ("words", "reader", "answers", "names", "verdict", "facts", "figures", "page"),
    "your-model-more": ("files", "commands", "card"),
}
IDLE = re.compile(r"^\"use strict\";\n|^if \(typeof module .*\n", re.MULTILINE)  # what each file says again, or Node alone needs
EAGER = "//# allFunctionsCalledOnLoad @preserve\n"  # Chromium then compiles beside the page's work, not in it, function by function
FOR_THE_COMMAND = ("asks", "layers", "options")  # words that the page does not say


def expand(text: str, root: str | Path) -> str:
    """Return a page's Markdown with what its block `{your-model}` stands for."""

    def page(_: re.Match) -> str:
        style = f"<style>{(FOLDER / 'page.css').read_text('utf-8')}</style>\n"
        scripts = "\n".join(f'<script defer src="../_static/your-model{name}.js"></script>' for name in ("-tables", ""))
        return f"```{{raw}} html\n{style}{(FOLDER / 'page.html').read_text('utf-8')}{scripts}\n```"

    return BLOCK.sub(page, text)


def write_scripts(app: Sphinx) -> None:
    """Write the page's scripts, and the tables that they read, into a finished build."""
    static = Path(app.outdir) / "_static"
    for file, names in SCRIPTS.items():
        scripts = "".join((FOLDER / f"{name}.js").read_text("utf-8") for name in names)
        whole = f'{EAGER}"use strict";\n' + IDLE.sub("", scripts).replace(MODULE, "readerWords")
        (static / f"{file}.js").write_text(whole, "utf-8")
    tables = {path.stem: json.loads(path.read_text("utf-8")) for path in sorted(TABLES.glob("*.json"))}
    tables["words"] = {name: words for name, words in tables.get("words", {}).items() if name not in FOR_THE_COMMAND}
    (static / "your-model-tables.js").write_text(f'const yourModelTables = "{b64encode(pack(tables)).decode()}";\n', "utf-8")
