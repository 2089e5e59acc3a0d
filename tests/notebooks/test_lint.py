"""Every notebook of the book keeps every rule, and every rule finds what it is for."""

import tomllib
from itertools import groupby
from pathlib import Path

import nbformat
import pytest
from d2lpos_ext.cells import gate
from lint import RULES, Notebook, lint
from nbformat import NotebookNode
from nbformat.v4 import new_markdown_cell, new_output
from notebooks import PROJECTS, answers, every, linked, number, projects

ROOT = Path(__file__).parents[2]
GOOD = Path(__file__).with_name("good.ipynb")
REPOSITORY = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["urls"]["Repository"]


def message(findings: list) -> str:
    return "".join(f"\ncell {at}: {text} [{rule}]" for at, rule, text in findings)


def together(cells: list[NotebookNode], solved: list[NotebookNode]) -> list[NotebookNode]:
    """The cells of a project with each solution below its exercise, and those that have none at the end."""
    runs = {box: list(run) for box, run in groupby(solved, gate) if box}
    cells_in_order = []
    for box, run in groupby(cells, gate):
        cells_in_order += [*run, *(runs.pop(("solution", box[1]), []) if box else [])]
    return cells_in_order + [cell for run in runs.values() for cell in run]


def load(path: Path) -> Notebook:
    chapter = "1" if path.stem == "good" else number(path.stem)
    content = nbformat.v4.reads(path.read_text("utf-8"))  # unlike nbformat.read, leaves equal ids as they are
    return Notebook(content, chapter, path.parent, REPOSITORY, linked(path, ROOT))


@pytest.mark.parametrize("path", [GOOD, *every(ROOT)], ids=lambda path: path.name)
def test_notebook_keeps_the_rules(path):
    projects_rule = "solution_follows_exercise" if PROJECTS in path.as_posix() else ""
    findings = [finding for finding in lint(load(path)) if finding.rule != projects_rule]
    assert not findings, message(findings)


@pytest.mark.parametrize("path", projects(ROOT), ids=lambda path: path.name)
def test_the_solutions_of_a_project_keep_the_rules_where_they_belong(path):
    """They stand in a notebook of their own, and are put below their exercises here."""
    notebook, answered = load(path), load(answers(path)).content.cells
    notebook.content.cells = together(notebook.content.cells, answered)
    findings = [f for f in lint(notebook) if f.rule.startswith("solution_") or f.rule == "verdict_is_right"]
    assert not findings, message(findings)


@pytest.mark.parametrize("key", ["claim", "verdict", "trained", "id"])
def test_names_differ_between_notebooks(key):
    """Those of exercises and solutions too, since a page is known by them."""
    notebooks = [nbformat.read(path, as_version=4) for path in every(ROOT) if path.parent.name != "solutions"]
    sets = [{cell.metadata.get("d2lpos", {}).get(key) for cell in notebook.cells} for notebook in notebooks]
    names = [name for each in sets for name in each - {None}]
    assert sorted(names) == sorted(set(names))


# Mistakes. Each spoils a copy of the good notebook, in the first cell that holds a given text.


def at(notebook: NotebookNode, text: str) -> NotebookNode:
    return next(cell for cell in notebook.cells if text in cell.source)


def write(text: str, new: str):
    """Write `new` instead of `text`."""
    return lambda notebook: at(notebook, text).update(source=at(notebook, text).source.replace(text, new))


def say(text: str, **metadata):
    """Change the cell's metadata."""
    return lambda notebook: at(notebook, text).metadata.update(metadata)


def show(text: str, *outputs: NotebookNode):
    """Let the cell show other outputs."""
    return lambda notebook: at(notebook, text).update(outputs=list(outputs))


def insert(text: str, source: str):
    """Put a new cell above the cell."""
    cell = new_markdown_cell(source)
    return lambda notebook: notebook.cells.insert(notebook.cells.index(at(notebook, text)), cell)


def remove(text: str):
    return lambda notebook: notebook.cells.remove(at(notebook, text))


