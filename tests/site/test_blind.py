"""No page tells the answer to a prediction where a reader sees it while the question is open, a screen up or down."""

import re

import nbformat
import pytest
from d2lpos_ext.cells import note, tags
from notebooks import every

from tests.site.detectors import visit
from tests.site.pages import ROOT
from tests.site.test_asks import ASKS

ESSAY = [
    {"id": f"index.{count}", "kind": "sentence", "tells": words.split(" | ")}
    for count, words in enumerate(re.findall(r"^% tells: (.+)$", (ROOT / "book/essay.md").read_text("utf-8"), re.MULTILINE))
]
# What a chapter's opening figure asks before it plays stands above all predictions.
GUESSES = [
    (note(cell, "ask"), path)
    for path in every(ROOT)
    for cell in nbformat.read(path, as_version=4).cells
    if "opening" in tags(cell) and note(cell, "ask")
]
PAGES = {"index": {ask["id"]: ask for ask in ESSAY}}
for asked, path in [*GUESSES, *ASKS.values()]:
    PAGES.setdefault(str(path.relative_to(ROOT).with_suffix("")), {})[asked["id"]] = asked
SCREENS = {390: 844, 1280: 800}
# Of each prediction, what its reader sees: those above it are answered. A headline is in sight everywhere, as is a figure that
# a chapter opens with; a label is for who listens.
IN_SIGHT = r"""reach => [...document.querySelectorAll('.predict, [data-hero]')].map(e => e.matches('.predict') ? e : e.shadowRoot?.querySelector('.asks')).filter(e => e).map((box, at, boxes) => {
    const above = boxes[at - 1];
    if (above) (above.querySelector('form .skip') ?? above.querySelector('details:not([open]) summary'))?.click();
    const all = root => [...root.querySelectorAll('*')].flatMap(e => e.shadowRoot ? [e, ...all(e.shadowRoot)] : [e]);
    const inline = e => e.parentElement && getComputedStyle(e).display === 'inline' && !(e instanceof SVGTextElement);
    const block = e => inline(e) ? block(e.parentElement) : e;
    const {top, bottom} = box.getBoundingClientRect(), article = document.querySelector('article');
    const opening = new Set([...article.querySelectorAll('.opening')].filter(e => e.compareDocumentPosition(box.getRootNode().host ?? box) & 4).flatMap(e => [e, ...all(e)]));
    const near = e => { const r = e.getBoundingClientRect(); return r.bottom > top - reach && r.top < bottom + reach; };
    const seen = all(article).filter(e => !e.closest('.predict, .asks, script, style') && e.checkVisibility({visibilityProperty: true, opacityProperty: true}));
    const here = seen.filter(e => near(e) || opening.has(e) || e.matches('h1, h2, h3, h4'));
    const texts = new Set(here.filter(e => [...e.childNodes].some(node => node.nodeType === 3 && node.data.trim())).map(block));
    const words = e => e.matches('h1, h2, h3, h4') ? e.textContent.replace(/^[\dA-Z.]+ |#$/g, '') : e.textContent;
    return [...[...texts].map(words), ...here.map(e => e.ariaLabel ?? e.alt ?? '')];
})"""
NAMES = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
COUNTED = {name: number for number, name in enumerate(NAMES, 1)}
NUMBER = re.compile(rf"(?<![\w.−-])(?:\d[\d,]*(?:\.\d+)?|{'|'.join(COUNTED)})(?![\w.]*\d)\b", re.IGNORECASE)
SENTENCE = re.compile(r"(?<=[.?!])\s+")
LITTLE = re.compile(
    r"(an?|and|are|as|at|be|by|do|does|each|first|for|from|has|have|in|is|its?|no|none|not|of|on|only|or|than|that|the|"
    r"them|then|there|they|this|to|what|which|will|with|yes)"
)
# What stands there speaks of another thing: the prediction, and the words.
OTHER = {
    *(("9A.pace", "reads a text at double pace"), ("P1.file", "48 chapters"), ("P1.file", "(48, 48)")),
    *(("6.needle", "1 token back, 100 tokens back"), ("P2.cost", "How can a head that looks one back do this?")),
    *(("P2.cost", "it copies the word before"), ("P2.cost", "Without the head that looks one back"), ("P2.still", "Head 0 of layer 16")),
    *(("P2.still", "1 of layer 16"), ("P2.still", "head 0 of layer 16"), ("P2.still", "layer 16, head 0")),
    *(("5.untouched", "Five questions to keep"), ("8.winners", "At eight times that length KERPLE comes first")),
}


