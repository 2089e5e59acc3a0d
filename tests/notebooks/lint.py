"""The rules that every notebook keeps. Each is one function; its name is the name of the rule."""

import ast
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby, pairwise
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote

from d2lpos_ext import cells as page
from d2lpos_ext.cells import gate, note, tags
from nbformat import NotebookNode
from notebooks import anchored, asked, promise

BOXES = {"exercise", "solution", "predict", "theorem", "proof", "margin", "review"}
PARTS = {"setup", "claim", "verdict", "scorecard", "symptoms", "caption", "opening", "hide-input"}
TAGS = BOXES | PARTS | {"nbval-ignore-output", "raises-exception", "remove-stderr"}
TEXT = {"text/plain", "text/html"}
FIGURES = {"show", "explore", "hero", "machine", "doors", "emblems"}
NUMBERED = FIGURES | {"table"}
OPENINGS = {
    "theorem": page.THEOREM,
    "proof": page.PROOF,
    "predict": page.PREDICT,
    "review": page.REVIEW,
    "caption": page.CAPTION,
    "verdict": page.VERDICT,
}
CHECK = r"check\.\w+\({}\)"
INSTALL = """\
from importlib.util import find_spec
from sys import executable
if not find_spec("d2lpos"):
    book = "d2lpos[notebooks] @ git+{}"
    !"{{executable}}" -m pip install -q "{{book}}"
"""
DIRECTIVE, ROLE = r"^ *(?:`{3,}|~{3,}|:{3,})\{", r"(?<!`)\{[\w:+-]+\}`"
TARGET, ATTRIBUTES = r"^\([\w-]+\)=\s*$", r"(?:^|\])\{[.#]"
MYST = re.compile(f"{DIRECTIVE}|{ROLE}|{TARGET}|{ATTRIBUTES}", re.MULTILINE)
ABSOLUTE = re.compile(r"(?<![\w.:/])/(?:home|root|tmp|Users)/|\b[A-Z]:\\(?:Users|Windows|Temp)")
CODE = re.compile(r"(`+)(?!`).+?(?<!`)\1(?!`)", re.DOTALL)


class Finding(NamedTuple):
    """What is wrong with one cell. Cells count from 1; 0 is the notebook as a whole."""

    cell: int
    rule: str
    text: str


@dataclass(frozen=True)
class Notebook:
    """A notebook and what its rules need to know about the book around it."""

    content: NotebookNode
    chapter: str  # what its numbers begin with: "1", "A"
    folder: Path  # where its relative links start
    repository: str  # the address that its first cell installs from
    linked: set[str]  # the anchors that links of all the book lead to

    @property
    def cells(self) -> list[tuple[int, NotebookNode]]:
        return list(enumerate(self.content.cells, 1))

    @property
    def code(self) -> list[tuple[int, NotebookNode]]:
        return [(at, cell) for at, cell in self.cells if cell.cell_type == "code"]

    @property
    def words(self) -> list[tuple[int, NotebookNode]]:
        return [(at, cell) for at, cell in self.cells if cell.cell_type == "markdown"]

    @property
    def runs(self) -> list[tuple[tuple[str, str], list[tuple[int, NotebookNode]]]]:
        """The exercises and solutions, as their tag and id, and their cells."""
        return [(box, list(run)) for box, run in groupby(self.cells, lambda pair: gate(pair[1])) if box]


Found = Iterable[tuple[int, str]]
RULES: list[Callable[[Notebook], Found]] = []


def lint(notebook: Notebook) -> list[Finding]:
    """Return what is wrong with a notebook, rule by rule."""
    return [Finding(cell, rule.__name__, text) for rule in RULES for cell, text in rule(notebook)]


def rule(check: Callable[[Notebook], Found]) -> Callable[[Notebook], Found]:
    RULES.append(check)
    return check


@rule
def tag_is_known(notebook: Notebook) -> Found:
    for at, cell in notebook.cells:
        yield from ((at, f"unknown tag {tag!r}") for tag in tags(cell) if tag not in TAGS)


