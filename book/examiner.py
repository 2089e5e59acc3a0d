"""The process that runs students' code for `book/grade.py`: a fork for each exercise, with limits, sealed on Linux.

It runs the setup of each chapter that it is told, once. It reads requests, a line of JSON each, and answers each with a
line: the verdict, one word of why, and what a teacher should look at in the code. A student's process writes these
into a pipe of its own, which nothing that it prints can reach.
"""

import ast
import builtins
import ctypes
import dis
import gc
import json
import math
import os
import re
import resource
import shutil
import signal
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain
from tempfile import mkdtemp
from types import CodeType, FunctionType, ModuleType
from typing import Any, Self, TextIO

VERDICTS = ("passed", "failed", "not attempted", "error", "time", "memory", "missing")
START = 300  # seconds that a setup may take
MOST = 200  # letters of a reason
FILES = 64 << 20  # bytes that a file of a student's, and all of them together, may have
KEPT = "files, processes and the network are kept from it"
HIDDEN = (b"/run", b"/tmp/.X11-unix")  # where other programs listen on sockets
BOOK = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SOLVED = (".git", "_build", "chapters", "tests")  # where solutions stand, besides the checks
LOADS = {"LOAD_NAME", "LOAD_GLOBAL", "LOAD_FROM_DICT_OR_GLOBALS"}
# Imports that need no look.
plain = re.compile(
    "__future__|bisect|cmath|collections|copy|d2lpos|dataclasses|decimal|einops|fractions|functools|"
    "heapq|itertools|math|matplotlib|numpy|operator|pandas|random|re|scipy|statistics|string|"
    "textwrap|time|torch|tqdm|typing|warnings"
).fullmatch
# Names by which code reaches the check, the interpreter or the machine.
reaches = re.compile(
    "__import__|attrgetter|breakpoint|builtins|check|cpp_extension|ctypes|ctypeslib|delattr|eval|"
    "exec|gc|getattr|globals|importlib|inspect|load|load_library|locals|memmap|methodcaller|"
    "mistakes|modules|open|os|properties|read_pickle|reference|savetxt|setattr|subprocess|sys|"
    "tofile|vars"
).fullmatch
INNER = re.compile(r"\b__\w+__\b|/(dev|proc)\b")  # in a string
WATCHED = ("builtins", "copy", "math", "numpy", "torch", "torch._tensor", "torch.functional")
MOVES = {("torch", "manual_seed")}  # torch itself replaces it later


class Nothing:
    """Stands in for what only a notebook has: does nothing, whatever it is asked."""

    def __getattr__(self, name: str) -> Self:
        return self

    def __call__(self, *_: object, **__: object) -> Self:
        return self


def stand_in(module: Any, helpers: list[str]) -> tuple[Nothing, Callable[[], Callable[[], bool]]]:
    """What students' code finds as `check`, and what closes it before the check runs.

    Functions of the checks' module that the book's own cells call, such as `check.perplexity`, work until then. Once
    closed, none does, so no answer lets them do its work. What closes it returns what tells whether an answer tried.
    """
    closed, tried = [], []

    def get(name: str) -> Any:
        tried.extend(closed)
        function = getattr(module, name, None) if name in helpers else None
        if not isinstance(function, FunctionType):  # a check does nothing
            return Nothing()

        def helper(*arguments: Any, **named: Any) -> Any:
            tried.extend(closed)
            return Nothing() if closed else function(*arguments, **named)

        return helper

    class Checks(Nothing):
        def __getattr__(self, name: str) -> Any:
            return get(name)

    def close() -> Callable[[], bool]:
        closed.append(True)
        return lambda: bool(tried)

    return Checks(), close


class Closed(ModuleType):
    """What students' code finds as `d2lpos.check`, and as each module in it: the stand-in, and what the setup took."""

    def __init__(self, checks: Nothing, names: dict[str, Any]):
        super().__init__("d2lpos.check")
        taken = {name for name, value in names.items() if inside(getattr(value, "__module__", None))}
        self.behind = {name: sys.modules[name] for name in [*sys.modules] if inside(name)}
        vars(self).update({name: names[name] for name in taken} | {name.split(".")[-1]: checks for name in self.behind})
        sys.modules.update(dict.fromkeys(self.behind, self))
        if package := sys.modules.get("d2lpos"):
            package.check = self

    def __getattr__(self, name: str) -> Nothing:
        if name.startswith("__"):
            raise AttributeError(name)
        return Nothing()


