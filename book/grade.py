"""Grade a folder of students' notebooks: `python book/grade.py FOLDER`.

Their code runs in another process, `book/examiner.py`, never in this one. This one reads their notebooks as data.
"""

import argparse
import ast
import json
import os
import re
import select
import shutil
import stat
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Self

from pandas import DataFrame
from tqdm import tqdm

ROOT = Path(__file__).parent.parent
sys.path.append(str(ROOT / "book" / "_ext"))
from notebooks import answers, exercised

LARGEST = 20  # megabytes of a notebook
HEAD = re.compile(r"\*\*Exercise (?P<number>[\w.]+)\. ")
SIGNS = {"passed": "✓", "failed": "✗", "not attempted": "○"}
MISSING = {"verdict": "missing", "why": "its cells are not in the notebook", "look": [], "seconds": 0.0}
HELPER = re.compile(r"\bcheck\.(\w+)")
COPIED = "the book's solution, word for word"
LONG = 4  # statements of a solution that is too long to be found twice by chance
LONGEST = 2000  # letters of a cell of the table
ROOM = 256  # processes and threads that a student's code may have besides those that run already


class Refused(Exception):
    """A notebook cannot be graded, or nothing can; the message says why."""


@dataclass
class Exercise:
    """What the book has of an exercise: its number, its check and the names that this judges, stub and solution."""

    number: str = ""
    text: str = ""
    check: str = ""
    answers: list[str] = field(default_factory=list)
    stub: list[str] = field(default_factory=list)
    solution: list[str] = field(default_factory=list)


@dataclass
class Chapter:
    """A notebook of the book: its exercises by their ids, and the code of all other cells; `setup` are places in it."""

    name: str
    exercises: dict[str, Exercise]
    cells: list[str]
    setup: list[int]


@dataclass
class Cell:
    kind: str
    source: str
    tags: list[str]
    id: str | None  # of the exercise


def read(path: Path) -> list[Cell]:
    """The cells of a notebook that anybody may have written, read as data. Raises Refused with a sentence."""
    try:
        kind = path.lstat()
        if stat.S_ISLNK(kind.st_mode):
            raise Refused("is a link to something else, which is not followed")
        if not stat.S_ISREG(kind.st_mode):
            raise Refused("is not an ordinary file")
        if path.suffix != ".ipynb":
            raise Refused("is no notebook: its name does not end in .ipynb")
        if not kind.st_size:
            raise Refused("is empty")
        if kind.st_size > LARGEST << 20:
            raise Refused(f"has {kind.st_size >> 20} MB, and may have {LARGEST}: clear its outputs")
        notebook = json.loads(path.read_bytes())
    except OSError as error:
        raise Refused(f"cannot be read ({error.strerror})") from None
    except (ValueError, RecursionError):
        raise Refused("is not JSON, so it is no notebook") from None
    if not isinstance(notebook, dict) or not isinstance(notebook.get("cells"), list):
        raise Refused("is not a notebook of format 4")
    return [cell for data in notebook["cells"] if (cell := to_cell(data))]


def to_cell(data: Any) -> Cell | None:
    """A cell, or None where it is none; of its metadata what has the form that it should have."""
    if not isinstance(data, dict):
        return None
    source, metadata = data.get("source"), data.get("metadata")
    source = "".join(map(str, source)) if isinstance(source, list) else source
    metadata = metadata if isinstance(metadata, dict) else {}
    tags, note = metadata.get("tags"), metadata.get("d2lpos")
    tags = tags if isinstance(tags, list) else []
    name = note.get("id") if isinstance(note, dict) else None
    marked = isinstance(name, str) and ("exercise" in tags or "solution" in tags)
    kind = str(data.get("cell_type"))
    return Cell(kind, source, tags, name if marked else None) if isinstance(source, str) else None