def leaks(ask: dict, texts: list[str]) -> list[str]:
    """The sentences that hold the number, or all telling words of the right option, or all words of what the author lists."""
    sentences = [" ".join(one.split()) for text in texts for one in SENTENCE.split(text)]
    listed = [telling(words, "") for words in ask.get("tells", [])]
    faults = [one for one in sentences if any(words <= telling(one, "") for words in listed)]
    match ask["kind"]:
        case "number":
            by_sentence = {one: numbers(one, ask.get("unit", "")) for one in sentences}
            faults += [one for one in sentences if any(abs(n - ask["right"]) <= ask["within"] for n in by_sentence[one])]
        case "choice":
            right = telling(ask["options"][ask["right"]])
            own = set().union(*(telling(text) for at, text in enumerate(ask["options"]) if at != ask["right"]))
            faults += [one for one in sentences if len(right) > 1 and right - own and right <= telling(one)]
    return faults


def numbers(text: str, unit: str) -> list[float]:
    """The numbers of a sentence with this unit, or those without a percent sign where there is none."""
    matches = [(one[0].lower().replace(",", ""), text[one.end() :].lstrip()) for one in NUMBER.finditer(text)]
    counts = (lambda rest: rest.startswith(unit)) if unit else lambda rest: not rest.startswith("%")
    return [float(COUNTED.get(one, one)) for one, rest in matches if counts(rest)]


def telling(text: str, little: re.Pattern | str = LITTLE) -> set[str]:
    return {word for word in re.findall(r"[\w.]+\b", text.lower()) if not re.fullmatch(little, word)}


@pytest.mark.parametrize("name", PAGES)
def test_nothing_in_sight_tells_the_answer(address, browser, name):
    faults = set()
    for width, screen in SCREENS.items():
        with visit(browser, width) as reader:
            reader.page.goto(f"{address}/{name}.html")
            in_sight = reader.page.evaluate(IN_SIGHT, screen)
            for ask, texts in zip(PAGES[name].values(), in_sight, strict=True):
                other = [part for of, part in OTHER if of == ask["id"]]
                faults |= {(width, ask["id"], one) for one in leaks(ask, texts) if not any(part in one for part in other)}
    assert faults == set()


def test_the_section_below_figure_8_1_does_not_rank_the_models_that_the_figure_asks_about():
    [ask] = [ask for ask, _ in GUESSES if ask["id"] == "8.figure"]
    cells = nbformat.read(ROOT / "chapters/08-choosing.ipynb", as_version=4).cells
    people, measured, *_ = (at for at, cell in enumerate(cells) if cell.source.startswith("## "))
    assert leaks(ask, [cell.source for cell in cells[people:measured] if cell.cell_type == "markdown"]) == []


def test_every_prediction_lists_what_would_tell_its_answer():
    assert [name for asks in PAGES.values() for name, ask in asks.items() if not ask.get("tells")] == []


def test_a_leak_is_found():
    number = {"kind": "number", "right": 5, "within": 0.5}
    assert leaks(number, ["It has 32 buckets. Training never uses the five farthest."]) == ["Training never uses the five farthest."]
    assert leaks(number, ["Chapter 15 has 5.7 of them, 5 %."]) == []
    assert leaks(number | {"unit": "nats"}, ["5 rows cost 5.2 nats.", "5 rows"]) == ["5 rows cost 5.2 nats."]
    choice = {"kind": "choice", "options": ["One row for both", "Two rows"], "right": 0}
    assert leaks(choice, ["Each gets one row. Both tokens get one row."]) == ["Both tokens get one row."]
    sentence = {"kind": "sentence", "tells": ["exponential", "sum divide"]}
    assert leaks(sentence, ["Divide each. Divide by the sum. An exponential."]) == ["Divide by the sum.", "An exponential."]