def inside(name: object) -> bool:
    return f"{name}.".startswith("d2lpos.check.")


@dataclass
class Cell:
    """A cell's code, the names that it stores, and those that it needs: at once, and when its functions are called."""

    code: CodeType
    tree: ast.Module
    stores: set[str]
    now: set[str]
    later: set[str]


def parse(source: str) -> Cell:
    """Read a cell as a notebook would, without running its magics."""
    from IPython.core.inputtransformer2 import TransformerManager

    source = re.sub(r"\A\s*%%(time|timeit|capture)\b.*", "", source)
    tree = ast.parse(TransformerManager().transform_cell(source))
    code = compile(tree, "cell", "exec")
    stores, now = set(), set()
    for step in dis.get_instructions(code):
        if step.opname in ("STORE_NAME", "STORE_GLOBAL"):
            stores.add(step.argval)
        elif step.opname in LOADS and step.argval not in stores:
            now.add(step.argval)
    steps = chain.from_iterable(map(dis.get_instructions, within(code)))
    later = {step.argval for step in steps if step.opname in LOADS}
    return Cell(code, tree, stores, now, later - stores)


def within(code: CodeType) -> Iterator[CodeType]:
    """The functions and classes in a piece of code."""
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield inner
            yield from within(inner)


def needed(cells: list[Cell | None], own: set[int], answers: list[str]) -> list[int]:
    """Which cells to run for an exercise: its `own`, and those above that define what these use, and so on.

    A name is the one of the last cell that defines it, as where all cells run from the top.
    """
    run = {at for at in own if (cell := cells[at]) and ("check" not in cell.now or cell.stores & {*answers})}
    run |= {at for at, cell in enumerate(cells) if cell and any(map(star, cell.tree.body))}
    wanted = [(name, len(cells)) for name in answers]
    done, todo = set(), set(run)
    while todo or wanted:
        for at in todo:
            wanted += [(name, at) for name in cells[at].now]
            wanted += [(name, len(cells)) for name in cells[at].later]
        done |= todo
        above = [
            [at for at, cell in enumerate(cells[:to]) if cell and name in cell.stores] for name, to in wanted
        ]
        todo, wanted = {at[-1] for at in above if at} - done, []
    return sorted(done)


def star(node: ast.stmt) -> bool:
    return isinstance(node, ast.ImportFrom) and node.names[0].name == "*"


def telling(tree: ast.Module, modules: set[str]) -> set[str]:
    """What in a cell a teacher should look at: where it reaches for more than an answer needs.

    `modules` are the names of modules and classes; what is stored in one of them changes it for the check, too.
    """
    nodes = list(ast.walk(tree))
    imports = [node for node in nodes if isinstance(node, ast.Import | ast.ImportFrom)]
    paths, named = set(), set()
    for module, name in ((getattr(node, "module", ""), name) for node in imports for name in node.names):
        path = f"{module or ''}.{name.name}".strip(".")
        if not plain(path.split(".")[0]) or any(map(reaches, path.split("."))):
            paths.add(path)
        modules = modules | {(name.asname or name.name).split(".")[0]}
    for node in nodes:
        match node:
            case ast.Attribute(value=ast.Name(id="check") as name, attr=attr):  # which of the helpers, and no other
                named.add(name)
                paths.add(f"check.{attr}")
                if reaches(attr):
                    paths.add(attr)
            case ast.Name() if node in named:  # a walk meets it after the attribute
                pass
            case ast.Name(id=name) if reaches(name) or name.startswith("__"):
                paths.add(name)
            case ast.Attribute(attr=name) if reaches(name) or (name[0] == "_" and root(node) != "self"):
                paths.add(name)
            case ast.Attribute(attr=name, ctx=ast.Store() | ast.Del()) if root(node) in modules:
                paths.add(f"{root(node)}.{name} =")
            case ast.Constant(value=str(text)) if word := INNER.search(text):
                paths.add(word[0])
    return paths


def root(node: ast.AST) -> str:
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def modules(names: dict[str, Any]) -> set[str]:
    return {name for name, value in names.items() if isinstance(value, ModuleType | type)}


