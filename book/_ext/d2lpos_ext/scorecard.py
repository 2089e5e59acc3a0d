"""The scorecard of encodings, from `scorecard.yml`: whole on its page and in the last chapter, in part in the others."""

from collections.abc import Collection
from pathlib import Path

import yaml
from nbformat import NotebookNode

BLOCK = "```{scorecard}\n```"


def card(root: Path) -> dict[str, dict[str, str]]:
    """Return what each encoding's column says of each property."""
    return yaml.safe_load((root / "book" / "scorecard.yml").read_text("utf-8"))


def table(
    card: dict[str, dict[str, str]],
    columns: list[str] | None = None,
    row: str | None = None,
    without: Collection[str] = (),
) -> str:
    """Return a table in Markdown: these columns, all by default, or one property of all encodings.

    Raises LookupError for a property in `without`, those that are left out, that the card does not have.
    """
    if row:
        return _lines(["Encoding", row], [[name, column[row]] for name, column in card.items()])
    columns = columns or list(card)
    properties = list(card[columns[0]])
    if unknown := set(without) - set(properties):
        raise LookupError(
            f"book/scorecard.yml lacks what a scorecard leaves out: {', '.join(sorted(unknown))}"
        )
    properties = [name for name in properties if name not in without]
    return _lines(
        ["Property", *columns], [[name, *(card[column][name] for column in columns)] for name in properties]
    )


def slice_of(cell: NotebookNode, card: dict[str, dict[str, str]]) -> str:
    """Return the table that belongs into a cell tagged `scorecard`."""
    note = cell.metadata.get("d2lpos", {})
    return table(card, note.get("columns"), note.get("row"), note.get("without", ()))


def expand(text: str, root: Path) -> str:
    """Return a page's Markdown with the whole card in place of a `{scorecard}` block."""
    return text.replace(BLOCK, "{.scorecard .full-width}\n" + table(card(root))) if BLOCK in text else text


def _lines(head: list[str], rows: list[list[str]]) -> str:
    rule = [":--"] * len(head)
    return "\n".join(f"| {' | '.join(row)} |" for row in [head, rule, *rows])
