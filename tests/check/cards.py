"""What the pages' cards "Find the mistake" say: `python -m tests.check.cards` writes book/mistakes/.

The code is a wrong answer of `tests/wrong_answers/` that has `card=True`, under the name that its exercise asks for. All else
comes from the check.
"""

import ast
import inspect
import json
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any

import nbformat

import tests.wrong_answers
from d2lpos.check.verdict import Check, count, disagreement, patient
from tests.wrong_answers import WRONG_ANSWERS, WrongAnswer

ROOT = Path(__file__).parents[2]
sys.path.append(str(ROOT / "book" / "_ext"))
from notebooks import chapters

FOLDER = ROOT / "book" / "mistakes"
WIDE = 66  # characters of a line that a page shows without scrolling
FORMAT = [sys.executable, "-m", "ruff", "format", "--isolated", f"--line-length={WIDE}"]


def exercises() -> dict[str, tuple[str, str]]:
    """Where each check is asked: module and name -> the notebook's stem, and the number of the exercise."""
    found = {}
    for path in chapters(ROOT):
        cells, number = nbformat.read(path, as_version=4).cells, ""
        module = next(re.search(r"from d2lpos\.check import (\w+)", cell.source) for cell in cells if "setup" in tags(cell))
        for cell in cells:
            if "exercise" in tags(cell):
                number = next(iter(re.findall(r"\*\*Exercise ([\w.]+)\.", cell.source)), number)
                for name in re.findall(r"^check\.(\w+)\(", cell.source, re.MULTILINE):
                    found[f"{module[1]}.{name}"] = path.stem, number
    return found


def tags(cell: nbformat.NotebookNode) -> list[str]:
    return cell.metadata.get("tags", [])


def code(answer: Any, name: str) -> str:
    """The definition without its decorators, under another name, as wide as a page."""
    [function] = ast.parse(source := inspect.getsource(answer)).body
    body = re.sub(rf"\b{function.name}\b", name, "\n".join(source.splitlines()[function.lineno - 1 :]))
    return subprocess.run([*FORMAT, "-"], input=body, capture_output=True, text=True, check=True).stdout.rstrip()


def card(wrong: WrongAnswer, name: str, number: str) -> dict[str, Any]:
    """One card, with the check's words. Raises ValueError where its question has no single answer."""
    check: Check = wrong.check
    right, given = patient(check.reference), patient(wrong.answer)
    failed = [bool(disagreement(given, right, cases)) for cases in check.properties.values()]
    both = failed == [True, True]
    if len(failed) < 2 or not (both or sum(failed) == 1):
        raise ValueError(f"{wrong.answer.__name__} fails {sum(failed)} of {len(failed)} properties: a card fails one, or both of two")
    options = [*check.properties, *["both"] * (len(failed) == 2)]
    fails = 2 if both else failed.index(True)
    words = [f"This one holds, in {count(len(cases), 'case')} that the check tries." for cases in check.properties.values()]
    words = ["It fails, and so does the other one."] * 2 if both else [*words, "One of the two holds."]
    return {
        "exercise": number,
        "code": code(wrong.answer, name),
        "ask": {
            "id": f"{number}.{wrong.answer.__name__}",
            "kind": "choice",
            "options": options,
            "right": fails,
            "overlooks": {str(at): words[at] for at in range(len(options)) if at != fails},
        },
        "says": repr(check(wrong.answer)),
    }


def cards() -> dict[str, list[dict[str, Any]]]:
    """All cards, by the stem of the chapter."""
    for module in iter_modules(tests.wrong_answers.__path__):
        import_module(f"tests.wrong_answers.{module.name}")
    found: dict[str, list[dict[str, Any]]] = {}
    for key, (stem, number) in exercises().items():
        module, name = key.split(".")
        check = getattr(import_module(f"d2lpos.check.{module}"), name)
        for wrong in WRONG_ANSWERS:
            if wrong.card and wrong.check is check:
                found.setdefault(stem, []).append(card(wrong, name, number))
    return found


def written(cards: list[dict[str, Any]]) -> str:
    return json.dumps(cards, indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for stem, found in cards().items():
        (FOLDER / f"{stem}.json").write_text(written(found), "utf-8")
        print(f"{stem}: {len(found)}")
