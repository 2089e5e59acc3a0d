"""Passages that trained models read: of two novels and of code, which they have very likely seen, and of a text made by rule.

A passage is known by its text, its number and its length in tokens. That of a novel begins with a chapter and reads on
through the next ones, a paragraph a line, as `characters(…, flowing=True)` has it: passage p of *Persuasion* with
chapter 1 + 5p mod 24, of *Pride and Prejudice* with chapter 1 + 12p mod 61. That of the code begins with a file of
NetworkX, the one of `FILES` with its number, and reads on through the next ones. Nothing stands before its first token.
"""

import random
from importlib.metadata import distribution
from importlib.resources import files

from ..positions.arguments import check_count, check_name
from .text import chapters_of

__all__ = ["TEXTS", "made", "passage"]

NOVELS = {"persuasion": ("persuasion.txt", 24, 5), "pride": ("pride-and-prejudice.txt", 61, 12)}
WRITTEN = (*NOVELS, "rule", "code")
TEXTS = (*WRITTEN, "reactions")
"""The texts by name; a passage of the last is a chemical reaction, a line of SMILES.

>>> TEXTS
('persuasion', 'pride', 'rule', 'code', 'reactions')
"""
NETWORKX = "3.6.1"
FILES = ("dag", "matching", "cycles", "planarity", "cluster")  # of its algorithms: words and code by turns
WHO = [
    "miller", "baker", "weaver", "potter", "fisher", "tailor", "smith", "gardener", "painter", "carter", "cook", "clerk",
]
WHERE = ["Aldby", "Brome", "Corrin", "Dunlow", "Eskham", "Farley", "Gorsty", "Harwick", "Islop", "Kelby"]
WHAT = [
    "lamps", "ropes", "bowls", "coats", "keys", "loaves", "spoons", "drums", "kites", "chairs", "boots", "bells",
]
HOW = ["red", "old", "heavy", "small", "blue", "broken", "bright", "plain", "round", "green"]
DID = ["sold", "sent", "lent", "gave", "brought", "returned"]
COUNT = ["two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
WHEN = ["On Monday", "On Tuesday", "On Friday", "In March", "In June", "In the evening", "At noon", "Later"]


def passage(text: str, number: int, characters: int) -> str:
    """The first so many characters of a passage, or fewer where the novel ends.

    Raises ValueError for a text that is not in TEXTS, a number below 0, a file or a reaction that there is not, and another NetworkX.

    >>> passage("persuasion", 0, 44)
    'Chapter 1\\nSir Walter Elliot, of Kellynch Hall'
    """
    check_name("text", text, TEXTS)
    check_count(number=number)
    if text == "rule":
        return made(number, characters)
    if text == "reactions":
        lines = files(__package__).joinpath("data/reactions.txt").read_text("utf-8").splitlines()
        if number >= len(lines):
            raise ValueError(f"number must be below {len(lines)}, as many reactions as there are; got {number}")
        return lines[number][:characters]
    if text == "code":
        return "".join(map(code, FILES[number:]))[:characters]
    book, chapters, step = NOVELS[text]
    return "".join(chapters_of(book, flowing=True)[step * number % chapters :])[:characters]


def code(name: str) -> str:
    """A file of NetworkX as it is published; raises ValueError where another version is installed."""
    package = distribution("networkx")
    if package.version != NETWORKX:
        raise ValueError(f"networkx must be {NETWORKX}, which the records read; got {package.version}")
    return package.locate_file(f"networkx/algorithms/{name}.py").read_text("utf-8")


def made(number: int, characters: int) -> str:
    """A text that nobody has written: who gave what to whom, drawn from lists of words; a paragraph has six sentences.

    >>> made(0, 60)
    'At noon, the smith of Islop brought six heavy chairs to the '
    """
    draw = random.Random(
        f"d2lpos {number}"
    ).random  # the one method of which Python promises the same numbers for good

    def pick(words: list[str]) -> str:
        return words[int(draw() * len(words))]

    parts, length = [], 0
    while length < characters:
        one, here = pick(WHO), pick(WHERE)
        other, there = pick([w for w in WHO if w != one]), pick([w for w in WHERE if w != here])
        gift = f"{pick(DID)} {pick(COUNT)} {pick(HOW)} {pick(WHAT)}"
        end = "\n" if len(parts) % 6 == 5 else " "
        parts.append(f"{pick(WHEN)}, the {one} of {here} {gift} to the {other} of {there}.{end}")
        length += len(parts[-1])
    return "".join(parts)[:characters]
