"""A row for several families at once."""

from collections.abc import Mapping


def by_name(rows: Mapping[str, object]) -> dict[str, object]:
    """A row for each family; the key of a row has the names of all that it holds for."""
    return {name: row for names, row in rows.items() for name in names.split()}
