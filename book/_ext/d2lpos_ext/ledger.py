"""The page of the ledger: every claim with its verdict, a form that filters them, and the errata of other texts."""

import re
from collections import Counter
from pathlib import Path

from notebooks import title
from pybtex.database import Entry, parse_file

from .cells import VERDICTS, mark
from .claims import Row, errata, ledger, read, rows
from .models import render

BLOCK = re.compile(r"^```\{(ledger|sources|errata)\}\n```$", re.MULTILINE)
NOBODY = "nobody"  # stands for the source of a claim of which we know no text


def expand(text: str, root: str | Path) -> str:
    """Return a page's Markdown with what its blocks `{ledger}`, `{sources}` and `{errata}` stand for."""
    return BLOCK.sub(lambda block: getattr(_Page(Path(root)), block[1])(), text)


def slug(verdict: str) -> str:
    return verdict.lower().replace(" ", "-")


class _Page:
    def __init__(self, root: Path):
        self.root, self.known, self.errors = root, ledger(root), errata(root)
        self.papers = parse_file(root / "book" / "references.bib").entries
        tables = {path: (chapter, list(rows(chapter, self.known))) for path, chapter in read(root).items()}
        self.trained = {row.id: row for _, table in tables.values() for row in table if row.trained}
        self.tables = {
            path: (chapter, own)
            for path, (chapter, table) in tables.items()
            if (own := [row for row in table if not row.trained])
        }
        every = [row for _, table in self.tables.values() for row in table]
        self.verdicts = Counter(row.verdict for row in every)
        self.claims_of = Counter(source for row in every for source in row.sources or [NOBODY])

    def ledger(self) -> str:
        parts = [self.form()]
        for path, (chapter, table) in self.tables.items():
            entries = map(self.claim, table)
            place = path.relative_to(self.root / "chapters")
            parts += [f"## [{title(chapter.cells)}](../chapters/{place})", '<ol class="ledger">', *entries, "</ol>"]
        return "\n\n".join([*parts, '<script src="../_static/ledger.js"></script>'])

    def form(self) -> str:
        """Return the form. A choice has an id, so that a link can choose it."""
        sources = [(name, self.name(name), count) for name, count in self.claims_of.most_common()]
        total = self.verdicts.total()
        return render("ledger", total=total, verdicts=VERDICTS, counts=self.verdicts, sources=sources, slug=slug)

    def claim(self, row: Row) -> str:
        side = mark(row.verdict, row.cell and f"#claim-{row.cell}")
        sources = "Said by " + " and ".join(map(self.link, row.sources or [NOBODY]))
        data = f'data-verdict="{slug(row.verdict)}" data-source="{" ".join(row.sources or [NOBODY])}"'
        reason = row.evidence
        if trained := self.trained.get(row.id):
            verdict = mark(trained.verdict, trained.cell and f"#claim-{trained.cell}")
            reason += f"\n\n{{.trained}}\nIn a trained model: {verdict} {trained.evidence}"
        return _entry(data, side, row.claim, reason, sources)

    def name(self, source: str) -> str:
        if source == NOBODY:
            return "no text that we know"
        if paper := self.papers.get(source):
            return _short(paper)
        return self.known["sources"][source]["name"]

    def link(self, source: str) -> str:
        if source == NOBODY:
            return self.name(source)
        if source in self.papers:
            return f"{{cite:t}}`{source}`"
        return f"[{self.name(source)}]({self.known['sources'][source]['url']})"

    def sources(self) -> str:
        return "\n".join(
            f"- [{source['title']}]({source['url']}), {source['what']}: "
            f'<a href="#{name}">{self.claims_of[name]} claim{"s" * (self.claims_of[name] > 1)}</a>.'
            for name, source in self.known["sources"].items()
        )

    def errata(self) -> str:
        entries = [
            _entry("", f"[{e['where']}]({e['url']})", e["says"], e["right"], e["decided"])
            for e in self.errors
        ]
        return "\n\n".join(['<ol class="ledger">', *entries, "</ol>"])


def _entry(data: str, side: str, words: str, reason: str, below: str) -> str:
    return (
        f"<li {data}>\n\n{{.side}}\n{side}\n\n{{.words}}\n{words}\n\n{reason}\n\n{{.said}}\n{below}\n\n</li>"
    )


def _short(paper: Entry) -> str:
    names = [" ".join(map(str, person.rich_last_names)) for person in paper.persons["author"]]
    who = names[0] if len(names) == 1 else " and ".join(names) if len(names) == 2 else f"{names[0]} et al."
    return f"{who} ({paper.fields['year']})"
