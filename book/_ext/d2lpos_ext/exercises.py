"""A table of all exercises for the page for teachers, read from the notebooks, and solutions that fold."""

import re
from collections.abc import Iterable
from pathlib import Path

import nbformat
from docutils.nodes import Element
from sphinx.application import Sphinx
from sphinx.writers.html5 import HTML5Translator
from sphinx_exercise.nodes import solution_node

from .cells import EXERCISE

BLOCK = "```{exercises}\n```"
HEAD = "| Exercise | Minutes | Difficulty |\n|:--|--:|:--|\n"


def exercises(notebooks: Iterable[Path]) -> list[re.Match]:
    """Return what the exercises' first lines say: number, title, minutes and difficulty."""
    cells = [cell for path in notebooks for cell in nbformat.read(path, as_version=4).cells]
    return [head for cell in cells if (head := EXERCISE.match(cell.source))]


def tabulate(text: str, notebooks: Iterable[Path]) -> str:
    """Return a page's Markdown with the table of exercises in place of an `{exercises}` block."""
    if BLOCK not in text:
        return text
    row = r"| Exercise \g<number>. \g<title> | \g<minutes> | \g<difficulty> |"
    return text.replace(BLOCK, HEAD + "\n".join(head.expand(row) for head in exercises(notebooks)))


def begin_solution(translator: HTML5Translator, node: Element) -> None:
    """Open what folds a solution under its title, which browsers do without a script."""
    title = translator.encode(node.pop(0).astext())
    translator.body.append(f"{translator.starttag(node, 'details', CLASS='admonition')}<summary>{title}</summary>\n")


def end_solution(translator: HTML5Translator, node: Element) -> None:
    translator.body.append("</details>\n")


def fold_solutions(app: Sphinx) -> None:
    app.setup_extension("sphinx_exercise")
    app.add_node(solution_node, override=True, html=(begin_solution, end_solution))
