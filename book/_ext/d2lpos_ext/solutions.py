"""Solutions that fold under their titles, which browsers do without a script."""

from docutils.nodes import Element
from sphinx.application import Sphinx
from sphinx.writers.html5 import HTML5Translator
from sphinx_exercise.nodes import solution_node


def begin_solution(translator: HTML5Translator, node: Element) -> None:
    title = translator.encode(node.pop(0).astext())
    translator.body.append(f"{translator.starttag(node, 'details', CLASS='admonition')}<summary>{title}</summary>\n")


def end_solution(translator: HTML5Translator, node: Element) -> None:
    translator.body.append("</details>\n")


def fold_solutions(app: Sphinx) -> None:
    app.setup_extension("sphinx_exercise")
    app.add_node(solution_node, override=True, html=(begin_solution, end_solution))
