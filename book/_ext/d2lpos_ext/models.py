"""The page of what models use: the table of families with its form, their counts, and the essay's picture of their years."""

import csv
import re
from collections import Counter
from pathlib import Path

import yaml
from jinja2 import Template

TEMPLATES = Path(__file__).parents[2] / "_templates"
BLOCK = re.compile(r"^```\{(families|family-counts|family-years|releases|made)\}\n```$", re.MULTILINE)
CODE = "https://github.com/huggingface/transformers/blob/v{}/src/transformers/models/{}/modeling_{}.py"
# Where the lines of made.csv stand, by library.
LINES = {
    "diffusers": "https://github.com/huggingface/diffusers/blob/v0.42.1/src/diffusers/{file}#L{line}",
    "transformers": "https://github.com/huggingface/transformers/blob/v5.23.0/src/transformers/{file}#L{line}",
}
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
    code = CODE.format(version, "{}", "{}")
    return render("families", rows=[(row, cells(row)) for row in rows], columns=COLUMNS, examples=EXAMPLES, code=code, sections=SECTIONS)


def cells(row: dict[str, str]) -> list[str]:
    """What a family's row has in the columns behind its name."""
    besides = [
        row["attend"] and f"{row['attend']} layers attend",
        row["temperature"] and f"queries times {row['temperature']}",
        row["sinks"] and "learned sinks",
        row["besides"],
        row["default"] and f"by default: {row['default']}",
    ]
    return [
        row["year"] + " *" * bool(row["year by hand"]),
        row["encoding"],
        *(numbers(row[key]) for key in ("base", "turns", "layout", "scaling", "window", "without")),
        numbers("; ".join(filter(None, besides))),
    ]


def releases(book: Path) -> str:
    """A table of all released models: what their positions are, and on how long texts they were trained."""
    with (book / "models" / "releases.csv").open(encoding="utf-8", newline="") as lines:
        return render("releases", rows=list(csv.DictReader(lines)), numbers=numbers)


def made(book: Path) -> str:
    """A table of models that make pictures and films, or listen: where their positions are, and the line that says so."""
    with (book / "models" / "made.csv").open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines))
    table = ["| Model | Positions | Base | Pairs | Besides |", "| :-- | :-- | :-- | :-- | :-- |"]
    for row in rows:
        link = LINES[row["library"]].format_map(row)
        cells = (f"[{row['model']}]({link})", *(numbers(row[key]) or "–" for key in ("where", "base", "pairs", "besides")))
        table.append(f"| {' | '.join(cells)} |")
    return "\n".join(table)


def render(template: str, **values: object) -> str:
    """What a template of `book/_templates` makes of values."""
    return Template((TEMPLATES / f"{template}.html").read_text("utf-8"), autoescape=True).render(values)


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


PARTS = {"families": families, "family-counts": counts, "family-years": years, "releases": releases, "made": made}