def stream(text: str) -> NotebookNode:
    return new_output("stream", name="stdout", text=text)


def picture(kind: str, data: str, text: str = "<Figure>") -> NotebookNode:
    return new_output("display_data", {kind: data, "text/plain": text})


SUM, BARS, ANSWER = "fox, jumps, dog", 'alt="Three bars."', "#@title Solution 1.1"

MISTAKES = {
    "tag_is_known": [say(SUM, tags=["claim", "slow"])],
    "id_is_unique": [
        lambda notebook: at(notebook, SUM).update(id=notebook.cells[0].id),
        write("Try Exercise 1.1.", r"$$ x \tag{1.1} $$"),
        say("perf_counter", d2lpos={"claim": "sum-has-no-order"}, tags=["claim"]),
        say("Write `twice", d2lpos={"id": "ex-reverse"}),
        say("A list has no order", d2lpos={"verdict": "sum-has-no-order"}),
    ],
    "opening_fits_tag": [
        write("**Predict first.**", "Predict first."),
        write("**Theorem 1.1 (Sums are invariant).**", "**Theorem 1.1.**"),
        say("**Proof.**", tags=[]),
    ],
    "exercise_is_complete": [
        write("(10 minutes, medium)", "(ten minutes, medium)"),
        write("check.reverse(reverse)", "reverse([1, 2])"),
        write("def twice", "def thrice"),
        write("    ...", "    ...\n\nlength = ...  # of what comes back"),
        remove("check.reverse(twice)"),
        remove("def twice"),
        say("Write `twice", d2lpos={}),
        say("Write `twice", tags=[]),
    ],
    "promised_minutes_are_those_of_the_exercises": [
        write("(10 minutes, medium)", "(20 minutes, medium)"),
        write("about 15 minutes for", "about a quarter of an hour for"),
        write("and about 15 minutes for the exercises", "and more to write"),
        write(", and about 15 minutes for the exercises", ""),
        insert("## Exercises", "**Time:** up to two hours, 10 minutes of them for the exercises."),
    ],
    "solution_follows_exercise": [
        insert(ANSWER, "First think."), remove("#@title Solution 1.2"), remove(ANSWER),
        say(ANSWER, d2lpos={"id": "ex-other"}),
    ],
    "solution_answers_exercise": [
        write(ANSWER, "#@title Solution 1.3"),
        write("    return items[::-1]\n\ncheck.reverse(reverse)", "    return items[::-1]"),
        write(f"{ANSWER}\ndef reverse", f"{ANSWER}\ndef backward"),
    ],
    "verdict_is_right": [
        show("check.reverse(reverse)", stream("✗ reverse: wrong")),
        show(ANSWER, stream("○ reverse: not attempted yet")),
        show(ANSWER),
    ],
    "numbers_are_in_order": [
        write("Exercise 1.2. Turn", "Exercise 1.3. Turn"),
        write("**Theorem 1.1", "**Theorem 1.2"),
        write("**Figure 1.2.**", "**Figure 1.1.**"),
    ],
    "nobody_restarts_or_reads_a_traceback": [
        write("fox, jumps, dog = 1.25", "%pip install it\nfox, jumps, dog = 1.25"),
        write("fox, jumps, dog = 1.25", "from gguf import GGUFReader\nfox, jumps, dog = 1.25"),
    ],
    "picture_has_words": [
        show(BARS),
        show(BARS, picture("text/html", '<img alt=" " src="data:,">')),
        show(BARS, picture("text/html", '<svg aria-label="Bars."><text>three</text></svg>')),
        show(BARS, picture("text/html", '<img alt="Bars." src="data:,"><script>draw()</script>')),
        show(SUM, picture("image/png", "iVBORw0")),
        show(BARS, picture("text/html", "<div>bars</div>")),
    ],
    "figure_has_caption": [remove("**Figure 1.1.**"), remove(BARS), insert("**Figure 1.1.**", "So:")],
    "opening_comes_first": [
        say("fox, jumps, dog", tags=["opening", "hide-input", "claim"]),
        say(BARS, tags=["opening"]),
        insert(BARS, "A sum."),
        remove("**Figure 1.1.**"),
    ],
    "try_it_begins_a_paragraph_of_a_caption": [
        write("\n\n*Try it.*", " *Try it.*"),
        write("Try Exercise 1.1.", "\n\n*Try it.* Add."),
    ],
    "cells_ran_in_order": [
        lambda notebook: at(notebook, SUM).update(execution_count=40),
    ],
    "markdown_is_plain": [
        write("Try Exercise 1.1.", "Try {ref}`ex-reverse`."),
        write("Try Exercise 1.1.", "\n\n```{note}\nTry.\n```"),
        write("## Summary", "(summary)=\n## Summary"),
        write("**True.**", "[True]{.verdict}"),
    ],
    "page_adds_no_mark_of_its_own": [
        write("commutative and associative.", r"commutative and associative. $\square$"),
        write("No: it is the sum", "5. The mean is the sum"),
    ],
    "no_widget_state": [lambda notebook: notebook.metadata.update(widgets={})],
    "first_cell_installs": [
        write("d2lpos[notebooks] @ git", "git"),
        say("find_spec", tags=["hide-input"]),
        remove("find_spec"),
    ],
    "folded_code_has_a_title": [
        say(ANSWER, cellView="code"),
        say(BARS, jupyter={}),
        say(BARS, tags=["opening"]),
        say(SUM, cellView="form", jupyter={"source_hidden": True}),
        write("#@title Three bars in one order\n", ""),
        write("#@title Three bars in one order", "#@title bars(3)"),
        write(SUM, f"#@title The sum of three numbers\n{SUM}"),
    ],
    "kernel_is_python": [lambda notebook: notebook.metadata.pop("kernelspec")],
    "code_is_short": [
        write("perf_counter\n", "perf_counter\n" * 20),
        write("perf_counter()", "perf_counter() " + "+ 0 " * 20),
    ],
    "no_absolute_path": [
        write("Try Exercise 1.1.", "See /home/me/notes."),
        show(SUM, stream("C:\\Users\\me\\d2lpos")),
    ],
    "ignored_output_has_reason": [
        say("perf_counter", d2lpos={}),
        write(SUM, f"# NBVAL_IGNORE_OUTPUT\n{SUM}"),
    ],
    "timing_is_a_range": [show("perf_counter()", stream("turned when read: 3 times as long"))],
    "intervals_are_made_in_one_place": [write("fox, jumps, dog = 1.25", "half = 2.07 * gain.sem()\nfox, jumps, dog = 1.25")],
    "link_leads_somewhere": [write("(#break-it-first)", "(02-missing.ipynb#start)")],
    "linked_heading_has_anchor": [
        write('<a id="break-it-first"></a>', ""),
        write("## Claims", '## Claims<a id="claims"></a>'),
        write("## Break it first", "## Break it last"),
    ],
    "claim_has_id": [say(SUM, d2lpos={}), say(SUM, tags=[])],
    "verdict_has_claim": [
        say("Some sums are beautiful", d2lpos={}),
        say("Some sums are beautiful", d2lpos={"verdict": "beautiful", "trained": "beautiful"}),
        write("**Open.**", "**False.**"),
        insert("**True.**", "But first a word."),
    ],
    "headings_are_nested": [
        write("## Claims", "#### Claims"),
        write("## Claims", "# Claims"),
        write("# Order in a sum", "Order in a sum"),
    ],
}
CASES = [(rule, mistake) for rule, mistakes in MISTAKES.items() for mistake in mistakes]


def test_every_rule_has_mistakes():
    assert set(MISTAKES) == {rule.__name__ for rule in RULES}


@pytest.mark.parametrize(("rule", "mistake"), CASES, ids=[rule for rule, _ in CASES])
def test_rule_notices(rule, mistake):
    notebook = load(GOOD)
    mistake(notebook.content)
    assert notebook.content != load(GOOD).content
    assert rule in {finding.rule for finding in lint(notebook)}