@rule
def id_is_unique(notebook: Notebook) -> Found:
    ids = [(at, f"cell id {cell.id}") for at, cell in notebook.cells]
    ids += [(run[0][0], f"{tag} id {name}") for (tag, name), run in notebook.runs]
    for key in ("claim", "verdict", "trained"):
        ids += [(at, f"{key} id {note(cell, key)}") for at, cell in notebook.cells if note(cell, key)]
    ids += [(at, f"equation number {tag}") for at, cell in notebook.words for tag in equations(cell.source)]
    count = Counter(name for _, name in ids)
    yield from ((at, f"{name} is used {count[name]} times") for at, name in ids if count[name] > 1)


@rule
def opening_fits_tag(notebook: Notebook) -> Found:
    for at, cell in notebook.words:
        for tag, pattern in OPENINGS.items():
            if (tag in tags(cell)) != bool(pattern.match(cell.source)):
                yield at, f"the tag {tag} and a beginning like {pattern.pattern} come together"


@rule
def exercise_is_complete(notebook: Notebook) -> Found:
    for at, cell in notebook.words:
        if page.EXERCISE.match(cell.source) and "exercise" not in tags(cell):
            yield at, "lacks the tag exercise"
    for (_, name), run in selected(notebook, "exercise"):
        at = run[0][0]
        if not name:
            yield at, "has no metadata.d2lpos.id"
        if not page.EXERCISE.match(run[0][1].source):
            yield at, "does not begin like **Exercise 1.2. Title** (10 minutes, medium)"
        if [cell.cell_type for _, cell in run] != ["markdown", "code", "code"]:
            yield at, "is not a statement, a stub and a check"
        elif not re.fullmatch(CHECK.format(", ".join(left_open(run[1][1]))), run[2][1].source.strip()):
            yield run[2][0], "does not read check.name(…) with what the stub leaves open"


@rule
def promised_minutes_are_those_of_the_exercises(notebook: Notebook) -> Found:
    minutes = asked(notebook.content.cells)
    for at, cell in notebook.words:
        if promise(cell.source, minutes) != cell.source:
            yield at, f"the exercises ask for {sum(minutes)} minutes: `book/execute.py` brings **Time:** up to date"
        elif "**Time:**" in cell.source and minutes and not re.search("for the exercises?", cell.source):
            yield at, "**Time:** does not read like 20 minutes to read, and about 35 minutes for the exercises."


@rule
def solution_follows_exercise(notebook: Notebook) -> Found:
    boxes = {at: gate(cell) for at, cell in notebook.cells}
    for (tag, name), run in notebook.runs:
        if tag == "exercise" and boxes.get(run[-1][0] + 1) != ("solution", name):
            yield run[0][0], f"no solution {name!r} stands directly below"
        if tag == "solution" and boxes.get(run[0][0] - 1) != ("exercise", name):
            yield run[0][0], f"no exercise {name!r} stands directly above"
        if tag == "solution" and all(cell.cell_type != "code" for _, cell in run):
            yield run[0][0], "holds no code"


@rule
def solution_answers_exercise(notebook: Notebook) -> Found:
    for number, run, answer in answered(notebook):
        at, cell = answer[0]
        if not cell.source.startswith(f"#@title Solution {number}\n"):
            yield at, f"its first line is not #@title Solution {number}"
        for name in left_open(run[1][1]):
            if not any(name in defined(part) for _, part in answer):
                yield at, f"does not define {name} anew"
        if not answer[-1][1].source.rstrip().endswith(run[2][1].source.strip()):
            yield answer[-1][0], "does not end with the exercise's check"


@rule
def verdict_is_right(notebook: Notebook) -> Found:
    for _, run, answer in answered(notebook):
        if "not attempted yet" not in shown(run[2][1]):
            yield run[2][0], "the stub's verdict is not 'not attempted yet'"
        if not shown(answer[-1][1]).startswith("✓"):
            yield answer[-1][0], "the solution's verdict does not begin with ✓"


