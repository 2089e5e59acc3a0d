"""Where the chapters are. It stands outside the extension, so that scripts can ask without Sphinx."""

import re
from functools import cache
from pathlib import Path

NAMES = "[0-9][0-9]*.ipynb"
DEPTH = "chapters/in-depth/"
PROJECTS = "chapters/projects/"
LETTERS = {"attention": "A", "own": "B", "symptoms": "C"}  # pages of book/ whose figures and exercises have numbers
EXERCISE = re.compile(r"\*\*Exercise .+?\*\* \((\d+) minutes")
READING = re.compile(r"^(\*\*Time:\*\* \d+ minutes to read)(?:, and about .+ for the exercises?)?\.$", re.MULTILINE)
HEADING = re.compile(r'^(#{1,6} .+?)(?:<a id="([^"]*)"></a>)?$', re.MULTILINE)
LINK = re.compile(r"\]\(([^()\s#]*)#([^()\s]+)\)")
FENCED = re.compile(r"^(`{3,}).*?^\1", re.MULTILINE | re.DOTALL)
EVENING = re.compile(r"^(\*\*Time:\*\* up to \w+ hours)(?:, .+ for the exercises?)?\.$", re.MULTILINE)


def path(root: Path) -> list[Path]:
    """Return the chapters of the book in the folder `root`, in order."""
    return sorted((root / "chapters").glob(NAMES))


def chapters(root: Path) -> list[Path]:
    """Return all chapters, each followed by the notebooks in depth that belong to it."""
    return sorted([*path(root), *(root / DEPTH).glob(NAMES)], key=lambda file: file.name)


def projects(root: Path) -> list[Path]:
    """Return the projects of the book, in order."""
    return sorted((root / PROJECTS).glob("p[0-9]*.ipynb"))


def exercised(root: Path) -> list[Path]:
    """Return what has exercises, and what a class is given: the chapters and the projects."""
    return [*chapters(root), *projects(root)]


def checked(root: Path) -> list[Path]:
    """Return all notebooks that may have exercises: what a class is given, and the page of symptoms."""
    return [*exercised(root), root / "book" / "symptoms.ipynb"]


def answers(notebook: Path) -> Path:
    """Return the notebook that holds the solutions of `notebook`: itself or, of a project, one apart."""
    return notebook.parent / "solutions" / notebook.name if notebook.parent.name == "projects" else notebook


def every(root: Path) -> list[Path]:
    """Return all notebooks of the book."""
    apart = [answers(project) for project in projects(root)]
    return [*exercised(root), *apart, *sorted((root / "book").glob("*.ipynb"))]


def title(cells: list) -> str:
    """Return what a notebook calls itself in its first line."""
    return anchored(cells[0].source, set()).splitlines()[0].removeprefix("# ")


def number(name: str) -> str:
    """Return what the figures, equations and exercises of a notebook are numbered by.

    >>> number("04-rope"), number("04b-stretching"), number("p1-port-a-checkpoint"), number("symptoms")
    ('4', '4B', 'P1', 'C')
    """
    return LETTERS.get(name) or re.match(r"0*(\d+[a-z]?|p\d+)-", name)[1].upper()


def asked(cells: list) -> list[int]:
    """Return the minutes of each exercise of a notebook, as its statement says."""
    heads = (EXERCISE.match(cell.source) for cell in cells if cell.cell_type == "markdown")
    return [int(head[1]) for head in heads if head]


def promise(words: str, minutes: list[int]) -> str:
    """Return words with their line **Time:** as the minutes of the exercises make it: of a chapter to the nearest five."""
    if not minutes:
        return READING.sub(r"\1.", words)
    of = "for the exercises." if len(minutes) > 1 else "for the exercise."
    about = max(5, 5 * round(sum(minutes) / 5))
    words = READING.sub(rf"\1, and about {about} minutes {of}", words)
    return EVENING.sub(rf"\1, {sum(minutes)} minutes of them {of}", words)


def slug(heading: str) -> str:
    """Return the anchor of a heading, as MyST and GitHub make it.

    >>> slug("With a cache, `is_causal=True` gives nonsense")
    'with-a-cache-is_causaltrue-gives-nonsense'
    """
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


@cache
def links(file: Path) -> set[tuple[Path, str]]:
    """Return the files and anchors that the links of one notebook or page lead to."""
    targets = LINK.findall(file.read_text("utf-8"))
    return {((file.parent / path if path else file).resolve(), anchor) for path, anchor in targets}


def linked(notebook: Path, root: Path) -> set[str]:
    """Return the anchors in `notebook` that its own links lead to, and those of the notebooks and pages in `root`."""
    files = {notebook, *every(root), *root.glob("*.md"), *root.glob("book/*.md")}
    return {anchor for file in files for path, anchor in links(file) if path == notebook.resolve()}


def anchored(words: str, anchors: set[str]) -> str:
    """Return Markdown in which each heading that `anchors` name has its anchor, because hosts disagree about ids.

    JupyterLab keeps the capitals of a heading in its id, and Colab makes none. The site has ids already: there, and
    without `anchors`, no heading has one.

    >>> anchored("## After all", {"after-all"})
    '## After all<a id="after-all"></a>'
    """
    fences = [code.span() for code in FENCED.finditer(words)]

    def write(head: re.Match) -> str:
        if any(start <= head.start() < end for start, end in fences):
            return head[0]
        anchor = slug(head[1].lstrip("# "))
        return f'{head[1]}<a id="{anchor}"></a>' if anchor in anchors else head[1]

    return HEADING.sub(write, words)