def state(closed: dict[str, ModuleType]) -> dict[tuple[str, str], tuple[int, int]]:
    """What the functions and classes are that a check relies on, in the closed modules, too."""
    modules = sys.modules | closed
    watched = [name for name in modules if name in WATCHED or name.split(".")[0] == "d2lpos"]
    known = {name: vars(modules[name]) for name in watched}
    classes = [value for part in known.values() for value in part.values() if isinstance(value, type)]
    known |= {str(kind): vars(kind) for kind in classes if kind.__module__.startswith(("d2lpos", "torch"))}
    return {
        (name, key): (id(value), id(getattr(value, "__code__", None)))
        for name, part in known.items()
        for key, value in list(part.items())
        if callable(value) and (name, key) not in MOVES
    }


@dataclass
class Book:
    """What a chapter brings to a student's code: names, the cells that made them, and what is drawn next by chance."""

    names: dict[str, Any]
    ran: set[str]
    chance: Any
    judging: ModuleType


def prepare(job: dict) -> Book:
    """Run a chapter's setup, and those of its cells that its stubs build on, with the chance of a new process."""
    import torch

    cells = [parse(source) for source in job["cells"]]
    stubs = [parse(source) for source in job["stubs"]]
    names = {"__name__": "__main__", "get_ipython": Nothing(), "display": Nothing()}
    run = needed(cells, {*job["setup"]}, list(set().union(*(stub.now | stub.later for stub in stubs))))
    torch.manual_seed(torch.Generator().initial_seed())
    for at in run:
        exec(cells[at].code, names)  # noqa: S102 (the book's own cell)
    from d2lpos.check import verdict

    return Book(names, {job["cells"][at].strip() for at in run}, torch.get_rng_state(), verdict)


def ask(check: str, book: Book, answers: dict[str, Any]) -> Any:
    """What the book's check says of these answers: the value of the cell's last line."""
    tree = ast.parse(check)
    tree.body[-1] = ast.Assign([ast.Name("told", ast.Store())], tree.body[-1].value)
    names = {**book.names, **answers}
    exec(compile(ast.fix_missing_locations(tree), "check", "exec"), names)  # noqa: S102 (the book's own cell)
    return names["told"]


def judge(check: str, book: Book, closed: dict, before: dict, answers: dict[str, Any]) -> tuple[str, str]:
    """The verdict of the book's check in one word, and why; `before`, what the `state` of the closed modules was."""
    verdict = ask(check, book, answers)
    if type(verdict) is not book.judging.Verdict:
        return "error", "changed the check"
    if verdict.passed is True:
        # A check that lets this pass, or that is not what it was, has been tampered with.
        fooled = ask(check, book, {name: object() for name in answers})
        now = state(closed)
        same = all(now.get(key) == value for key, value in before.items())
        return ("passed", "") if same and not fooled else ("error", "changed the check")
    if verdict.kind in ("failed", "open"):
        return "failed", reason(verdict)
    return verdict.kind, ""


def reason(verdict: Any) -> str:
    """Why a check refuses an answer: the first property that fails and the hint, or else what is still open."""
    parts = [verdict.why]
    if verdict.error:
        builtin = isinstance(vars(builtins).get(verdict.error), type)
        parts.append(f"raises {verdict.error if builtin else 'an exception'}")
    return ". ".join([*parts, *[f"Hint: {verdict.hint}"] * bool(verdict.hint)])[:MOST]


def kind(error: BaseException, book: Book) -> tuple[str, str]:
    """The verdict that an exception means, and its name, where the name is not the student's."""
    if book.judging.is_out_of_memory(error):
        return "memory", ""
    name = type(error).__name__ if type(error).__module__ == "builtins" else "an exception"
    return "error", f"{name} ({KEPT})" if isinstance(error, OSError) and type(error).__module__ == "builtins" else name