def to_chapter(path: Path) -> Chapter:
    """What the book's own notebook says of a chapter's exercises."""
    cells = read(path)
    apart = [] if answers(path) == path else read(answers(path))
    exercises = defaultdict(Exercise)
    for cell in (cell for cell in [*cells, *apart] if cell.id):
        exercise = exercises[cell.id]
        if cell.kind == "markdown":
            head = HEAD.match(cell.source)
            exercise.number = head["number"] if head else exercise.number
            exercise.text += cell.source
        elif "solution" in cell.tags:
            exercise.solution.append(cell.source)
        elif cell.source.startswith("check."):
            names = [node.id for node in ast.walk(ast.parse(cell.source)) if isinstance(node, ast.Name)]
            exercise.check, exercise.answers = cell.source, [name for name in names if name != "check"]
        else:
            exercise.stub.append(cell.source)
    others = [cell for cell in cells if cell.kind == "code" and not cell.id]
    setup = [at for at, cell in enumerate(others) if "setup" in cell.tags]
    return Chapter(path.stem, dict(exercises), [cell.source for cell in others], setup)


def request(cells: list[Cell], name: str, chapter: Chapter) -> dict | None:
    """What the examiner needs for an exercise: the code above the last of its cells; None where it has no cell.

    Its own cells are those with its id, and those that a student added directly above the check.
    """
    exercise = chapter.exercises[name]
    marked = [at for at, cell in enumerate(cells) if cell.id == name and "solution" not in cell.tags]
    last = max((at for at in marked if cells[at].kind == "code"), default=None)
    if last is None:
        return None
    first = next((at + 1 for at in range(last, -1, -1) if cells[at].kind != "code"), 0)
    above = [(at, cell) for at, cell in enumerate(cells[: last + 1]) if cell.kind == "code"]
    solutions = chain.from_iterable(one.solution for one in chapter.exercises.values())
    ours = {source.strip() for source in chain(chapter.cells, solutions)}
    below = [cell for cell in cells[last + 1 :] if cell.kind == "code" and not cell.id]
    texts = [*chapter.cells, exercise.text, *exercise.solution]
    return {
        "cells": [cell.source for _, cell in above],
        "own": [place for place, (at, _) in enumerate(above) if at >= first or at in marked],
        "ours": [cell.source.strip() in ours for _, cell in above],
        "check": exercise.check,
        "answers": exercise.answers,
        "known": exercise.stub + exercise.solution,
        "helpers": sorted(set(HELPER.findall("\n".join(texts)))),
        "below": [cell.source for cell in below if cell.source.strip() not in ours],
    }


def copied(what: dict, exercise: Exercise) -> str:
    """That a student's cells hold the book's solution, and how short it is where two people may write it alike."""
    own = {part for place in what["own"] for part in parts(what["cells"][place])}
    solution = {part: size for source in exercise.solution for part, size in parts(source).items()}
    size = sum(solution.values())
    if not size or not solution.keys() <= own:
        return ""
    return COPIED if size >= LONG else f"{COPIED}, in {size} statement{'s' * (size > 1)} (fewer than {LONG} may coincide)"