@rule
def numbers_are_in_order(notebook: Notebook) -> Found:
    counts = Counter()
    for at, cell in notebook.words:
        for pattern in (page.EXERCISE, page.THEOREM, page.CAPTION):
            if head := pattern.match(cell.source):
                kind = head.groupdict().get("kind", pattern)
                counts[kind] += 1
                if head["number"] != f"{notebook.chapter}.{counts[kind]}":
                    yield at, f"{head['number']} should be {notebook.chapter}.{counts[kind]}"


@rule
def picture_has_words(notebook: Notebook) -> Found:
    for at, cell in notebook.code:
        figure = last_call(cell) in FIGURES
        pictures = [data for data in results(cell) if figure or any("image" in kind for kind in data)]
        if figure and not pictures:
            yield at, "ends with a figure, but shows none"
        if not all(map(alternative, pictures)):
            yield at, "a picture is not one image with its words, which is all that some hosts let through"


@rule
def figure_has_caption(notebook: Notebook) -> Found:
    figures = {at for at, cell in notebook.code if last_call(cell) in NUMBERED}
    captions = {at for at, cell in notebook.words if "caption" in tags(cell)}
    yield from ((at, "no caption directly below the figure") for at in figures if at + 1 not in captions)
    yield from ((at, "no figure directly above the caption") for at in captions if at - 1 not in figures)


@rule
def opening_comes_first(notebook: Notebook) -> Found:
    setups = {at for at, cell in notebook.code if "setup" in tags(cell)}
    captions = {at for at, cell in notebook.words if "caption" in tags(cell)}
    openings = [(at, cell) for at, cell in notebook.cells if "opening" in tags(cell)]
    yield from ((at, "a notebook has one opening at most") for at, _ in openings[1:])
    for at, cell in openings:
        if at - 1 not in setups:
            yield at, "an opening stands directly below the setup"
        if at + 1 not in captions:
            yield at, "an opening has a caption directly below"
        if "hide-input" not in tags(cell):
            yield at, "the code of an opening has the tag hide-input"


@rule
def try_it_begins_a_paragraph_of_a_caption(notebook: Notebook) -> Found:
    for at, cell in notebook.words:
        paragraphs = re.split(r"\n{2,}", cell.source)[1:] if "caption" in tags(cell) else []
        good = sum(paragraph.startswith("*Try it.*") for paragraph in paragraphs)
        if good != cell.source.count("*Try it.*"):
            yield at, "*Try it.* begins a second paragraph of a caption, which paper and pages without scripts leave out"


@rule
def cells_ran_in_order(notebook: Notebook) -> Found:
    for count, (at, cell) in enumerate(notebook.code, 1):
        if cell.execution_count != count:
            yield at, f"ran as number {cell.execution_count} instead of {count}: run `make notebooks`"


@rule
def markdown_is_plain(notebook: Notebook) -> Found:
    for at, cell in notebook.words:
        yield from ((at, f"{match[0]!r} is read by MyST alone") for match in MYST.finditer(cell.source))


@rule
def page_adds_no_mark_of_its_own(notebook: Notebook) -> Found:
    for at, cell in notebook.words:
        if "proof" in tags(cell) and r"\square" in cell.source:
            yield at, "the page ends each proof with a square already"
        if match := re.search(r"</summary>\n\n(\d+)\. ", cell.source):
            yield at, f"becomes an entry of a list; write {match[1]}\\."


@rule
def no_widget_state(notebook: Notebook) -> Found:
    if "widgets" in notebook.content.metadata:
        yield 0, "metadata.widgets holds the state of a past kernel"


@rule
def first_cell_installs(notebook: Notebook) -> Found:
    begin = INSTALL.format(notebook.repository)
    first = next((cell for _, cell in notebook.code), None)
    if not first or "setup" not in tags(first) or not first.source.startswith(begin):
        yield 0, f"the first code cell has the tag setup and begins {begin!r}"


@rule
def nobody_restarts_or_reads_a_traceback(notebook: Notebook) -> Found:
    """`%pip` says that the kernel may need a restart; of what is missing, d2lpos says in a sentence how to install it."""
    for at, cell in notebook.code:
        if re.search(r"%pip|^ *(?:import|from) (?:gguf|safetensors|tokenizers)\b", cell.source, re.MULTILINE):
            yield at, "installs with %pip, or imports what d2lpos.pretrained imports in its place"