def student(request: dict, job: dict, book: Book | None, report: int) -> None:
    """Run a student's cells, then the book's check, and report: when it begins, what to look at, the verdict."""

    def tell(what: Any) -> None:
        os.write(report, json.dumps(what).encode() + b"\n")

    import torch

    book = book or prepare(job)
    torch.set_rng_state(book.chance)
    checks, close = stand_in(book.names.get("check"), request["helpers"])
    names = {**book.names, "check": checks}
    closed = Closed(checks, book.names).behind
    before = state(closed)
    if job["sealed"]:
        hide(place for name, module in closed.items() if name == "d2lpos.check" for place in module.__path__)
    answers = request["answers"]
    for name in answers:
        names.pop(name, None)
    tell("begun")
    limit(job)
    cells, trouble = [], []
    for source in request["cells"]:
        try:
            cells.append(None if source.strip() in book.ran else parse(source))
        except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
            cells.append(None)
            if len(cells) - 1 in request["own"]:
                trouble.append(kind(error, book))
    run = needed(cells, {*request["own"]}, answers)
    look = set().union(*(telling(cells[at].tree, modules(names)) for at in run if not request["ours"][at]))
    for source in request["known"]:
        look -= telling(parse(source).tree, modules(names))
    tell(sorted(look))
    for at in run:
        try:
            exec(cells[at].code, names)  # noqa: S102 (this is what the process is for)
        except BaseException as error:  # noqa: BLE001 (a student's code may raise anything, SystemExit, too)
            trouble.append(kind(error, book))
    if lacking := [name for name in answers if name not in names]:
        return tell(trouble[0] if trouble else ("missing", late(request) or f"no {lacking[0]}"))
    tried = close()
    if any(isinstance(names[name], Nothing) for name in answers):
        return tell(("error", "uses the check"))
    try:
        verdict = judge(request["check"], book, closed, before, {name: names[name] for name in answers})
    except BaseException as error:  # noqa: BLE001
        verdict = kind(error, book)
    if verdict[0] != "passed" and tried():
        verdict = "error", "uses the check"
    if verdict[0] == "not attempted":
        verdict = "not attempted", late(request)
    # A cell that fails beside a right answer, to try something, does not count.
    tell(trouble[0] if trouble and verdict[0] != "passed" else verdict)


def late(request: dict) -> str:
    """A sentence where a cell below the check defines an answer; empty where none does."""
    for source in request["below"]:
        with suppress(SyntaxError, ValueError, MemoryError, RecursionError):
            for name in sorted({*request["answers"]} & parse(source).stores):
                return f"{name} is defined below its check"
    return ""


def limit(job: dict) -> None:
    """Bound what this process may take."""
    seconds = math.ceil(job["seconds"] + time.process_time())
    bounds = {"CORE": (0, 0), "FSIZE": (FILES, FILES), "CPU": (seconds, seconds + 1)}
    if sys.platform == "linux":
        with open("/proc/self/statm") as file:
            most = int(file.read().split()[0]) * resource.getpagesize() + (job["memory"] << 20)
        bounds |= {"AS": (most, most), "NPROC": (job["processes"], job["processes"])}
    for name, pair in bounds.items():
        resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), pair)


def leave(place: str, report: int) -> int:
    """Leave behind what belongs to the examiner: its session, folder, variables and files. Return where to report."""
    os.setsid()
    os.chdir(place)
    env = {name: os.environ[name] for name in ("PATH", "LANG", "OMP_NUM_THREADS") if name in os.environ}
    if pretrained := sys.modules.get("d2lpos.pretrained"):
        env["D2LPOS_WEIGHTS"] = str(pretrained.folder())
    os.environ.clear()
    os.environ.update(env, HOME=place, TMPDIR=place, MPLCONFIGDIR=place)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for number in range(3):
        os.dup2(nowhere, number)
    os.dup2(report, 3, inheritable=False)
    os.closerange(4, os.sysconf("SC_OPEN_MAX"))
    return 3


def examine(request: dict, job: dict, book: Book | None) -> dict:
    """Let a fork of this process run a student's code, end it and all that it started, and return what it told."""
    read, write = os.pipe()
    os.set_blocking(read, False)
    place = mkdtemp(dir=job["scratch"])
    child = os.fork()
    if not child:
        try:
            student(request, job, book, leave(place, write))
            os._exit(0)
        finally:
            os._exit(1)
    os.close(write)
    report, started, ended, status = b"", time.monotonic(), False, 0
    until = started + START
    while not ended and time.monotonic() < until:
        time.sleep(0.005)
        ended, status = os.waitpid(child, os.WNOHANG)
        with suppress(BlockingIOError):
            more = os.read(read, 1 << 16) if len(report) < 1 << 16 else b""
            if more and not report:
                started = time.monotonic()
                until = started + job["seconds"]
            report += more
    seconds = time.monotonic() - started
    end(child, job["sealed"], bool(ended))
    os.close(read)
    with suppress(OSError, RecursionError):
        shutil.rmtree(place)
    verdict, why, look = heard(report, bool(ended), status)
    spent = os.path.exists(place)  # what cannot be removed may stand in the way of the next
    return {"verdict": verdict, "why": why, "look": look, "seconds": seconds, "spent": spent}


