"""No page tells the answer to a prediction where a reader sees it before it is asked or while the question is open."""

import re
from itertools import takewhile
from pathlib import Path

import nbformat
import pytest
from d2lpos_ext.cells import END, TOLD, heading, note, tags, translate
from notebooks import every

ROOT = Path(__file__).parents[2]
BOOK = {path: nbformat.read(path, as_version=4).cells for path in every(ROOT)}
ASKED = {
    note(cell, "ask")["id"]: (path, at)
    for path, cells in BOOK.items()
    for at, cell in enumerate(cells)
    if "predict" in tags(cell)
}
NAMES = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
COUNTED = {name: number for number, name in enumerate(NAMES, 1)}
NUMBER = re.compile(rf"(?<![\w.−-])(?:\d[\d,]*(?:\.\d+)?|{'|'.join(COUNTED)})(?![\w.]*\d)\b", re.IGNORECASE)
FOLDED = re.compile(r"<details>.*?</details>|```.*?```|\(http\S*?\)|\]\(\S*?\)", re.DOTALL)
SENTENCE = re.compile(r"(?<=[.?!])\s+")
LITTLE = re.compile(
    r"(an?|and|are|as|at|be|by|do|does|each|first|for|from|has|have|in|is|its?|no|none|not|of|on|only|or|than|that|the|"
    r"them|then|there|they|this|to|what|which|will|with|yes)"
)
# What stands there speaks of another thing: the prediction, and the words.
OTHER = {
    *(("9A.pace", "reads a text at double pace"), ("P1.file", "48 chapters"), ("P1.file", "(48, 48)")),
    *(("6.needle", "a needle one token back, 100 back"), ("P2.cost", "How can a head that looks one back do this?")),
    *(("P2.cost", "it copies the word before"), ("P2.cost", "Without the head that looks one back"), ("P2.still", "Head 0 of layer 16")),
}


def begins(cell) -> bool:
    return cell.cell_type == "markdown" and heading(cell.source) == 0


def words(cell) -> str:
    """What a cell shows in words, nothing folded; of a figure that a chapter opens with, what is said of it."""
    if cell.cell_type == "markdown":
        return FOLDED.sub(" ", cell.source)
    figures = [out.get("data", {}).get("text/plain", "") for out in cell.outputs if "opening" in tags(cell)]
    return "\n".join([*figures, *(out.get("text", "") for out in cell.outputs)])


def in_sight(name: str) -> list[str]:
    """What stands in sight while a prediction is open: its section above it, and each first figure, caption and verdict before that.

    Below it a page covers its section, up to a cell that is marked, and each section whose heading names the prediction. The
    next one is in sight.
    """
    path, at = ASKED[name]
    cells = BOOK[path]
    start = max(i for i in range(at) if begins(cells[i]))
    labels = [cell for cell in cells[:start] if {"caption", "opening", "verdict"} & set(tags(cell))]
    below = list(takewhile(lambda cell: not begins(cell), cells[at + 1 :]))
    marked = next((i for i, cell in enumerate([cells[at], *below]) if note(cell, "told")), len(below) + 1)
    end = at + 1 + len(below)
    beyond = [cells[end], *takewhile(lambda cell: not begins(cell), cells[end + 1 :])] if end < len(cells) else []
    if beyond and note(beyond[0], "told") == name:
        beyond = []
    return [words(cell) for cell in [*labels, *cells[start:at], *below[marked:], *beyond]]


def leaks(ask: dict, texts: list[str]) -> list[str]:
    """The sentences that hold the number, or all telling words of the right option."""
    sentences = [" ".join(one.split()) for text in texts for one in SENTENCE.split(text)]
    match ask["kind"]:
        case "number":
            by_sentence = {one: numbers(one, ask.get("unit", "")) for one in sentences}
            return [one for one in sentences if any(abs(n - ask["right"]) <= ask["within"] for n in by_sentence[one])]
        case "choice":
            right = telling(ask["options"][ask["right"]])
            own = set().union(*(telling(text) for at, text in enumerate(ask["options"]) if at != ask["right"]))
            return [one for one in sentences if len(right) > 1 and right - own and right <= telling(one)]
    return []


def numbers(text: str, unit: str) -> list[float]:
    """The numbers of a sentence with this unit, or those without a percent sign where there is none."""
    matches = [(one[0].lower().replace(",", ""), text[one.end() :].lstrip()) for one in NUMBER.finditer(text)]
    counts = (lambda rest: rest.startswith(unit)) if unit else lambda rest: not rest.startswith("%")
    return [float(COUNTED.get(one, one)) for one, rest in matches if counts(rest)]


def telling(text: str) -> set[str]:
    return {word for word in re.findall(r"[\w.]+\b", text.lower()) if not LITTLE.fullmatch(word)}


@pytest.mark.parametrize("name", ASKED)
def test_nothing_in_sight_tells_the_answer(name):
    path, at = ASKED[name]
    ask = note(BOOK[path][at], "ask")
    other = [part for of, part in OTHER if of == name]
    assert [one for one in leaks(ask, in_sight(name)) if not any(part in one for part in other)] == []


@pytest.mark.parametrize("path", BOOK, ids=lambda path: path.stem)
def test_what_follows_a_prediction_is_covered(path):
    page, _ = translate(nbformat.read(path, as_version=4).cells)
    sources = [cell.source for cell in page]
    for at, cell in enumerate(page[:-1]):
        if "predict" in tags(cell):
            assert sources[at + 1].startswith((TOLD, "</div>")) or begins(page[at + 1]) or note(cell, "told")
    assert sum(source.startswith(TOLD) for source in sources) == len(ends(page))


def ends(page) -> list[int]:
    """Where the covers end: no heading and no half of a figure is inside."""
    boxes, figures, cells_at = [], 0, []
    for at, cell in enumerate(page):
        if cell.source.startswith((TOLD, '<div class="claim"')):
            boxes.append(cell.source.startswith(TOLD))
        figures += cell.source.startswith("<figure") - (cell.source == END)
        if cell.source == "</div>" and boxes.pop():
            cells_at.append(at)
            assert not figures
        assert not (any(boxes) and cell.cell_type == "markdown" and heading(cell.source) is not None)
    return cells_at


def test_a_leak_is_found():
    number = {"kind": "number", "right": 5, "within": 0.5}
    assert leaks(number, ["It has 32 buckets. Training never uses the five farthest."]) == ["Training never uses the five farthest."]
    assert leaks(number, ["Chapter 15 has 5.7 of them, 5 %."]) == []
    assert leaks(number | {"unit": "nats"}, ["5 rows cost 5.2 nats.", "5 rows"]) == ["5 rows cost 5.2 nats."]
    choice = {"kind": "choice", "options": ["One row for both", "Two rows"], "right": 0}
    assert leaks(choice, ["Each gets one row. Both tokens get one row."]) == ["Both tokens get one row."]