@rule
def folded_code_has_a_title(notebook: Notebook) -> Found:
    """The site folds by a tag, Colab by a form with a title, JupyterLab by a hidden source."""
    for at, cell in notebook.code:
        folded = bool({"hide-input", "solution"} & set(tags(cell)))
        hidden = cell.metadata.get("cellView") == "form", cell.metadata.get("jupyter") == {"source_hidden": True}
        if set(hidden) != {folded}:
            yield at, "hide-input, cellView form and jupyter.source_hidden come together"
        if "hide-input" in tags(cell) and not re.match(r"#@title [A-Z][^\n_=()$`]{10,}[^\s.]\n", cell.source):
            yield at, "its first line is not #@title and what is drawn or printed, in words"
        elif not folded and "#@title" in cell.source:
            yield at, "has a title, but is not folded"


@rule
def kernel_is_python(notebook: Notebook) -> Found:
    if notebook.content.metadata.get("kernelspec", {}).get("name") != "python3":
        yield 0, "metadata.kernelspec does not name python3; without it code has no colors on the page"


@rule
def code_is_short(notebook: Notebook) -> Found:
    for at, cell in notebook.code:
        lines = page.TITLE.sub("", cell.source.removeprefix(INSTALL.format(notebook.repository))).splitlines()
        if len(lines) > 20:
            yield at, f"{len(lines)} lines, more than 20"
        yield from ((at, f"{len(line)} characters, more than 79: {line}") for line in lines if len(line) > 79)


@rule
def no_absolute_path(notebook: Notebook) -> Found:
    for at, cell in notebook.cells:
        for text in (cell.source, shown(cell)):
            yield from ((at, f"{match[0]} is a place on one machine") for match in ABSOLUTE.finditer(text))


@rule
def ignored_output_has_reason(notebook: Notebook) -> Found:
    for at, cell in notebook.code:
        if "nbval-ignore-output" in tags(cell) and not note(cell, "reason"):
            yield at, "metadata.d2lpos.reason does not say why its output is not compared"
        if "NBVAL_" in cell.source:
            yield at, "a comment tells nbval what to do; use a tag"


@rule
def timing_is_a_range(notebook: Notebook) -> Found:
    """One run on a busy machine would contradict the text."""
    for at, cell in notebook.code:
        ratios = re.findall(r"(.*) times as (?:long|fast)", shown(cell)) if "perf_counter" in cell.source else []
        if not all(re.search(r"\d\.\d to \d+\.\d$", text) for text in ratios):
            yield at, "a timing is no range with a decimal, like 1.9 to 2.6 times as long"


@rule
def intervals_are_made_in_one_place(notebook: Notebook) -> Found:
    """Made by hand they count rows of one passage, or texts that are unlike, as independent draws."""
    for at, cell in notebook.code:
        if not {"exercise", "solution"} & set(tags(cell)) and ".sem(" in cell.source:
            yield at, "an interval is made by hand: take `interval` of d2lpos.lab, which asks what was drawn"


@rule
def link_leads_somewhere(notebook: Notebook) -> Found:
    for at, cell in notebook.words:
        for target in re.findall(r"\]\(([^)\s#]+)[^)]*\)", CODE.sub("", cell.source)):
            if not re.match(r"\w+:", target) and not (notebook.folder / unquote(target)).exists():
                yield at, f"{target} does not exist"


@rule
def linked_heading_has_anchor(notebook: Notebook) -> Found:
    for at, cell in notebook.words:
        if anchored(cell.source, notebook.linked) != cell.source:
            yield at, "a heading has an anchor where a link leads to it: `book/execute.py` brings them up to date"
    missing = notebook.linked - set(re.findall(r'<a id="(.+?)"></a>', "".join(cell.source for _, cell in notebook.words)))
    yield from ((0, f"a link leads to #{anchor}, which is no heading") for anchor in missing)


@rule
def claim_has_id(notebook: Notebook) -> Found:
    for at, cell in notebook.cells:
        if ("claim" in tags(cell)) != bool(note(cell, "claim")):
            yield at, "the tag claim and metadata.d2lpos.claim come together"


