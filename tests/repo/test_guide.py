"""The guides name what is there, and every chapter is listed where they say."""

import re
from pathlib import Path

import nbformat
import pytest
from lint import TAGS

ROOT = Path(__file__).parents[2]
FIRST, SECOND = ((ROOT / name).read_text("utf-8") for name in ("CONTRIBUTING.md", "MAINTAINERS.md"))
GUIDE = FIRST + SECOND
LINKS = re.findall(r"\]\((?!\w+:)([^)#…]+)[)#]", GUIDE)
CODE = [word for code in re.findall(r"`+([^`]+)`+", GUIDE) for word in code.split()]
CHAPTERS = sorted((ROOT / "chapters").glob("*.ipynb"))
PROJECTS = sorted((ROOT / "chapters" / "projects").glob("*.ipynb"))


def test_what_the_guide_names_is_there():
    paths = [
        word for word in CODE if re.fullmatch(r"(?!\.venv)[\w.-]+/[\w./-]*|[\w-]+\.(?:bib|md|txt|yml)", word)
    ]
    assert len(paths) > 20
    assert [path for path in LINKS + paths if not (ROOT / path).exists()] == []


def test_the_guides_are_short():
    assert len(FIRST.encode()) <= 6000
    assert len(SECOND.encode()) <= 20_000


@pytest.mark.parametrize("name", ["CONTRIBUTING.md", "MAINTAINERS.md", "README.md"])
def test_links_to_the_guides_find_their_headings(name):
    links = re.findall(r"\]\(([\w./]*)#([^)]+)\)", (ROOT / name).read_text("utf-8"))
    links = [(file or name, anchor) for file, anchor in links if not (file or name).startswith(("http", "book", "chapters"))]
    missing = [(file, anchor) for file, anchor in links if anchor not in anchors((ROOT / file).read_text("utf-8"))]
    assert missing == [] and (links or name == "README.md")


def test_the_guide_tells_of_every_tag():
    assert set(re.findall(r"^\| `([a-z-]+)` \|", SECOND, re.MULTILINE)) == TAGS


@pytest.mark.parametrize(("place", "entry", "notebooks"), [
    ("_toc.yml", "- file: chapters/projects/{name}\n", PROJECTS),
    ("README.md", "[{title}](chapters/projects/{name}.ipynb)", PROJECTS),
    ("book/preface.md", "| [{title}](../chapters/projects/{name}.ipynb) |", PROJECTS),
    ("book/teachers.md", "| [{title}](../chapters/projects/{name}.ipynb) |", PROJECTS),
    ("_toc.yml", "- file: chapters/{name}\n", CHAPTERS),
    ("README.md", "| [{title}](chapters/{name}.ipynb) |", CHAPTERS),
    ("book/preface.md", "| [{title}](../chapters/{name}.ipynb) |", CHAPTERS),
])
def test_every_chapter_and_project_is_listed(place, entry, notebooks):
    for notebook in notebooks:
        title = nbformat.read(notebook, as_version=4).cells[0].source.splitlines()[0].removeprefix("# ")
        line = entry.format(title=title, name=notebook.stem)
        assert line in (ROOT / place).read_text("utf-8"), f"{place} lacks {line}"


def heads(text):
    return re.findall(r"^#+ (.+)$", re.sub(r"```.*?```", "", text, flags=re.DOTALL), re.MULTILINE)


def anchors(text):
    """As GitHub makes them: small letters, no punctuation, hyphens for blanks."""
    return {re.sub(r"[^\w -]", "", head.lower()).replace(" ", "-") for head in heads(text)}
