"""`make grade`: a class of students, some of them hostile, and a verdict for each."""

import os
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pandas as pd
import psutil
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from notebooks import exercised

from book import examiner
from book.grade import COPIED, ROOT, Exercise, can_seal, clean, copied, grade_all, main, to_chapter
from book.handout import without_solutions
from tests.weights import lack, need

SEALED = can_seal()
ID = {"tags": ["exercise"], "d2lpos": {"id": "ex-mask"}}
SETUP = "import torch\nfrom d2lpos.check import permutation as check"
STUB = "def permute_mask(mask, order):\n    ..."
CHECK = "check.permute_mask(permute_mask)"
RIGHT = "def permute_mask(mask, order):\n    return mask[..., order, :][..., order]\n"
WRONG = "def permute_mask(mask, order):\n    return mask[..., order]\n"
CALL = "check.permute_mask.reference(mask, order)"
REFUSED = "one mask (T, T). Hint: Only the keys are permuted. The queries have moved too."
ANSWER = RIGHT.removeprefix("def permute_mask(mask, order):\n")


def notebook(
    *answers: str, check: str | None = CHECK, above: tuple[str, ...] = (), below: tuple[str, ...] = ()
) -> nbformat.NotebookNode:
    """A chapter with one exercise, the stub replaced by `answers`, and cells added `above` and `below`."""
    cells = [new_code_cell(SETUP, metadata={"tags": ["setup"]}), *map(new_code_cell, above)]
    cells.append(new_markdown_cell("**Exercise 1.1. Permute** (5 minutes, easy)\n\nDo.", metadata=ID))
    cells += [new_code_cell(source, metadata=ID) for source in (*answers, *filter(None, [check]))]
    return new_notebook(cells=[*cells, *map(new_code_cell, below)])


