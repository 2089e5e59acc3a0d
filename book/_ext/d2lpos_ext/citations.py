"""Citations are ordinary links to arXiv or a DOI; the bibliography says what they cite."""

import re
from dataclasses import dataclass, field

from pybtex.database import Entry
from sphinxcontrib.bibtex.style.referencing import BracketStyle
from sphinxcontrib.bibtex.style.referencing.author_year import AuthorYearReferenceStyle

ADDRESS = re.compile(
    r"https?://(?:www\.)?(?:arxiv\.org/(?:abs|pdf|html)/(?:arxiv:)?|(?:dx\.)?doi\.org/(?:10\.48550/arxiv\.)?)"
    r"(?P<id>.+?)(?:(?<=\d)v\d+)?(?:\.pdf)?$",
    re.IGNORECASE,
)
# Code comes first, so that a link shown as an example stays as it is.
LINK = re.compile(r"(`+)(?!`).+?(?<!`)\1(?!`)|\[(?P<text>[^][]+)\]\((?P<url>https?://[^\s)]+)\)", re.DOTALL)
YEAR = re.compile(r"\((?P<textual>\d{4})\)$|, (?P<parenthetical>\d{4})$")


def identifier(url: str) -> str | None:
    """Return the arXiv number (without version) or DOI that an address names, or None for other addresses."""
    match = ADDRESS.match(url)
    return match["id"].lower() if match else None


def index(entries: dict[str, Entry]) -> dict[str, Entry]:
    """Return the bibliography's entries by arXiv number and DOI."""
    sources = {}
    for entry in entries.values():
        names = entry.fields.get("eprint"), entry.fields.get("doi"), identifier(entry.fields.get("url", ""))
        sources |= {name.lower(): entry for name in names if name}
    return sources


def cite(text: str, sources: dict[str, Entry]) -> tuple[str, list[str]]:
    """Return Markdown with its links to papers turned into citations, and what is wrong with them.

    `[Shaw et al. (2018)](https://arxiv.org/abs/1803.02155)` becomes a textual citation, `Shaw et al., 2018`
    one for use inside parentheses. Any other text stays a link; its address must have an entry all the same.
    """
    problems = []

    def replace(match: re.Match) -> str:
        name = identifier(match["url"] or "")
        if name is None:
            return match[0]
        entry, year = sources.get(name), YEAR.search(match["text"])
        if entry is None:
            problems.append(f"{match[0]} has no entry in references.bib")
        elif year:
            author = " ".join(map(str, entry.persons["author"][0].rich_last_names))
            if author not in match["text"] or entry.fields["year"] not in year[0]:
                problems.append(f"{match[0]} is by {author}, {entry.fields['year']}, says references.bib")
            return f"{{cite:{'t' if year['textual'] else 'alp'}}}`{entry.key}`"
        return match[0]

    return LINK.sub(replace, text), problems


def _round() -> BracketStyle:
    return BracketStyle(left="(", right=")")


@dataclass
class RoundAuthorYear(AuthorYearReferenceStyle):
    """Author and year in round brackets; sphinxcontrib-bibtex has square ones."""

    bracket_textual: BracketStyle = field(default_factory=_round)
    bracket_parenthetical: BracketStyle = field(default_factory=_round)
