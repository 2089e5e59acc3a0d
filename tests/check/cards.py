"""What the pages' cards "Find the mistake" say: `python -m tests.check.cards` writes book/mistakes/.

The code is a wrong answer that the check names in `cards`, under the name that its exercise asks for. It fails one property
of three or more, or one or both of two, and speaks for itself. All else comes from the check.
"""

import ast
import inspect
import json
import re
import subprocess
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import nbformat

from d2lpos.check.verdict import Check, Outcomes, count, disagreement

ROOT = Path(__file__).parents[2]
sys.path.append(str(ROOT / "book" / "_ext"))
from notebooks import chapters

FOLDER = ROOT / "book" / "mistakes"
WIDE = 66  # characters of a line that a page shows without scrolling
FORMAT = [sys.executable, "-m", "ruff", "format", "--isolated", f"--line-length={WIDE}"]


def exercises() -> dict[str, tuple[str, str]]:
    """Where each check is asked: module and name -> the notebook's stem, and the number of the exercise."""
    by_check = {}
    for path in chapters(ROOT):
        cells, number = nbformat.read(path, as_version=4).cells, ""
        module = next(re.search(r"from d2lpos\.check import (\w+)", cell.source) for cell in cells if "setup" in tags(cell))
        for cell in cells:
            if "exercise" in tags(cell):
                number = next(iter(re.findall(r"\*\*Exercise ([\w.]+)\.", cell.source)), number)
                for name in re.findall(r"^check\.(\w+)\(", cell.source, re.MULTILINE):
                    by_check[f"{module[1]}.{name}"] = path.stem, number
    return by_check


def tags(cell: nbformat.NotebookNode) -> list[str]:
    return cell.metadata.get("tags", [])


def code(answer: Any, name: str) -> str:
    """The definition without its decorators, under another name, as wide as a page."""
    [function] = ast.parse(source := inspect.getsource(answer)).body
    body = re.sub(rf"\b{function.name}\b", name, "\n".join(source.splitlines()[function.lineno - 1 :]))
    return subprocess.run([*FORMAT, "-"], input=body, capture_output=True, text=True, check=True).stdout.rstrip()


def card(check: Check, answer: Callable, name: str, number: str) -> dict[str, Any]:
    """One card, with the check's words. Raises ValueError where its question has no single answer."""
    right, answered = Outcomes(check.reference), Outcomes(answer)
    failed = [bool(disagreement(answered, right, cases)) for cases in check.properties.values()]
    both = failed == [True, True]
    if len(failed) < 2 or not (both or sum(failed) == 1):
        raise ValueError(f"{answer.__name__} fails {sum(failed)} of {len(failed)} properties: a card fails one, or both of two")
    options = [*check.properties, *["both"] * (len(failed) == 2)]
    fails = 2 if both else failed.index(True)
    words = [f"This one holds, in {count(len(cases), 'case')} that the check tries." for cases in check.properties.values()]
    words = ["It fails, and so does the other one."] * 2 if both else [*words, "One of the two holds."]
    return {
        "exercise": number,
        "code": code(answer, name),
        "ask": {
            "id": f"{number}.{answer.__name__}",
            "kind": "choice",
            "options": options,
            "right": fails,
            "overlooks": {str(at): words[at] for at in range(len(options)) if at != fails},
        },
        "says": re.sub("To try it: .*\n", "", repr(check(answer))),  # a page runs nothing
    }


def cards() -> dict[str, list[dict[str, Any]]]:
    """All cards, by the stem of the chapter."""
    by_chapter: dict[str, list[dict[str, Any]]] = {}
    for key, (stem, number) in exercises().items():
        module, name = key.split(".")
        check = getattr(import_module(f"d2lpos.check.{module}"), name)
        if isinstance(check, Check) and check.cards:
            by_chapter.setdefault(stem, []).extend(card(check, answer, name, number) for answer in check.cards)
    return by_chapter


def written(cards: list[dict[str, Any]]) -> str:
    return json.dumps(cards, indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for stem, contents in cards().items():
        (FOLDER / f"{stem}.json").write_text(written(contents), "utf-8")
        print(f"{stem}: {len(contents)}")