# The reference, if it is among the values of these frames or objects, and else the wrong answer.
WALK = "next((f(mask, order) for f in met if '<function permute at' in f'{f}'), mask[..., order])"
UP = """    met = []
    while frame:
        values = (*frame.f_locals.values(), *frame.f_globals.values())
        met += [part.reference for part in values if type(part).__name__ == "Check"]
        frame = frame.f_back
"""
FRAMES = "__name__, f_back, f_globals, f_locals, reference"
# Name: above the answer, how it walks, and what is named.
WALKS = {
    "a generator's frame": ("", ("    def walk():\n        yield walking.gi_frame.f_back\n    walking = walk()\n"
                            f"    frame = next(walking)\n{UP}"), "__name__, f_back, f_globals, f_locals, gi_frame, reference"),
    "a traceback's frame": ("", ("    try:\n        1 / 0\n    except ZeroDivisionError as error:\n"
                            f"        frame = error.__traceback__.tb_frame\n{UP}"), f"__name__, __traceback__, {FRAMES[10:]}, tb_frame"),
    "a frame of sys": ("import sys", f"    frame = sys._getframe()\n{UP}", f"__name__, _getframe, {FRAMES[10:]}, sys"),
    "the stack": ("import inspect", f"    frame = inspect.stack()[0].frame\n{UP}", "__name__, f_back, f_globals, f_locals, inspect, reference"),
    "a pattern": ("", """    def walk():
        match walking:
            case object(gi_frame=object(f_back=frame)):
                yield frame
    walking, met = walk(), []
    frame = next(walking)
    while frame and not met:
        match frame:
            case object(f_locals={"self": object(reference=one)}):
                met.append(one)
        match frame:
            case object(f_back=frame):
                pass
""", "f_back, f_locals, gi_frame, reference"),
    "all objects": ("import gc\nplus = lambda: 0", "    met = [part for part in gc.get_objects() if type(part) is type(plus)]\n", "gc"),
    "the module": ("import sys", "    met = [*vars(sys.modules['d2lpos.check'])]\n", "modules, sys, vars"),
    "what it is handed": ("", "    met = [*getattr(order.sum, '__globals__', {}).values()]\n", "__globals__, getattr"),
}  # fmt: skip
# Name: notebook, verdict, why, and what its code reaches for besides.
STUDENTS = {
    "right": (notebook(RIGHT), "passed", ""),
    "wrong": (notebook(WRONG), "failed", REFUSED),
    "nothing": (notebook(STUB), "not attempted", ""),
    "no cells of it": (new_notebook(cells=[notebook().cells[1]]),
     "missing", "its cells are not in the notebook"),
    "no stub": (notebook(), "missing", "no permute_mask"),
    "no colon": (notebook("def permute_mask(mask, order)\n    return mask"), "error", "SyntaxError"),
    "division": (notebook(f"1 / 0\n{RIGHT}"), "error", "ZeroDivisionError"),
    "a try that fails": (notebook(RIGHT, "permute_mask(1)"), "passed", ""),
    "magics": (notebook(f"%matplotlib inline\n!pip install torch\nls = !ls\n{RIGHT}"), "passed", ""),
    "timed": (notebook(f"%%time\n{RIGHT}"), "passed", ""),
    "shell": (notebook("%%bash\nrm -rf ~", RIGHT), "passed", ""),
    # Names of the notebook, wherever they are.
    "helper": (notebook(RIGHT.replace("order, :", "same(order), :"), above=("two = 2", "def same(x):\n    return x * two // 2")),
     "passed", ""),
    "late helper": (notebook(RIGHT.replace("order, :", "same(order), :"), "def same(x): return x"),
     "passed", ""),
    "star": (notebook(RIGHT.replace("order, :", "mul(order, 1), :"), above=("from operator import *",)),
     "passed", ""),
    "own setup": (notebook(RIGHT.replace("mask[", "np.asarray(mask)["), above=("import numpy as np",)),
     "failed", "permute_mask: Expected type Tensor, got type ndarray"),
    # Ends.
    "exits": (notebook(f"import sys\nsys.exit()\n{RIGHT}"), "error", "SystemExit", "sys"),
    "exits in the check": (notebook("def permute_mask(mask, order):\n    raise SystemExit"),
     "error", "SystemExit"),
    "drops dead": (notebook("import os\nos._exit(0)"), "error", "ended without a verdict", "_exit, os"),
    "kills itself": (notebook("import os\nos.kill(0, 9)"), "error", "SIGKILL", "os"),
    "crashes": (notebook("import ctypes\nctypes.string_at(0)"), "error", "SIGSEGV", "ctypes"),
    "own error": (notebook("class E(Exception): pass\nraise E('=1+1')"), "error", "an exception"),
    "reads": (notebook(f"input()\n{RIGHT}"), "error", "EOFError"),
    # Limits.
    "endless": (notebook("while True:\n    pass"), "time", ""),
    "will not stop": (notebook("import time\nwhile True:\n    try:\n        time.sleep(9)\n    except BaseException:\n        pass"),
     "time", ""),
    "memory": (notebook("hoard = bytearray(10 ** 10)"), "memory", ""),
    "memory in the check": (notebook(f"def permute_mask(mask, order):\n    torch.ones(10 ** 10)\n{ANSWER}"),
     "memory", ""),
    "a large file": (notebook(f"file = open('x', 'wb')\nfile.truncate(10 ** 9)\n{RIGHT}"),
     "error", f"OSError ({examiner.NO_ACCESS})", "open"),
    "prints": (notebook(f"import sys\nfor _ in range(100):\n    print('x' * 10 ** 6)\n{RIGHT}"),
     "passed", "", "sys"),
    # The check is the book's.
    "no check": (notebook(WRONG, check=None), "failed", REFUSED),
    "says so": (notebook(WRONG, check="print('✓ permute_mask: 2 properties hold')"), "failed", REFUSED),
    "own check": (notebook(f"from types import SimpleNamespace\ncheck = SimpleNamespace(permute_mask=print)\n{WRONG}"),
     "failed", REFUSED, "check, types.SimpleNamespace"),
    "no such check": (notebook(RIGHT, check="import mine as check\ncheck.permute_mask(permute_mask)"),
     "passed", "", "check.permute_mask, mine"),
    "answer beside the check": (notebook(f"{RIGHT}{CHECK}", check=None), "passed", "", "check.permute_mask"),
    "asks the check": (notebook("permute_mask = check.permute_mask.reference"),
     "error", "uses the check", "check.permute_mask, reference"),
    "asks it later": (notebook(f"def permute_mask(mask, order):\n    return {CALL}"),
     "error", "uses the check", "check.permute_mask, reference"),
    "opens the check": (notebook(f"check.permute_mask = lambda *_: True\ncheck.closed = check.tried = []\n{WRONG}"),
     "failed", REFUSED, "check.closed, check.permute_mask, check.tried"),
    # Why.
    "below": (notebook(STUB, below=(RIGHT,)), "not attempted", "permute_mask is defined below its check"),
    "below, no stub": (notebook(below=(RIGHT,)), "missing", "permute_mask is defined below its check"),
    "below, broken": (notebook(STUB, below=("def permute_mask(",)), "not attempted", ""),
    "own error inside": (notebook("class E(Exception): pass\ndef permute_mask(mask, order):\n    raise E('Hint: =1+1')"),
     "failed", "one mask (T, T). raises an exception"),
    "speaks of memory": (notebook("def permute_mask(mask, order):\n    raise ValueError('MemoryError: cannot allocate memory')"),
     "failed", "one mask (T, T). raises ValueError"),
    "another torch": (notebook(f"torch.isclose = lambda a, *_, **__: torch.ones(a.shape).bool()\n{WRONG}"),
     "failed", REFUSED, "torch.isclose ="),
    "another check": (notebook("from d2lpos.check import permutation, verdict\n"
                               f"permutation.permute_mask = lambda *_: verdict.Verdict('✓ yes', 'passed')\n{WRONG}"),
     "failed", REFUSED, "d2lpos.check.permutation, d2lpos.check.verdict, permutation.permute_mask ="),
    "another verdict": (notebook(f"import d2lpos.check.verdict as v\nv.Check.__call__ = lambda *_: v.Verdict('✓', 'passed')\n{WRONG}"),
     "failed", REFUSED, "__call__, d2lpos.check.verdict"),
    "fewer cases": (notebook(f"import d2lpos.check.permutation as p\np.permute_mask.properties.clear()\n{WRONG}"),
     "failed", REFUSED, "d2lpos.check.permutation, properties"),
    "imports the reference": (
        notebook("from d2lpos.check import permutation\npermute_mask = permutation.permute_mask.reference"),
     "error", "uses the check", "d2lpos.check.permutation, reference"),
    "looks for another check": (notebook(f"import d2lpos.check.rope as r\nassert not r.turn_pairs.reference\n{RIGHT}"),
     "error", "ModuleNotFoundError", "d2lpos.check.rope, reference"),
    "writes a verdict": (notebook(f"import os\nos.write(3, b'[\"passed\", \"\"]\\n')\n{WRONG}"),
     "error", "ended without a verdict", "os"),
    "writes much": (notebook("import os\nwhile True:\n    os.write(3, b'x' * 10 ** 6)"), "time", "", "os"),
    "writes a verdict and closes": (notebook(f"import os\nos.write(3, b'[\"passed\", \"\"]\\n')\nos.close(3)\n{WRONG}"),
     "error", "ended without a verdict", "os"),
    # Walks to the reference, which is not there.
    **{
        name: (notebook(f"{start}\ndef permute_mask(mask, order):\n{walk}    return {WALK}\n"), "failed", REFUSED, *named)
        for name, (start, walk, *named) in WALKS.items()
    },
    # What cannot be prevented is named: this verdict is the student's own.
    "writes a verdict and goes": (notebook(f"import os\nos.write(3, b'[\"passed\", \"\"]\\n')\nos._exit(0)\n{WRONG}"),
     "passed", "", "_exit, os"),
}  # fmt: skip


