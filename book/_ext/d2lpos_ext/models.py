"""The page of what models use: the table of families with its form, their counts, and the essay's picture of their years."""

import csv
import re
from collections import Counter
from html import escape
from pathlib import Path

import yaml

BLOCK = re.compile(r"^```\{(families|family-counts|family-years|releases)\}\n```$", re.MULTILINE)
CODE = "https://github.com/huggingface/transformers/blob/v{}/src/transformers/models/{}/modeling_{}.py"
# The section of the book that explains an encoding.
SECTIONS = {
    "RoPE": "../chapters/04-rope.html",
    "RoPE in some layers": "../index.html#layers-without-a-clock",
    "none": "../index.html#layers-without-a-clock",
    "ALiBi": "../chapters/06-alibi.html",
    "buckets": "../chapters/05-relative.html#t5-a-number-for-each-bucket",
    "Transformer-XL": "../chapters/in-depth/05a-relatives.html#transformer-xl-four-terms",
    "bias from the text": "../index.html#what-models-use-today",
    "learned table": "../chapters/03-learned.html",
    "sinusoids": "../chapters/02-sinusoidal.html",
}
# A column: its head, the words before it where rows are cards, and what it is sorted by.
COLUMNS = [
    ("Family", "", "word"),
    ("Year", "", "number"),
    ("Encoding", "", "word"),
    ("Base", "base", "number"),
    ("Turns", "turns", "share"),
    ("Layout", "", "word"),
    ("Scaling", "", "word"),
    ("Window", "window", "number"),
    ("Without", "without", "share"),
    ("Besides", "", "word"),
]
SORTED = ' aria-sort="descending"'  # of the column by which the rows come
EXAMPLES = ("yarn", "sinks", "without", "neighbors 2026")
MEANT = {
    "turn": ("RoPE in every attention layer", "all layers with softmax attention turn queries and keys"),
    "some": ("RoPE in some layers", "others of them have no position"),
    "none": ("None", "attention gets no positions; most layers have a recurrence"),
    "bias": (
        "A bias",
        "something is added to the scores: ALiBi, buckets, terms of Transformer-XL or Inkling",
    ),
    "table": ("A learned table", "is added to the input"),
    "sinusoids": ("Sinusoids", "are added to the input"),
}


def expand(text: str, root: str | Path) -> str:
    """Return a page's Markdown with what its blocks `{families}`, `{releases}` and their kin stand for."""
    return BLOCK.sub(lambda block: PARTS[block[1]](Path(root) / "book"), text)


def read(book: Path) -> list[dict[str, str]]:
    with (book / "models" / "models.csv").open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


def numbers(text: str) -> str:
    """Text with commas in its long numbers.

    >>> numbers("10000 in windows")
    '10,000 in windows'
    """
    return re.sub(r"\d{5,}", lambda match: f"{int(match[0]):,}", text)


def families(book: Path) -> str:
    """The form and the table. A row's id is its family, so that it can be linked."""
    rows = sorted(read(book), key=lambda row: -int(row["year"]))
    version = yaml.safe_load((book / "models" / "by-hand.yml").read_text("utf-8"))["version"]
    head = "".join(
        f'<th scope="col" role="columnheader" data-by="{by}"{SORTED if name == "Year" else ""}>{name}</th>'
        for name, _, by in COLUMNS
    )
    lines = [
        '<form class="filter" role="search" aria-label="Families">',
        '<label class="by">Find <input type="search" name="find" autocomplete="off" spellcheck="false"></label>',
        f'<span class="by">such as {", ".join(map(example, EXAMPLES))}</span>',
        f'<p class="shown"><output aria-live="polite">{len(rows)} families</output>',
        '<button type="button" data-find="">Show all</button></p>',
        "</form>",
        '<div class="families">',
        '<table class="models" role="table" aria-label="Families of language models and their positions">',
        f'<thead role="rowgroup"><tr role="row">{head}</tr></thead>',
        '<tbody role="rowgroup">',
        *(line(row, version) for row in rows),
        "</tbody></table></div>",
        '<script defer src="../_static/models.js"></script>',
    ]
    return "\n".join(lines)


def example(words: str) -> str:
    return f'<button type="button" data-find="{words}">{words}</button>'


def line(row: dict[str, str], version: str) -> str:
    """The row of a family."""
    name = row["family"]
    link = f'<a href="{CODE.format(version, name, name)}">{name}</a>'
    year = f"{row['year']}{' *' if row['year by hand'] else ''}"
    besides = [
        row["attend"] and f"{row['attend']} layers attend",
        row["temperature"] and f"queries times {row['temperature']}",
        row["sinks"] and "learned sinks",
        row["besides"],
        row["default"] and f"by default: {row['default']}",
    ]
    if row["release"]:
        link += f' <a class="release" href="{row["source"]}">{escape(row["release"])}</a>'
    cells = [
        year,
        f'<a href="{SECTIONS[row["encoding"]]}">{row["encoding"]}</a>',
        *(escape(numbers(row[key])) for key in ("base", "turns", "layout", "scaling", "window", "without")),
        escape(numbers("; ".join(filter(None, besides)))),
    ]
    words = (
        f' data-is="{word}"' if word and cell else ""
        for cell, (_, word, _) in zip(cells, COLUMNS[1:], strict=True)
    )
    columns = "".join(f'<td role="cell"{word}>{cell}</td>' for word, cell in zip(words, cells, strict=True))
    return f'<tr role="row" id="{name}"><th scope="row" role="rowheader">{link}</th>{columns}</tr>'


def releases(book: Path) -> str:
    """A table of all released models: what their positions are, and on how long texts they were trained."""
    with (book / "models" / "releases.csv").open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines))
    lines = [
        '<table class="releases" aria-label="Released models and their positions">',
        '<thead><tr><th scope="col">Model</th><th scope="col">Position</th><th scope="col">Trained on, in tokens</th></tr></thead>',
        "<tbody>",
    ]
    for row in rows:
        trained = f'<a href="{row["report"]}">{row["trained"]}</a>' if row["report"] else row["trained"] or "–"
        lines.append(
            f'<tr><th scope="row"><a href="{row["source"]}">{escape(row["name"])}</a>, {row["year"]}</th>'
            f"<td>{escape(numbers(row['position']))}</td><td>{trained}</td></tr>"
        )
    return "\n".join([*lines, "</tbody></table>"])


def counts(book: Path) -> str:
    """A table of how many families there are of each kind, by year."""
    tally = Counter((row["kind"], int(row["year"])) for row in read(book))
    spans = {"to 2021": range(2018, 2022), **{str(year): [year] for year in range(2022, 2027)}}
    spans["all"] = range(2018, 2027)
    lines = [["What attention is told", *spans], [":--", *["--:"] * len(spans)]]
    for kind, (name, meaning) in MEANT.items():
        lines.append([
            f"**{name}**: {meaning}",
            *(sum(tally[kind, y] for y in years) or "–" for years in spans.values()),
        ])
    lines.append(["All", *(sum(tally[kind, y] for kind in MEANT for y in years) for years in spans.values())])
    return "\n".join(f"| {' | '.join(map(str, cells))} |" for cells in lines)


def years(book: Path) -> str:
    """The essay's picture as it stands in the end."""
    picture = (book / "figures" / "years.html").read_text("utf-8")
    drawn = re.sub(r' data-steps="[^"]*"', "", re.search(r"<svg.*?</svg>", picture, re.DOTALL)[0])
    return "```{raw} html\n" + drawn + "\n```"


PARTS = {"families": families, "family-counts": counts, "family-years": years, "releases": releases}
