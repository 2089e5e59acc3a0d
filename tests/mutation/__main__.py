"""Which mistakes in the package would no test notice? `python -m tests.mutation --help`"""

import json
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from queue import SimpleQueue
from random import Random

from scipy.stats import binomtest

from tests.house import ENCODERS

from .equivalent import EQUIVALENT
from .host import CORE, LAB, ROOT, Host
from .rules import Mutant, mutants, named

# What is mutated, the tests that may notice, and what they import. Left out are tests of minutes in which real processes die.
PARTS = {
    "core": (("d2lpos/encoding.py", *(f"d2lpos/{room}/*.py" for room in ENCODERS)), ("tests/core/test_*.py", "tests/api/test_[de]*.py"), CORE),
    "lab": (("d2lpos/lab/*.py",), ("tests/lab/test_*.py", "tests/api/test_[de]*.py"), CORE + LAB),
    "check": (("d2lpos/check/verdict.py", "d2lpos/check/cases.py"), ("tests/check/test_[rvw]*.py", "tests/check/test_cases.py"), CORE),
}
LEFT_OUT = {"tests/lab/test_kill.py"}
MEASURED = ROOT / "_build" / "mutation.json"


def paths(patterns: tuple[str, ...]) -> list[str]:
    return sorted(
        {str(path.relative_to(ROOT)) for pattern in patterns for path in ROOT.glob(pattern)} - LEFT_OUT
    )


class Runner:
    """Asks several hosts at a time."""

    def __init__(self, stack: ExitStack, jobs: int, libraries: tuple[str, ...]):
        self.hosts, self.pool = SimpleQueue(), stack.enter_context(ThreadPoolExecutor(jobs))
        for _ in range(jobs):
            self.hosts.put(stack.enter_context(Host(*libraries)))

    def ask(self, *question, **more) -> dict:
        host = self.hosts.get()
        try:
            return host.ask(*question, **more)
        finally:
            self.hosts.put(host)

    def measure(self, tests: list[str]) -> dict:
        """For each file of the package and each line, the tests that run it; and how long each test takes."""
        replies = list(self.pool.map(lambda test: self.ask([test], record=True, limit=600), tests))
        lines: dict[str, dict[str, list[str]]] = {}
        for file, by_line in (item for part in replies for item in part["lines"].items()):
            for line, names in by_line.items():
                lines.setdefault(file, {}).setdefault(line, []).extend(names)
        times = {name: seconds for part in replies for name, seconds in part["times"].items()}
        busy = {name for by_line in lines.values() for names in by_line.values() for name in names}
        return {"lines": lines, "times": times, "idle": sorted(times.keys() - busy)}

    def notice(self, file: str, mutant: Mutant, measured: dict) -> str | None:
        """What notices a mutant: the first test that fails, or what else went wrong; None where nothing does."""
        module = file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        for tests in rounds(file, mutant, measured):
            reply = self.ask(tests, module, mutant.text)
            if reply["code"]:
                return reply["failed"] or f"ended with {reply['code']}"
        return None


def rounds(file: str, mutant: Mutant, measured: dict) -> Iterator[list[str]]:
    """The tests that run a mutant, file by file, the file's own first; of each kind, as many as fit into a second.

    What runs when a file is imported is in all tests of that file, and in those that look at signatures alone.
    """
    lines, times = measured["lines"].get(file, {}), measured["times"]
    touched = [str(line) for line in range(mutant.first, mutant.last + 1)]
    tests = {test for line in touched for test in lines.get(line, [""])}
    if "" in tests:  # not in a test, but when the file is imported
        tests = {test for names in lines.values() for test in names if test}.union(measured["idle"])
    own = f"/test_{Path(file).stem}.py"
    tests.update(
        test for test in times if f"{own}::" in test
    )  # what a fixture ran counts for its first test alone
    spent: Counter[str] = Counter()
    by_file: dict[str, list[tuple[float, str]]] = {}
    for test in sorted(tests, key=times.get):
        kind = test.partition("[")[0]
        if spent[kind] < 1:
            by_file.setdefault(kind.partition("::")[0], []).append((spent[kind], test))
        spent[kind] += times[test]
    for name in sorted(
        by_file, key=lambda name: (not name.endswith(own), sum(times[t] for _, t in by_file[name]))
    ):
        yield [test for _, test in sorted(by_file[name])]


def main() -> None:
    parser = ArgumentParser(prog="python -m tests.mutation", description=__doc__)
    parser.add_argument("files", nargs="*", help="some of the files; all by default")
    parser.add_argument("--sample", type=int, help="mutants of a file, at most; all by default")
    parser.add_argument("--seed", type=int, default=0, help="of the sample (0)")
    parser.add_argument("--jobs", type=int, default=2, help="at a time (2)")
    parser.add_argument(
        "--measured", action="store_true", help="take which tests run what from the last time"
    )
    options = parser.parse_args()
    for part, (sources, tests, libraries) in PARTS.items():
        sources = [file for file in paths(sources) if not options.files or file in options.files]
        if sources:
            with ExitStack() as stack:
                report(part, sources, paths(tests), Runner(stack, options.jobs, libraries), options)


def report(part: str, sources: list[str], tests: list[str], runner: Runner, options) -> None:
    """Print a row for each file, below it what nobody noticed, and in the end how sure the share is."""
    store = MEASURED.with_stem(f"mutation-{part}")
    if not options.measured or not store.exists():
        store.parent.mkdir(exist_ok=True)
        store.write_text(json.dumps(runner.measure(tests)))
    measured = json.loads(store.read_text())
    print("file  mutants  equivalent  killed  survived")
    all_killed = all_tried = 0
    for file in sources:
        made = mutants((ROOT / file).read_text("utf-8"))
        known = {mutant for words in EQUIVALENT.get(file, {}) for mutant in named(words, made)}
        left = [mutant for mutant in made if mutant not in known]
        tried = left
        if options.sample and options.sample < len(left):
            tried = Random(options.seed).sample(left, options.sample)
        noticed = list(runner.pool.map(lambda m, f=file: runner.notice(f, m, measured), tried))
        survived = [mutant for mutant, by in zip(tried, noticed, strict=True) if by is None]
        killed = len(tried) - len(survived)
        of = f" of {len(tried)} tried" * (tried != left)
        print(f"{file}  {len(made)}  {len(made) - len(left)}  {killed}  {len(survived)}{of}", flush=True)
        for mutant in survived:
            print(f"    {mutant}", flush=True)
        all_killed, all_tried = all_killed + killed, all_tried + len(tried)
    if all_tried:
        low, high = binomtest(all_killed, all_tried).proportion_ci(method="wilson")
        print(
            f"{part}: {all_killed} of {all_tried} die, {all_killed / all_tried:.1%} ({low:.1%} … {high:.1%})\n"
        )


if __name__ == "__main__":
    main()