def write(path: Path, what: nbformat.NotebookNode) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(nbformat.writes(what), encoding="utf-8")


@pytest.fixture(scope="module")
def book(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("book") / "01-mask.ipynb"
    write(path, notebook(STUB))
    return path


@pytest.fixture(scope="module")
def homework(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("homework")


@pytest.fixture(scope="module")
def table(book, homework) -> pd.DataFrame:
    for name, (what, *_) in STUDENTS.items():
        write(homework / f"{name}.ipynb", what)
    return grade_all(homework, [book], seconds=2, memory=1000).set_index("notebook")


@pytest.mark.parametrize("name", STUDENTS)
def test_each_gets_the_verdict_of_the_book_and_code_that_reaches_further_is_named(table, name):
    _, verdict, why, *reached = STUDENTS[name]
    row = table.loc[f"{name}.ipynb"]
    assert (row["1.1"], row["remark"]) == (verdict, why and f"1.1: {why}")
    assert row["passed"] == (verdict == "passed")
    assert row["look at it"] == "".join(f"1.1: {names}" for names in reached)


def plain(table: pd.DataFrame) -> dict[str, str]:
    return dict(zip(table["notebook"], table["remark"], strict=True))


def test_what_is_no_notebook_gets_a_sentence_and_stops_nothing(tmp_path, book):
    folder = tmp_path / "class"
    for name, text in {
        "empty": "",
        "words": "Dear teacher",
        "bytes": "\udcff",
        "deep": "[" * 10**5,
        "a list": "[]",
        "old": '{"worksheets": []}',
        "odd": '{"cells": 3}',
        "no cells": '{"cells": []}',
        "odd cells": '{"cells": [1, {"source": 3}, {"cell_type": "code", "source": ["x"], "metadata": {"tags": 3, "d2lpos": []}}]}',
        "odd id": '{"cells": [{"cell_type": "code", "source": "", "metadata": {"tags": ["exercise"], "d2lpos": {"id": []}}}]}',
        "=1+1": "{",
    }.items():
        folder.mkdir(exist_ok=True)
        (folder / f"{name}.ipynb").write_bytes(text.encode(errors="surrogateescape"))
    (folder / "huge.ipynb").touch()
    os.truncate(folder / "huge.ipynb", 30 << 20)
    (folder / "folder.ipynb").mkdir()
    (folder / "notes.docx").write_text("words")
    (folder / ".hidden").touch()
    (folder / ".ipynb_checkpoints").mkdir()
    write(folder / ".ipynb_checkpoints" / "right.ipynb", notebook(RIGHT))
    os.mkfifo(folder / "pipe.ipynb")
    write(tmp_path / "away" / "right.ipynb", notebook(RIGHT))
    (folder / "link.ipynb").symlink_to(tmp_path / "away" / "right.ipynb")
    (folder / "away").symlink_to(tmp_path / "away")
    (folder / "circle").symlink_to(folder)
    (folder / "an\x1b[31m\nend.ipynb").touch()
    link, words = "is a link to something else, which is not followed", "is not JSON, so it is no notebook"
    form, none = "is not a notebook of format 4", "has no cell with the id of an exercise of this book"
    assert plain(grade_all(folder, [book], sealed=False)) == {
        "empty.ipynb": "is empty",
        "words.ipynb": words,
        "bytes.ipynb": words,
        "deep.ipynb": words,
        "a list.ipynb": form,
        "old.ipynb": form,
        "odd.ipynb": form,
        "no cells.ipynb": none,
        "odd cells.ipynb": none,
        "odd id.ipynb": none,
        "'=1+1.ipynb": words,
        "notes.docx": "is no notebook: its name does not end in .ipynb",
        "huge.ipynb": "has 30 MB, and may have 20: clear its outputs",
        "pipe.ipynb": "is not an ordinary file",
        "link.ipynb": link,
        "away": link,
        "circle": link,
        "an?[31m?end.ipynb": "is empty",
    }


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", " =1", "\t=1", "\n=1", "＝1"])
def test_no_cell_of_the_table_is_a_formula(text):
    assert clean(text)[0] in "'?"


def left() -> list[list[str]]:
    """Processes of an examiner, and of what it started."""
    with_line = [process.info["cmdline"] for process in psutil.process_iter(["cmdline"])]
    return [line for line in with_line if line and any("examiner.py" in word for word in line)]


@pytest.mark.skipif(not SEALED, reason="this system has no unshare, or does not let it")
def test_sealed_code_reaches_nothing_and_leaves_nothing(tmp_path, book):
    secret = tmp_path / "class" / "other.ipynb"
    codes = {
        "writes": f"import os\nos.remove({str(secret)!r})\n",
        "overwrites": f"open({str(ROOT / 'LICENSE')!r}, 'w')\n",
        "network": "import socket\nsocket.create_connection(('127.0.0.1', 1))\n",
        "lets others out": "import os\nos.setuid(0)\nos.chroot('.')\n",
        "looks below": f"import ctypes\nassert not ctypes.CDLL(None).umount2({str(ROOT / 'chapters')!r}.encode(), 2)\n",
        "a chapter": f"open({str(ROOT / 'chapters' / '01-permutation-equivariance.ipynb')!r})\n",
        "a check": "import d2lpos\nopen(d2lpos.__path__[0] + '/check/verdict.py')\n",
        "a version": f"import os\nassert os.listdir({str(ROOT / '.git')!r})\n",
    }
    fine = {
        "kills all": "import os\nos.kill(1, 9)\ntry:\n    os.kill(-1, 9)\nexcept ProcessLookupError:\n    pass\n",
        "daemons": "import os, time\nfor _ in range(9):\n    if not os.fork():\n        os.setsid()\n        time.sleep(600)\n",
        "next": "import os\nassert sorted(p for p in os.listdir('/proc') if p.isdigit())[0] == '1'\n"
        "assert len([p for p in os.listdir('/proc') if p.isdigit()]) == 2\n",
        "home": "import os\nopen(os.path.expanduser('~/x'), 'w').write('x')\nassert os.listdir() == ['x']\n",
        "no secrets": "import os\nassert 'SECRET' not in open('/proc/self/environ').read() + repr(os.environ)\n",
    }
    for name, code in (codes | fine).items():
        write(tmp_path / "class" / f"{name}.ipynb", notebook(code + RIGHT, check=None))
    write(secret, notebook(STUB))
    before = {path: path.read_bytes() for path in (tmp_path / "class").iterdir()}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SECRET", "SECRET")
        table = grade_all(tmp_path / "class", [book], seconds=2, memory=1000, sealed=True)
    verdicts = dict(zip(table["notebook"].str.removesuffix(".ipynb"), table["1.1"], strict=True))
    wanted = dict.fromkeys(codes, "error") | dict.fromkeys(fine, "passed")
    assert verdicts == {"other": "not attempted"} | wanted
    assert {path: path.read_bytes() for path in (tmp_path / "class").iterdir()} == before
    assert left() == []


@pytest.mark.parametrize("warm", [True, False])
def test_without_a_seal_and_in_new_processes_the_verdicts_are_the_same(tmp_path, book, warm):
    write(tmp_path / "class" / "a" / "one.ipynb", notebook(RIGHT))
    kills = notebook("import os\nos.kill(os.getppid(), 9)\nos.killpg(0, 9)")
    write(tmp_path / "class" / "b" / "one.ipynb", kills)
    write(tmp_path / "class" / "c" / "one.ipynb", notebook(WRONG))
    table = grade_all(tmp_path / "class", [book], seconds=2, memory=1000, sealed=False, warm=warm, jobs=2)
    assert dict(zip(table["notebook"], table["1.1"], strict=True)) == {
        "a/one.ipynb": "passed", "b/one.ipynb": "error", "c/one.ipynb": "failed",
    }
    assert left() == []


def test_a_chapter_brings_nothing_to_another(tmp_path, book):
    """One examiner runs the setups of all chapters, and each student has the names and the chance of one of them."""

    def of_other(*answers: str) -> nbformat.NotebookNode:
        text = nbformat.writes(notebook(*answers)).replace("ex-mask", "ex-other").replace("1.1", "1.2")
        return nbformat.reads(text.replace("import torch", "import torch\\ntorch.manual_seed(5)\\nmine = 1"), as_version=4)

    other = tmp_path / "02-other.ipynb"
    write(other, of_other(STUB))
    for name, what in {
        "a": of_other(RIGHT),
        "b": notebook(f"assert torch.initial_seed() == torch.Generator().initial_seed()\n{RIGHT}"),
        "c": of_other(f"assert torch.initial_seed() == 5 and mine\n{RIGHT}"),
        "d": notebook(f"mine\n{WRONG}"),
    }.items():
        write(tmp_path / "class" / f"{name}.ipynb", what)
    table = grade_all(tmp_path / "class", [book, other], seconds=20, sealed=False).set_index("notebook")
    assert [*(table["1.1"] + table["1.2"])] == ["passed", "passed", "passed", "error"]
    assert table.loc["d.ipynb", "remark"] == "1.1: NameError"


EXERCISED = [path for path in exercised(ROOT) if to_chapter(path).exercises]
# Its exercises read the models; those of the second project do not.
READ = {"09-trained-model": ("smollm2", "minilm")}


@pytest.fixture(scope="module")
def solved(tmp_path_factory) -> pd.DataFrame:
    """One student's handouts of all chapters, filled with the solutions, as one examiner grades them."""
    folder = tmp_path_factory.mktemp("solved")
    for path in EXERCISED:
        if not any(map(lack, READ.get(path.stem, ()))):
            write(folder / path.name, filled(path))
    return grade_all(folder, EXERCISED, seconds=60).set_index("notebook")


def filled(path: Path) -> nbformat.NotebookNode:
    exercises = to_chapter(path).exercises
    handout = without_solutions(nbformat.read(path, as_version=4), "https://example.org")
    for cell in handout.cells:
        if cell.cell_type == "code" and "exercise" in cell.metadata.get("tags", []):
            solution = exercises[cell.metadata.d2lpos.id].solution
            cell.source = "" if cell.source.startswith("check.") else "\n".join(solution)
    return handout


@pytest.mark.parametrize("path", EXERCISED, ids=lambda path: path.stem[:3])
def test_a_handout_filled_with_the_solutions_passes(solved, path):
    for name in READ.get(path.stem, ()):
        need(name)
    row = solved.loc[path.name]
    verdicts = {exercise.number: row[exercise.number] for exercise in to_chapter(path).exercises.values()}
    assert verdicts == dict.fromkeys(verdicts, "passed"), row["remark"]
    assert all(named.startswith(COPIED) for named in re.findall(r": ([^;]+)", row["look at it"]))


def test_a_project_is_graded_as_it_tells_its_students(tmp_path):
    path = ROOT / "chapters" / "projects" / "p1-port-a-checkpoint.ipynb"
    solution = to_chapter(path).exercises["ex-port"].solution[0].partition("trained,")[0]
    call = "perplexity = check.perplexity(config, port(file, config), card, novel)"
    moved = "check.moved(file, {'q': config['heads'], 'k': config['kv_heads']}, config['rotary'], 'half')"
    for name, source in {
        "as told": f"{solution}\n{call}",
        "helped": f"def port(file, config):\n    return {moved}\nperplexity = 4.63",
        "kept": f"m = check.moved\ndef port(file, config):\n    return {moved.replace('check.moved', 'm')}\n{call}",
        "is one": f"port = check.moved\n{solution.replace('port', 'other')}\n{call.replace('port', 'other')}",
        "half": f"{solution}\nperplexity = ...",
    }.items():
        handout = without_solutions(nbformat.read(path, as_version=4), "https://example.org")
        [stub] = [cell for cell in handout.cells if cell.source.startswith("def port(")]
        stub.source = source
        write(tmp_path / "class" / f"{name}.ipynb", handout)
    table = grade_all(tmp_path / "class", [path], exercises=["P1.1"]).set_index("notebook")
    assert [*table] == ["chapter", "P1.1", "passed", "seconds", "look at it", "remark"]
    assert dict(zip(table.index, table["P1.1"] + ", " + table["remark"], strict=True)) == {
        "as told.ipynb": "passed, ",
        "half.ipynb": "failed, P1.1: perplexity: not attempted yet",
        **dict.fromkeys(["helped.ipynb", "is one.ipynb", "kept.ipynb"], "error, P1.1: uses the check"),
    }
    assert set(table.loc[["helped.ipynb", "is one.ipynb", "kept.ipynb"], "look at it"]) == {"P1.1: check.moved"}


FORGETS = """
import gc, sys
from types import FunctionType
from book.examiner import forget, inside
from tests.check import exercises

checks = exercises.CHECKS
cases = [case for check in checks for case in check.cases()]
codes = {part.reference.__code__: part.name for part in checks if isinstance(part.reference, FunctionType)}
Check = type(checks[0])
checks.clear()
exercises.EXERCISES.clear()
forget(cases, {name: module for name, module in sys.modules.items() if inside(name)})
gc.collect()
left = [part for part in gc.get_objects() if type(part) in (FunctionType, Check)]
print(*sorted({codes.get(part.__code__, "") if type(part) is FunctionType else part.name for part in left} - {""}))
"""


def test_a_process_that_asks_has_no_reference():
    done = subprocess.run([sys.executable, "-c", FORGETS], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout == "\n"


def test_a_long_solution_word_for_word_is_named():
    lines = ["one = mask[..., order, :]", "two = one[..., order]", "three = two.clone()", "return three"]
    [solution] = ["def permute_mask(mask, order):\n" + "".join(f"    {line}\n" for line in lines)]
    book = Exercise(solution=[f"#@title Solution\n{solution}{CHECK}"])
    for source, same in {
        solution: True,
        "# mine\n" + solution.replace("  one", "  # why\n    one") + "import math": True,
        solution.replace("two", "second"): False,
        solution.replace(".clone()", ""): False,
        "def permute_mask(": False,
    }.items():
        assert copied({"cells": [source], "own": [0]}, book) == COPIED * same
    short = Exercise(solution=[f"limit = 2\n{RIGHT}{CHECK}"])
    claim = f"{COPIED}, in 2 statements (fewer than 4 may coincide)"
    assert copied({"cells": [f"limit = 2\n{RIGHT}"], "own": [0]}, short) == claim
    assert not copied({"cells": [RIGHT], "own": [0]}, short)
    assert not copied({"cells": [RIGHT], "own": [0]}, Exercise(solution=[CHECK]))


def test_the_book_names_each_exercise_its_check_and_its_answers():
    for path in exercised(ROOT):
        for name, exercise in to_chapter(path).exercises.items():
            assert exercise.number and exercise.answers and exercise.stub and exercise.solution, name
            stores = set().union(*(examiner.parse(source).stores for source in exercise.stub))
            assert {*exercise.answers} <= stores, name


def test_a_chapter_and_its_handout(tmp_path):
    path = ROOT / "chapters" / "12-ruler.ipynb"
    chapter = nbformat.read(path, as_version=4)
    solutions = (cell for cell in chapter.cells if cell.source.startswith("#@title Sol"))
    solved = {cell.metadata.d2lpos.id: cell.source for cell in solutions}
    handout = without_solutions(chapter, "https://example.org")
    write(tmp_path / "class.1" / "Ada.ipynb", handout)
    for cell in handout.cells:
        if cell.cell_type == "code" and "exercise" in cell.metadata.get("tags", []) and "..." in cell.source:
            cell.source = solved[cell.metadata.d2lpos.id]
    write(tmp_path / "class.1" / "=Emmy.ipynb", handout)
    (tmp_path / "class.1" / "Carl.ipynb").touch()
    command = [sys.executable, ROOT / "book" / "grade.py", tmp_path / "class.1", "--seconds", "20"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    table = pd.read_csv(tmp_path / "class.1.csv", keep_default_na=False, dtype=str)
    numbers = [f"12.{n}" for n in range(1, 6)]
    assert [*table] == ["notebook", "chapter", *numbers, "passed", "seconds", "look at it", "remark"]
    rows = {row.pop("notebook"): row for row in table.to_dict("records")}
    verdicts = {name: {row[number] for number in numbers} for name, row in rows.items()}
    assert verdicts == {"Ada.ipynb": {"not attempted"}, "'=Emmy.ipynb": {"passed"}, "Carl.ipynb": {""}}
    assert {name: row["passed"] for name, row in rows.items()} == {
        "Ada.ipynb": "0", "'=Emmy.ipynb": "5", "Carl.ipynb": "0",
    }
    assert rows["'=Emmy.ipynb"]["look at it"] == "; ".join(f"12.{n}: {COPIED}" for n in range(1, 6))
    assert rows["'=Emmy.ipynb"]["remark"] == ""
    assert rows["Carl.ipynb"]["remark"] == "is empty"
    assert "Their code runs" in done.stdout and f"The table is in {tmp_path / 'class.1.csv'}" in done.stdout


FOLDER = "FOLDER must be a folder of notebooks, as in `make grade FOLDER=homework`, not"
NUMBERS = "--exercises must be numbers of the book's exercises, as in `--exercises 4.1 4.3`, not"
OUT = "--out must be a file FILE.csv in a folder that exists, not"


@pytest.mark.parametrize(("arguments", "message"), [
    ("no-such", f"{FOLDER} 'no-such'."),
    ("", f"{FOLDER} ''."),
    ("README.md", f"{FOLDER} 'README.md'."),
    ("tests --exercises 1.1 =1.99", f"{NUMBERS} '=1.99'."),
    ("tests --seconds 0", "argument --seconds: must be a number from 1 to 3600, not '0'"),
    ("tests --memory nan", "argument --memory: must be a number from 100 to 1000000, not 'nan'"),
    ("tests --jobs 0", "argument --jobs: must be a number from 1 to 64, not '0'"),
    ("tests --out no/such.csv", f"{OUT} 'no/such.csv'."),
    ("tests --out README.md", f"{OUT} 'README.md'."),
])
def test_a_bad_argument_gets_one_sentence(monkeypatch, capsys, arguments, message):
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(sys, "argv", ["grade.py", *arguments.split(" ")])
    with pytest.raises(SystemExit) as end:
        sys.exit(main())
    assert end.value.code
    words = end.value.code if isinstance(end.value.code, str) else capsys.readouterr().err
    assert words.splitlines()[-1].endswith(message)
