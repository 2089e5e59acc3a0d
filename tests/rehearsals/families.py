"""Compare every family of transformers with its reading, and the outcome with the book's table.

python -m tests.rehearsals.families
"""

import csv
import sys

from tests.parity.families import FILE, rows


def main() -> str | None:
    """Return the rows that are not as the book shows them."""
    with FILE.open(encoding="utf-8", newline="") as lines:
        _, *written = csv.reader(lines)
    found = rows()
    wrong = [f"now: {row}" for row in found if row not in written]
    wrong += [f"in the book: {row}" for row in written if row not in found]
    agree = sum(int(row[2]) for row in found if row[1] == "agrees")
    print(f"{agree} families agree")
    return "\n".join([*wrong, "Write it anew: python -m tests.parity.families"]) if wrong else None


if __name__ == "__main__":
    sys.exit(main())