def parts(source: str) -> dict[str, int]:
    """What a cell defines, without comments, docstrings and what it shows, and how many statements are in each part."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return {}
    for node in ast.walk(tree):
        if hasattr(node, "body") and isinstance(node.body, list):
            node.body = [part for part in node.body if not isinstance(part, ast.Expr)]
    return {ast.dump(part): sum(isinstance(node, ast.stmt) and not hasattr(node, "name") for node in ast.walk(part)) for part in tree.body}


class Examiner:
    """The process that runs students' code. `sealed` says whether it can only compute."""

    SEAL = ("unshare", "--map-root-user", "--net", "--ipc", "--pid", "--fork", "--kill-child", "--mount-proc")

    def __init__(self, seconds: float, memory: int, sealed: bool, warm: bool):
        self.job = {"seconds": seconds, "memory": memory, "sealed": sealed, "warm": warm}
        self.process, self.over = None, False

    def start(self) -> None:
        """Start the process anew. Raises Refused where it does not start."""
        if self.over:
            raise Refused("was stopped")
        self.scratch = TemporaryDirectory(prefix="grade-", ignore_cleanup_errors=True)
        names = ("PATH", "HOME", "LANG", "XDG_CACHE_HOME", "D2LPOS_WEIGHTS", "MPLCONFIGDIR")
        clean = {name: os.environ[name] for name in names if name in os.environ}
        command = [sys.executable, "-I", "-X", "utf8", str(ROOT / "book" / "examiner.py")]
        self.process = subprocess.Popen(
            [*(self.SEAL if self.job["sealed"] else ()), *command],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            env=clean | {"OMP_NUM_THREADS": "1"}, cwd=self.scratch.name, start_new_session=True,
        )
        self.prepared = set()
        self.tell(
            self.job | {"scratch": self.scratch.name, "processes": ROOM + busy()},
            "the examiner does not start",
        )

    def prepare(self, chapter: Chapter) -> None:
        """Let the process run the setup of a chapter, once. Raises Refused where that does not run."""
        if chapter.name not in self.prepared:
            stubs = [source for exercise in chapter.exercises.values() for source in exercise.stub]
            what = {"name": chapter.name, "cells": chapter.cells, "setup": chapter.setup, "stubs": stubs}
            self.tell(what, f"the setup of {chapter.name} does not run")
            self.prepared.add(chapter.name)

    def tell(self, what: dict, failed: str) -> None:
        """Tell the process what it needs. Raises Refused, with the words of `failed`, where it cannot go on."""
        answer = self.ask(what, 300)
        if not answer or not answer["ready"]:
            self.stop()
            raise Refused(f"{failed} ({answer['why'] if answer else 'the process has ended'})")

    def ask(self, what: dict, seconds: float) -> dict | None:
        """The answer to a line of JSON; None where none comes in time, or the process has ended."""
        with suppress(OSError, ValueError):
            self.process.stdin.write(json.dumps(what).encode() + b"\n")
            self.process.stdin.flush()
            if select.select([self.process.stdout], [], [], seconds)[0]:
                return json.loads(self.process.stdout.readline())
        return None

    def verdict(self, chapter: Chapter, what: dict) -> dict:
        """What the book's check says of a student's code."""
        if not self.process:
            self.start()
        self.prepare(chapter)
        answer = self.ask(what | {"chapter": chapter.name}, self.job["seconds"] + 330)
        if not answer or answer["spent"] or not self.job["warm"]:
            self.stop()
        return answer or MISSING | {"verdict": "error", "why": "ended the examiner"}

    def stop(self) -> None:
        if self.process:
            self.process.kill()
            self.process.communicate()
            self.scratch.cleanup()
            self.process = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_) -> None:
        self.over = True
        self.stop()


def busy() -> int:
    """How many processes and threads of this user run already, which a limit has to leave room for; 0 but on Linux."""

    def mine(path: Path) -> bool:
        with suppress(OSError):
            return path.stat().st_uid == os.getuid()
        return False

    return sum(map(mine, Path("/proc").glob("[0-9]*/task/[0-9]*")))


def can_seal() -> bool:
    """Whether this system gives a process a room of its own: no network, no other process, files read-only."""
    if sys.platform != "linux" or not shutil.which("unshare"):
        return False
    trial = "import sys; sys.path.append(sys.argv[1]); import examiner; examiner.seal(sys.argv[2]); examiner.hide()"
    with TemporaryDirectory() as scratch:
        command = [*Examiner.SEAL, sys.executable, "-I", "-c", trial, str(ROOT / "book"), scratch]
        return not subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, check=False
        ).returncode


def submissions(folder: Path) -> Iterator[Path]:
    """The files in a folder and its subfolders, and the links among them, which are told and not followed."""
    for place, folders, files in os.walk(folder):
        links = [name for name in folders if (Path(place) / name).is_symlink()]
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        names = links + [name for name in files if name.endswith(".ipynb") or not name.startswith(".")]
        yield from (Path(place) / name for name in sorted(names))


