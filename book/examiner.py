"""The process that runs students' code for `book/grade.py`: a fork for each exercise, with limits, sealed on Linux.

It runs the setup of each chapter that it is told, once. It reads requests, a line of JSON each, and answers each with a
line: the verdict, one word of why, and what a teacher should look at in the code.

A student's process asks the answers what the book's check asks, and writes what comes out into a pipe of its own, which
nothing that it prints can reach. It has forgotten the references: this process has them, compares, and runs nothing of
a student's.
"""

import ast
import base64
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
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import chain
from numbers import Number
from tempfile import mkdtemp
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any, Self, TextIO

VERDICTS = ("passed", "failed", "not attempted", "error", "time", "memory", "missing")
START = 300  # seconds that a setup may take
MOST = 200  # letters of a reason
LONGEST_REPORT = 64 << 20  # bytes that a student's process may tell
FILES = 64 << 20  # bytes that a file of a student's, and all of them together, may have
NO_ACCESS = "files, processes and the network are kept from it"
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
# Names by which code reaches the check, the interpreter or the machine, frames included.
reaches = re.compile(
    "__import__|attrgetter|breakpoint|builtins|check|cpp_extension|ctypes|ctypeslib|currentframe|delattr|eval|exec|"
    "(ag|cr|f|gi|tb)_(await|back|builtins|code|frame|globals|locals|next|yieldfrom)|gc|getattr|globals|importlib|"
    "inspect|load|load_library|locals|memmap|methodcaller|mistakes|modules|open|os|properties|read_pickle|"
    "reference|savetxt|setattr|subprocess|sys|tofile|traceback|vars|walk_(stack|tb)"
).fullmatch
INNER = re.compile(r"\b__\w+__\b|/(dev|proc)\b")  # in a string


class Nothing:
    """Stands in for what only a notebook has: does nothing, whatever it is asked."""

    def __getattr__(self, name: str) -> Self:
        return self

    def __call__(self, *_: object, **__: object) -> Self:
        return self


def stand_in(module: Any, helpers: list[str]) -> tuple[Nothing, Callable[[], Callable[[], bool]]]:
    """What students' code finds as `check`, and what closes it before the answers are asked.

    Functions of the checks' module that the book's own cells call, such as `check.perplexity`, work until then. Once
    closed, none does, so no answer lets them do its work. What closes it returns what tells whether an answer tried.
    """
    closed, tried = [], []
    functions = {name: getattr(module, name, None) for name in helpers}

    def get(name: str) -> Any:
        tried.extend(closed)
        function = functions.get(name)
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
    look, named = set(), set()
    for module, name in ((getattr(node, "module", ""), name) for node in imports for name in node.names):
        path = f"{module or ''}.{name.name}".strip(".")
        if not plain(path.split(".")[0]) or any(map(reaches, path.split("."))):
            look.add(path)
        modules = modules | {(name.asname or name.name).split(".")[0]}
    for node in nodes:
        match node:
            case ast.Attribute(value=ast.Name(id="check") as name, attr=attr):  # which of the helpers, and no other
                named.add(name)
                look.add(f"check.{attr}")
                if reaches(attr):
                    look.add(attr)
            case ast.Name() if node in named:  # a walk meets it after the attribute
                pass
            case ast.Name(id=name) if reaches(name) or name.startswith("__"):
                look.add(name)
            case ast.MatchClass(kwd_attrs=names):  # a pattern reads attributes without a dot
                look.update(name for name in names if reaches(name) or name[0] == "_")
            case ast.Attribute(attr=name) if reaches(name) or (name[0] == "_" and root(node) != "self"):
                look.add(name)
            case ast.Attribute(attr=name, ctx=ast.Store() | ast.Del()) if root(node) in modules:
                look.add(f"{root(node)}.{name} =")
            case ast.Constant(value=str(text)) if word := INNER.search(text):
                look.add(word[0])
    return look


def root(node: ast.AST) -> str:
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def modules(names: dict[str, Any]) -> set[str]:
    return {name for name, value in names.items() if isinstance(value, ModuleType | type)}


