"""The table of symptoms: a form above it asks four questions, and `symptoms.js` hides the rows that they rule out.

On a phone the questions are folded under a button.
"""

import re

from .models import render

# Each question, and what it can be answered with, in the words of the table's last column; it names no precision
# where any will do, and no error where nothing says so.
QUESTIONS = {
    "Alone, or in a batch?": {"alone": "alone", "in a batch": "only in a batch"},
    "At once, or later?": {"at once": "at once", "past a length": "past a length", "in time": "as tokens are added"},
    "In one precision?": {"any precision": "in any", "half precision": "in half alone"},
    "Does an error say so?": {"silent": "no", "an error": "yes"},
}


def expand(table: str) -> str:
    """Return the Markdown of a table of symptoms with its form and its script.

    >>> print(expand("| You see |\\n|---|"))
    <form class="filter" aria-label="Filter the symptoms" id="symptoms">
    ...
    <script defer src="../_static/symptoms.js"></script>
    """
    return render("symptoms", questions=QUESTIONS, table=table, count=len(re.findall(r"^\| \[", table, re.MULTILINE)))