def clean(text: str, most: int = 200) -> str:
    """Text that anybody may have written, as a table shows it: what a spreadsheet would take for a formula is none."""
    text = "".join(letter if letter.isprintable() else "?" for letter in text)[:most]
    return f"'{text}" if text.lstrip().startswith(("=", "+", "-", "@", "＝", "＋", "－", "＠")) else text


def grade(path: Path, book: list[Chapter], examiners: list[Examiner], exercises: Iterable[str] = ()) -> dict:
    """The row of one notebook; whatever is in it, a row."""
    row = {"chapter": "", "verdicts": {}, "seconds": 0.0, "look": [], "remark": ""}
    try:
        cells = read(path)
    except Refused as error:
        return row | {"remark": str(error)}
    votes = Counter(chapter.name for cell in cells for chapter in book if cell.id in chapter.exercises)
    if not votes:
        return row | {"remark": "has no cell with the id of an exercise of this book"}
    chapter = next(chapter for chapter in book if chapter.name == votes.most_common(1)[0][0])
    row |= {"chapter": chapter.name}
    remarks = []
    examiner = examiners.pop()
    for name, exercise in chapter.exercises.items():
        if exercises and exercise.number not in exercises:
            continue
        what = request(cells, name, chapter)
        answer = examiner.verdict(chapter, what) if what else MISSING
        row["verdicts"][exercise.number] = answer["verdict"]
        row["seconds"] += answer["seconds"]
        if answer["why"]:
            remarks.append(f"{exercise.number}: {clean(answer['why'])}")
        look = [*filter(None, [what and copied(what, exercise)]), *answer["look"]]
        if look:
            row["look"].append(f"{exercise.number}: {', '.join(map(str, look))}")
    examiners.append(examiner)
    return row | {"remark": "; ".join(remarks)}


def tabulate(rows: dict[str, dict]) -> DataFrame:
    """One row a notebook, one column an exercise of the chapters that were found."""
    numbers = sorted(
        {number for row in rows.values() for number in row["verdicts"]},
        key=lambda number: [(int(re.sub(r"\D", "", part)), part) for part in number.split(".")],
    )
    return DataFrame([
        {"notebook": clean(name), "chapter": row["chapter"]}
        | {number: row["verdicts"].get(number, "") for number in numbers}
        | {
            "passed": [*row["verdicts"].values()].count("passed"),
            "seconds": round(row["seconds"], 1),
            "look at it": clean("; ".join(row["look"]), LONGEST),
            "remark": clean(row["remark"], LONGEST),
        }
        for name, row in rows.items()
    ])


def grade_all(
    folder: Path, book: Iterable[Path] = (), seconds: float = 30, memory: int = 2000, jobs: int = 1,
    sealed: bool | None = None, warm: bool = sys.platform == "linux", exercises: Iterable[str] = (),
) -> DataFrame:
    """The table of all notebooks in `folder`; `book` are the chapters that are known.

    `exercises`: the numbers of those that were set; by default, all. Raises Refused where the book has none of a number.
    `sealed`: whether their code runs in a room of its own; by default, where the system has that.
    `warm`: whether the examiner forks after it has imported PyTorch, which macOS does not bear.
    """
    known = [to_chapter(path) for path in book or exercised(ROOT)]
    numbers = {exercise.number for chapter in known for exercise in chapter.exercises.values()}
    if strange := sorted({*exercises} - numbers):
        raise Refused(
            "--exercises must be numbers of the book's exercises, as in `--exercises 4.1 4.3`, "
            f"not {strange[0]!r}"
        )
    sealed = can_seal() if sealed is None else sealed
    paths = [*submissions(folder)]
    names = [str(path.relative_to(folder)) for path in paths]
    with ThreadPoolExecutor(jobs) as pool, ExitStack() as stack:  # at Ctrl-C, first the examiners end
        examiners = [stack.enter_context(Examiner(seconds, memory, sealed, warm)) for _ in range(jobs)]
        rows = pool.map(lambda path: grade(path, known, examiners, exercises), paths)
        return tabulate(dict(zip(names, tqdm(rows, total=len(paths)), strict=True)))