def forget(roots: Iterable[Any], closed: dict[str, ModuleType]) -> None:
    """Take from the closed modules of the chapters what the roots do not use: checks, references and mistakes."""
    todo, met, needed = [*roots], {}, defaultdict(set)
    while todo:
        part = todo.pop()
        if id(part) in met:
            continue
        met[id(part)] = part
        match part:
            case FunctionType(__code__=code, __globals__=names):
                todo += [cell.cell_contents for cell in part.__closure__ or ()]
                todo += [*(part.__defaults__ or ()), *(part.__kwdefaults__ or {}).values()]
                if inside(names["__name__"]):
                    steps = chain.from_iterable(map(dis.get_instructions, (code, *within(code))))
                    used = {step.argval for step in steps if step.opname in LOADS} & names.keys()
                    needed[names["__name__"]] |= used
                    todo += [names[name] for name in used]
            case MethodType():
                todo += [part.__self__, part.__func__]
            case partial():
                todo += [part.func, *part.args, *part.keywords.values()]
            case list() | tuple() | set():
                todo += part
            case dict():
                todo += part.values()
            case property():
                todo.append(part.fget)
            case classmethod() | staticmethod():
                todo.append(part.__func__)
            case type() if inside(part.__module__):
                todo += [*vars(part).values(), *part.__bases__]
            case _ if inside(getattr(part, "__module__", None)):
                todo += [type(part), *vars(part).values()]
    for name, module in closed.items():
        if hasattr(module, "__path__") * name.count(".") == 2 or name.count(".") > 2:
            for key in [*vars(module)]:
                if key not in needed[name] and not key.startswith("__"):
                    delattr(module, key)


@dataclass
class Other:
    """Stands in for a value of a student's that is no plain data; its type has the name that the value's has."""

    kind: str


def plain_data(value: Any) -> Any:
    """What an answer came to, as JSON from which `from_data` makes it again without running anything."""
    import numpy as np
    import torch

    if isinstance(value, np.generic):
        return plain_data(value.item())
    if isinstance(value, np.ndarray):
        return {"array": plain_data(torch.from_numpy(value))} if value.dtype.kind in "biuf" else {"other": "ndarray"}
    if isinstance(value, torch.Tensor) and value.layout == torch.strided and value.device.type == "cpu":
        flat = value.detach().contiguous().flatten()
        raw = base64.b64encode(flat.view(torch.uint8).numpy().tobytes()).decode()
        return {"tensor": [str(value.dtype), list(value.shape), raw]}
    if isinstance(value, BaseException):
        arguments = [part for part in value.args if isinstance(part, str | int)]
        return {"raised": [type(value).__module__, type(value).__name__, arguments if len(arguments) == len(value.args) else [str(value)]]}
    for name, kind in {"list": list, "tuple": tuple, "set": set | frozenset}.items():
        if isinstance(value, kind):
            return {name: [plain_data(part) for part in value]}
    if isinstance(value, dict):
        return {"dict": [[plain_data(key), plain_data(part)] for key, part in value.items()]}
    if value is ...:
        return {"open": True}
    for kind in (str, bool, int, float):
        if isinstance(value, kind):
            return kind(value)
    if isinstance(value, Number) and not isinstance(value, complex):
        return float(value)
    return None if value is None else {"other": type(value).__name__}


def from_data(data: Any, judging: ModuleType) -> Any:
    """What `plain_data` made. Raises an exception where a student's process has written something else."""
    import torch

    if not isinstance(data, dict):
        return data
    [(name, content)] = data.items()
    match name:
        case "tensor":
            kind, shape, raw = content
            [dtype] = {one for one in vars(torch).values() if isinstance(one, torch.dtype) and str(one) == kind}
            raw = bytearray(base64.b64decode(raw))
            return (torch.frombuffer(raw, dtype=dtype) if raw else torch.empty(0, dtype=dtype)).reshape(shape)
        case "array":
            return from_data(content, judging).numpy()
        case "raised":
            module, kind, arguments = content
            known = {"builtins": builtins, judging.__name__: judging}.get(module)
            error = vars(known).get(kind) if known else None
            if not (isinstance(error, type) and issubclass(error, Exception)):
                error = type(str(kind), (Exception,), {})
            return error(*arguments)
        case "list" | "tuple" | "set":
            return {"list": list, "tuple": tuple, "set": set}[name](from_data(part, judging) for part in content)
        case "dict":
            return {from_data(key, judging): from_data(part, judging) for key, part in content}
        case "open":
            return ...
    return type(str(content), (Other,), {})(str(content))


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


def asked(check: str) -> tuple[str, list[str]]:
    """The name of a check in the cell that calls it, and those of the answers."""
    match ast.parse(check).body[-1].value:
        case ast.Call(func=ast.Attribute(attr=name), args=answers):
            return name, [answer.id for answer in answers]


def outcomes(cases: list, answers: list[Any], judging: ModuleType) -> dict:
    """What a student's answers come to: of a function, in each case, and of all else, what it is."""
    first, *others = answers
    report = {"others": [plain_data(other) for other in others]}
    if not callable(first):
        return report | {"answer": plain_data(first)}
    result = judging.Outcomes(first)
    return report | {"stub": judging.is_stub(first), "outcomes": [plain_data(result(case)) for case in cases]}