def end(child: int, sealed: bool, ended: bool) -> None:
    """End what a student's process has started: all of it where the room is sealed, and elsewhere its group."""
    with suppress(ProcessLookupError):
        # Process 1 of a sealed room can kill all others in it, and none of them can kill it.
        os.kill(-1, signal.SIGKILL) if sealed else os.killpg(child, signal.SIGKILL)
    with suppress(ChildProcessError):
        while sealed or not ended:
            ended = os.waitpid(-1 if sealed else child, 0)


def heard(report: bytes, ended: bool, status: int) -> tuple[str, str, list[str]]:
    """Verdict, why, and what to look at, of what a student's process told and how it ended."""
    lines = []
    with suppress(ValueError, RecursionError):  # a student's process may have written anything
        for line in report.splitlines()[:4]:
            lines.append(json.loads(line))
    look = lines[1] if len(lines) > 1 and isinstance(lines[1], list) else []
    if ended and status == 0 and len(lines) == 3:
        match lines[2]:
            case [str(verdict), str(why)] if verdict in VERDICTS:
                return verdict, why, look
    if not ended or os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGXCPU:
        return "time", "", look
    if os.WIFSIGNALED(status):
        return "error", signal.Signals(os.WTERMSIG(status)).name, look
    return "error", "ended without a verdict", look


def seal(scratch: str) -> None:
    """In namespaces of its own: make all files read-only but for a small empty folder.

    Raises OSError where this Linux cannot.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    attributes = (ctypes.c_uint64 * 4)(1)  # MOUNT_ATTR_RDONLY
    flags = ctypes.c_ulong(6)  # MS_NOSUID | MS_NODEV
    size = f"size={FILES}".encode()
    places = [place for place in HIDDEN if os.path.isdir(place)]
    # 442 is mount_setattr: below "/", and recursively.
    steps = [libc.syscall(442, -100, b"/", 0x8000, attributes, ctypes.c_size_t(32))]
    steps += [libc.mount(b"tmpfs", place, b"tmpfs", flags, size) for place in (*places, os.fsencode(scratch))]
    if any(steps):
        raise OSError(ctypes.get_errno(), "this system cannot seal a process")


def hide(checks: Iterable[str] = ()) -> None:
    """In a sealed process: lay empty folders over the book's solutions and the checks, and give all powers up.

    Raises OSError where this Linux cannot.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    places = [place for name in SOLVED if os.path.isdir(place := os.path.join(BOOK, name))] + [*checks]
    steps = [libc.unshare(0x20000)]  # CLONE_NEWNS
    steps += [libc.mount(b"tmpfs", os.fsencode(place), b"tmpfs", ctypes.c_ulong(7), b"size=4k") for place in places]
    version, empty = (ctypes.c_uint32 * 2)(0x20080522), (ctypes.c_uint32 * 6)()
    steps += [libc.prctl(38, 1, 0, 0, 0), libc.capset(version, empty)]  # PR_SET_NO_NEW_PRIVS
    if any(steps):
        raise OSError(ctypes.get_errno(), "this system cannot seal a process")


def serve(requests: TextIO, replies: TextIO) -> None:
    """Seal as the first line asks, then prepare each chapter that a line tells, and answer each request."""

    def reply(what: dict) -> None:
        print(json.dumps(what), file=replies, flush=True)

    job = json.loads(requests.readline())
    try:
        if job["sealed"]:
            seal(job["scratch"])
        if sys.platform == "linux":
            ctypes.CDLL(None).prctl(4, 0, 0, 0, 0)  # PR_SET_DUMPABLE: no other process may look into this one
    except Exception as error:  # noqa: BLE001
        return reply({"ready": False, "why": f"{type(error).__name__}: {error}"})
    reply({"ready": True})
    chapters = {}
    for what in map(json.loads, requests):
        if "chapter" in what:
            reply(examine(what, *chapters[what["chapter"]]))
            continue
        try:
            chapters[what["name"]] = job | what, prepare(what) if job["warm"] else None
            gc.freeze()  # else a fork would copy much of the memory, to count references in it
        except Exception as error:  # noqa: BLE001
            return reply({"ready": False, "why": f"{type(error).__name__}: {error}"})
        reply({"ready": True})


if __name__ == "__main__":
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    serve(sys.stdin, replies)