def notes(sealed: bool) -> str:
    """What students' code is kept from, and what not."""
    if sealed:
        words = "Their code runs sealed: no network, no other process, all files read-only but for an empty folder."
    else:
        words = (
            "Their code runs in a process of its own, but not sealed: it can reach the network and your files, as you "
            "can. Grade on a Linux that has `unshare`, or in a virtual machine, unless you trust the class."
        )
    if sys.platform != "linux":
        words += " On this system nothing limits memory and the number of processes."
    elif not os.getuid():
        words += " You are root: nothing limits the number of processes. Grade as an ordinary user."
    return words


def shown(table: DataFrame) -> str:
    """The table as a terminal shows it, in the signs of the checks."""
    if table.empty:
        return "No notebooks."
    short = table.drop(columns=["chapter", "look at it", "remark"]).replace(SIGNS)
    lines = [short.to_string(index=False, max_colwidth=60), "✓ passed  ✗ failed  ○ not attempted"]
    for row in table.to_dict("records"):
        lines += [f"{row['notebook']}, {name}: {row[name]}" for name in ("look at it", "remark") if row[name]]
    return "\n".join(lines)


def number(least: float, most: float, kind: type = int) -> Any:
    """A number between these two, for argparse."""

    def convert(text: str) -> float:
        try:
            value = kind(text)
        except ValueError:
            value = None
        if value is None or not least <= value <= most:
            raise argparse.ArgumentTypeError(f"must be a number from {least} to {most}, not {text!r}")
        return value

    return convert


def main() -> str | None:
    """Grade a folder and write the table. Return a sentence where that cannot be."""
    parser = argparse.ArgumentParser(
        description="Grade a folder of students' notebooks by the book's checks."
    )
    parser.add_argument("folder", metavar="FOLDER", help="it and its subfolders are searched for notebooks")
    parser.add_argument(
        "--seconds", type=number(1, 3600, float), default=30, help="for an exercise (default: 30)"
    )
    parser.add_argument(
        "--memory", type=number(100, 1_000_000), default=2000, help="MB for an exercise (default: 2000)"
    )
    parser.add_argument(
        "--exercises", nargs="+", default=[], metavar="NUMBER", help="those that were set (default: all)"
    )
    parser.add_argument("--jobs", type=number(1, 64), default=1, help="notebooks at a time (default: 1)")
    parser.add_argument(
        "--out", type=Path, metavar="FILE.csv", help="the table (default: FOLDER.csv, beside the folder)"
    )
    if os.name == "nt":
        return "Grading needs Linux or macOS, which can limit a process: on Windows, use WSL."
    asked = parser.parse_args()
    folder = Path(asked.folder).resolve()
    if not asked.folder or not folder.is_dir():
        return (
            f"FOLDER must be a folder of notebooks, as in `make grade FOLDER=homework`, not {asked.folder!r}."
        )
    out = asked.out or folder.with_name(folder.name + ".csv")
    if out.suffix != ".csv" or not out.parent.is_dir() or out.is_dir():
        return f"--out must be a file FILE.csv in a folder that exists, not {str(out)!r}."
    sealed = can_seal()
    print(notes(sealed))
    try:
        table = grade_all(
            folder, seconds=asked.seconds, memory=asked.memory, jobs=asked.jobs, sealed=sealed,
            exercises=asked.exercises,
        )
    except Refused as error:
        return f"No table was written: {error}."
    except KeyboardInterrupt:
        return "\nStopped. No table was written."
    table.to_csv(out, index=False, encoding="utf-8-sig")
    print(shown(table))
    print(f"The table is in {out}")
    return None


if __name__ == "__main__":
    sys.exit(main())