def judge(check: str, book: Book, report: dict) -> tuple[str, str]:
    """The verdict of the book's check in one word, and why, on what a student's process told of the answers."""
    name, _ = asked(check)
    one = getattr(book.names["check"], name)
    if "answer" in report:
        answer = from_data(report["answer"], book.judging)
    else:
        results = [from_data(data, book.judging) for data in report["outcomes"]]
        known = dict(zip(one.cases(), results, strict=True))
        answer = book.judging.Outcomes((lambda: None) if report["stub"] else from_data, known)
    verdict = one(answer, *[from_data(other, book.judging) for other in report["others"]])
    if verdict.passed:
        return "passed", ""
    return ("failed", reason(verdict)) if verdict.kind in ("failed", "open") else (verdict.kind, "")


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
    return "error", f"{name} ({NO_ACCESS})" if isinstance(error, OSError) and type(error).__module__ == "builtins" else name


def student(request: dict, job: dict, book: Book | None, report: int) -> None:
    """Run a student's cells, ask the answers, and report: when it begins, what to look at, and what came out."""

    def tell(what: Any) -> None:
        os.write(report, json.dumps(what).encode() + b"\n")

    import torch

    book = book or prepare(job)
    torch.set_rng_state(book.chance)
    checks, close = stand_in(book.names.get("check"), request["helpers"])
    names = {**book.names, "check": checks}
    name, asks = asked(request["check"])
    cases = getattr(book.names["check"], name).cases()
    closed = Closed(checks, book.names).behind
    helpers = [getattr(book.names["check"], name, None) for name in request["helpers"]]
    forget([*cases, *(one for one in (*helpers, *book.names.values()) if isinstance(one, FunctionType))], closed)
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
    tell(sorted(look - {*request["usual"]}))
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
        results = outcomes(cases, [names[name] for name in asks], book.judging)
    except BaseException as error:  # noqa: BLE001
        return tell(kind(error, book))
    # A cell that fails beside a right answer, to try something, does not count.
    less = trouble[0] if trouble else ("error", "uses the check") if tried() else None
    tell({"answers": results, "less": less, "late": late(request)})


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
    environment = {name: os.environ[name] for name in ("PATH", "LANG", "OMP_NUM_THREADS") if name in os.environ}
    if pretrained := sys.modules.get("d2lpos.pretrained"):
        environment["D2LPOS_WEIGHTS"] = str(pretrained.folder())
    os.environ.clear()
    os.environ.update(environment, HOME=place, TMPDIR=place, MPLCONFIGDIR=place)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for number in range(3):
        os.dup2(nowhere, number)
    os.dup2(report, 3, inheritable=False)
    os.closerange(4, os.sysconf("SC_OPEN_MAX"))
    return 3


def examine(request: dict, job: dict, book: Book | None) -> dict:
    """Let a fork of this process run a student's code, end it and all that it started, and return what it told."""
    known = [telling(parse(source).tree, set()) for source in request.pop("known")]
    request["usual"] = [*chain.from_iterable(known)]  # and no solution, which a fork would have, too
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
            while more := os.read(read, 1 << 16) if len(report) < LONGEST_REPORT else b"":
                if not report:
                    started = time.monotonic()
                    until = started + job["seconds"]
                report += more
    seconds = time.monotonic() - started
    end(child, job["sealed"], bool(ended))
    os.close(read)
    with suppress(OSError, RecursionError):
        shutil.rmtree(place)
    verdict, why, look = heard(report, bool(ended), status, partial(compare, request["check"], job, book))
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


def compare(check: str, job: dict, book: Book | None, report: dict) -> tuple[str, str]:
    """The verdict and why, on what a student's process told, from a fork that may fail at it."""
    read, write = os.pipe()
    child = os.fork()
    if not child:
        with suppress(BaseException):
            verdict, why = judge(check, book or prepare(job), report["answers"])
            if verdict not in ("passed", "not attempted") and report["less"]:
                verdict, why = report["less"]
            os.write(write, json.dumps([verdict, report["late"] if verdict == "not attempted" else why]).encode())
        os._exit(0)
    os.close(write)
    with open(read, "rb") as file:
        line = file.read()
    os.waitpid(child, 0)
    return tuple(json.loads(line)) if line else ("error", "ended without a verdict")


def heard(
    report: bytes, ended: bool, status: int, compare: Callable[[dict], tuple[str, str]]
) -> tuple[str, str, list[str]]:
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
            case {"answers": dict(), "less": [str(), str()] | None, "late": str()}:
                return *compare(lines[2]), look
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
