"""Programs of pages: short, and where several pages show the same figure, in a file of the site, which a reader fetches once.

It stands outside the extension, so that scripts can ask without Sphinx.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from hashlib import sha256
from os.path import relpath
from pathlib import Path

from py_mini_racer import MiniRacer

TERSER = Path(__file__).parents[1] / "_vendor" / "terser" / "bundle.min.js"
LEAST = 20_000  # characters that are worth a request
HEAD, CALL = '<script>\n"use strict"; {\n', r"for \(const element of [^\n]+\n *if \(!element\.shadowRoot\) "
WHOLE = re.compile(rf"{re.escape(HEAD)}((?:(?!</script>).)*?)({CALL})render\(", re.DOTALL)
NOW = re.compile(rf"({CALL})(?!later)(.*)(?=;\n}})")
LATER = re.compile(rf"({CALL})later\(element, \(\) => (.*)\)(?=;\n}})")
APART = re.compile(rf'<script src="[^"]*figure-(\w+)\.js"></script>\n{re.escape(HEAD)}({CALL})figures\["\w+"\]\(')
INLINE = re.compile(r"<script>((?:(?!</script>).){2000,}?)</script>", re.DOTALL)


@contextmanager
def terser() -> Iterator[Callable[[str], str]]:
    """A function that makes a script for browsers: without comments and blanks, and with short names within functions.

    >>> with terser() as light:
    ...     light("// one\\nlet whole = ({part}) => part + 1;  // two\\n")
    'let whole=({part:e})=>e+1;'
    """
    engine = MiniRacer()
    try:
        engine.eval(TERSER.read_text("utf-8"))
        yield cache(lambda script: engine.call("(code => Terser.minify_sync(code).code)", script))
    finally:
        engine.close()  # without this its thread outlives the build


def share(site: Path) -> None:
    """Shorten the programs in the pages of a finished build, and take the long ones out where more than one page has them."""
    with terser() as light:
        for path in site.rglob("*.html"):
            page = path.read_text("utf-8")
            other = lambda match: match[0] if WHOLE.match(match[0]) else f"<script>{light(match[1])}</script>"
            short = WHOLE.sub(lambda match: f"{HEAD}{light(match[1])}\n{match[2]}render(", INLINE.sub(other, page))
            if short != page:
                path.write_text(short, "utf-8")
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
        shared = WHOLE.sub(lambda match, path=path: apart(match, path), page)
        if (changed := NOW.sub(r"\1later(element, () => \2)", shared)) != page:
            path.write_text(changed, "utf-8")


def whole(page: str, site: Path) -> str:
    """Return a page with its programs in it again, for what is one file."""

    def together(match: re.Match) -> str:
        script = (site / "_static" / f"figure-{match[1]}.js").read_text("utf-8")
        program = script.removeprefix('"use strict"; {\n').rpartition("(globalThis")[0]
        return f"{HEAD}{program}{match[2]}render("

    return APART.sub(together, LATER.sub(r"\1\2", page))