@rule
def verdict_has_claim(notebook: Notebook) -> Found:
    decided = False
    for at, cell in notebook.cells:
        if "verdict" in tags(cell):
            if bool(note(cell, "verdict")) == bool(note(cell, "trained")):
                yield at, "one of metadata.d2lpos.verdict and .trained names the claim"
            head = page.VERDICT.match(cell.source)
            if head and head["verdict"] != "Open" and not decided:
                yield at, "does not stand directly below the cell that decides it"
        elif "caption" not in tags(cell):
            decided = "claim" in tags(cell)


@rule
def headings_are_nested(notebook: Notebook) -> Found:
    heads = [
        (at, len(head))
        for at, cell in notebook.words
        for head in re.findall(r"^(#{1,6}) ", CODE.sub("", cell.source), re.MULTILINE)
    ]
    for (_, above), (at, level) in pairwise([(0, 0), *heads]):
        if level > above + 1:
            yield at, f"a heading of level {level} below one of level {above}"
    if (count := sum(level == 1 for _, level in heads)) != 1:
        yield 0, f"{count} headings of level 1 instead of one"


def selected(notebook: Notebook, tag: str) -> Iterator:
    return ((box, run) for box, run in notebook.runs if box[0] == tag)


def answered(notebook: Notebook) -> Iterator[tuple[str, list, list]]:
    """Yield number, cells and solution's code cells of each exercise that has all its parts."""
    solutions = {
        name: [pair for pair in run if pair[1].cell_type == "code"]
        for (_, name), run in selected(notebook, "solution")
    }
    for (_, name), run in selected(notebook, "exercise"):
        head = page.EXERCISE.match(run[0][1].source)
        if head and len(run) == 3 and solutions.get(name):
            yield head["number"], run, solutions[name]


def parsed(cell: NotebookNode) -> list[ast.stmt]:
    return ast.parse(re.sub(r"^( *)[%!].*", r"\1pass", cell.source, flags=re.MULTILINE)).body


def defined(cell: NotebookNode) -> dict[str, bool]:
    """Return the functions, classes and values that a code cell defines, and whether a `...` is left in each."""
    names_of = {}
    for part in parsed(cell):
        names = [part.name] if isinstance(part, ast.FunctionDef | ast.ClassDef) else []
        if isinstance(part, ast.Assign):
            names = [target.id for target in part.targets if isinstance(target, ast.Name)]
        dots = any(isinstance(node, ast.Constant) and node.value is ... for node in ast.walk(part))
        names_of |= dict.fromkeys(names, dots)
    return names_of


def left_open(cell: NotebookNode) -> list[str]:
    """Return the names that a stub leaves to the reader."""
    return [name for name, dots in defined(cell).items() if dots]


def last_call(cell: NotebookNode) -> str | None:
    """Return the name of the function whose result the cell shows."""
    match parsed(cell)[-1:]:
        case [ast.Expr(ast.Call(ast.Name(name)))] | [ast.Expr(ast.Call(ast.Attribute(attr=name)))]:
            return name


def results(cell: NotebookNode) -> list[NotebookNode]:
    return [output.data for output in cell.get("outputs", []) if "data" in output]


def shown(cell: NotebookNode) -> str:
    """Return the text that a code cell shows, without the bytes of pictures."""
    texts = [output.get("text", "") for output in cell.get("outputs", [])]
    texts += [text for data in results(cell) for kind, text in data.items() if kind in TEXT]
    return re.sub(r"base64,[\w+/=]+", "", "".join(texts))


def alternative(data: NotebookNode) -> bool:
    """Tell whether a result says in words what it shows, and is an image without text around it."""
    if "text/html" in data:
        return bool(re.fullmatch(r'<img alt="\s*[^"\s][^"]*"(?: [a-z-]+="[^"]*")+>', data["text/html"]))
    return not data.get("text/plain", "<").startswith("<")


def equations(text: str) -> list[str]:
    return re.findall(r"\\tag\{(.+?)\}", text)
