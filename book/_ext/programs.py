"""The program of a figure that several pages show is a file of the site, which a reader fetches once.

It stands outside the extension, so that scripts can ask without Sphinx.
"""

import re
from collections import Counter
from hashlib import sha256
from os.path import relpath
from pathlib import Path

LEAST = 20_000  # characters that are worth a request
HEAD, CALL = '<script>\n"use strict"; {\n', r"for \(const element of [^\n]+\n *if \(!element\.shadowRoot\) "
WHOLE = re.compile(rf"{re.escape(HEAD)}((?:(?!</script>).)*?)({CALL})render\(", re.DOTALL)
APART = re.compile(rf'<script src="[^"]*figure-(\w+)\.js"></script>\n{re.escape(HEAD)}({CALL})figures\["\w+"\]\(')


def share(site: Path) -> None:
    """Take the long programs out of the pages of a finished build, where more than one has them."""
    pages = {path: path.read_text("utf-8") for path in site.rglob("*.html") if "_static" not in path.parts}
    count = Counter(program for page in pages.values() for program in {match[1] for match in WHOLE.finditer(page)})
    names = {program: sha256(program.encode()).hexdigest()[:8] for program in count if count[program] > 1 and len(program) > LEAST}
    for program, name in names.items():
        script = f'"use strict"; {{\n{program}(globalThis.figures ??= {{}})["{name}"] = render;\n}}\n'
        (site / "_static" / f"figure-{name}.js").write_text(script, "utf-8")

    def apart(match: re.Match, path: Path) -> str:
        if match[1] not in names:
            return match[0]
        name, static = names[match[1]], Path(relpath(site, path.parent), "_static").as_posix()
        return f'<script src="{static}/figure-{name}.js"></script>\n{HEAD}{match[2]}figures["{name}"]('

    for path, page in pages.items():
        if (changed := WHOLE.sub(lambda match, path=path: apart(match, path), page)) != page:
            path.write_text(changed, "utf-8")


def whole(page: str, site: Path) -> str:
    """Return a page with its programs in it again, for what is one file."""

    def together(match: re.Match) -> str:
        script = (site / "_static" / f"figure-{match[1]}.js").read_text("utf-8")
        program = script.removeprefix('"use strict"; {\n').rpartition("(globalThis")[0]
        return f"{HEAD}{program}{match[2]}render("

    return APART.sub(together, page)
