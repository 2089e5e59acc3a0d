"""Run the book on a GPU, and measure there what a CPU cannot: python -m tests.rehearsals.gpu [FOLDER]

It prints Markdown, and writes the same and a record of each part into FOLDER (_build/gpu) as it goes, so that a run that is cut
off keeps what it has. It needs PyTorch, NumPy, pytest and matplotlib, works from the tree, and names what it leaves out.
Its exit status is 0 where every test passes, every chapter runs and every check takes what a GPU has computed. A bound of
speed that is not kept is printed, and fails nothing: another card has others.

--only tests chapters checks speed: these parts. --smoke: on a CPU, of a few tokens, to try the command.
"""

import argparse
import io
import json
import os
import platform
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import redirect_stderr, redirect_stdout
from importlib.util import find_spec
from multiprocessing import get_context
from pathlib import Path

import torch
from torch.utils._pytree import tree_map

from benchmarks import measure
from benchmarks.gpu import contests
from d2lpos.lab.machine import installed

ROOT = Path(__file__).parents[2]
PACKAGES = ("torch", "triton", "transformers", "numpy", "rotary-embedding-torch", "x-transformers", "liger-kernel")
CHOICE = '"cuda" if torch.cuda.is_available() else "cpu"'
NOT_NEEDED = ("IPython", "ipywidgets")  # of figures that one touches; a script has no page for them

Record = dict[str, object]


def machine(device: str) -> Record:
    """The card, its memory's bandwidth as its maker states it, in GB/s, and the versions; None what is missing."""
    found = {"python": platform.python_version(), "cuda": torch.version.cuda}
    found |= {name: installed(name) for name in PACKAGES} | {"torch": torch.__version__}
    if device == "cpu":
        return {"device": "cpu", "bandwidth": None} | found
    card = torch.cuda.get_device_properties(0)
    clock, width = (getattr(card, name, 0) for name in ("memory_clock_rate", "memory_bus_width"))
    return {"device": card.name, "bandwidth": round(2 * clock * width / 8e6) or None} | found


def tests(device: str, smoke: bool) -> Iterator[Record]:
    """The tests that wait for a GPU, apart from the book's other tests and what these need."""
    command = [
        sys.executable, "-m", "pytest", "-q", "-rf", "--tb=short", "--show-capture=no", "-W", "ignore", "-c", os.devnull, f"--rootdir={ROOT}", "--confcutdir=tests/core",
        "--import-mode=importlib", "-p", "no:cacheprovider", "tests/core/test_gpu.py", *["-k", "float32"] * smoke,
        *["-n", "8"] * (find_spec("xdist") is not None and not smoke),
    ]  # fmt: skip
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    lines = (done.stdout + done.stderr).strip().splitlines() or ["nothing was said"]
    faults = [line for line in lines if line.startswith(("FAILED", "ERROR"))]
    counts = [line for line in lines if " passed" in line or " failed" in line]
    yield {"name": "tests", "told": (counts or lines)[-1], "faults": faults or lines[-20:] * (done.returncode > 0), "log": lines[-400:]}


def chapters(device: str, smoke: bool) -> Iterator[Record]:
    """All cells of the chapters that choose a device, solutions too, each chapter in a process of its own."""
    paths = sorted((ROOT / "chapters").glob("**/[0-9p]*.ipynb"))
    paths = [path for path in paths if any(CHOICE in source for source in cells_of(path))]
    paths = [path for path in paths if path.name[:2] == "02"] if smoke else paths
    with ProcessPoolExecutor(min(len(paths), os.cpu_count() or 1), get_context("spawn")) as pool:
        yield from pool.map(chapter, paths, [device] * len(paths))


def cells_of(path: Path) -> list[str]:
    cells = json.loads(path.read_text("utf-8"))["cells"]
    return ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]


def chapter(path: Path, device: str) -> Record:
    """What a chapter's cells complain of; a check that refuses its solution counts."""
    os.environ["MPLBACKEND"] = "agg"
    start, names, faults, left_out, sources = time.perf_counter(), {"__name__": "__main__"}, [], 0, cells_of(path)
    for number, source in enumerate(sources):
        source = source.replace('!"{executable}"', "pass  # ").replace(CHOICE, repr(device))
        with redirect_stdout(io.StringIO()) as told, redirect_stderr(told):
            try:
                exec(compile(source, f"{path.name}, cell {number}", "exec"), names)  # noqa: S102, our own cells
            except ImportError as error:
                left_out += error.name in NOT_NEEDED
                faults += [f"cell {number}: {error}"] * (error.name not in NOT_NEEDED)
            except Exception as error:  # noqa: BLE001, any of them is a fault
                faults.append(f"cell {number}: {type(error).__name__}: {str(error)[:300]}")
        faults += [f"cell {number}: {line}" for line in told.getvalue().splitlines() if line.startswith("✗")]
    told = f"{len(sources)} cells, {time.perf_counter() - start:.1f} s" + f", {left_out} left out" * (left_out > 0)
    return {"name": path.stem, "told": told, "faults": faults}


def checks(device: str, smoke: bool) -> Iterator[Record]:
    """Each exercise's check with the book's answer, computed on the device and left there."""
    from tests.check.exercises import CHECKS

    refused = []
    for check in CHECKS:
        verdict = check(there(check.reference, device))
        refused += [] if verdict else [f"{check.name}: {verdict}"]
    yield {"name": "checks", "told": f"{len(CHECKS) - len(refused)} of {len(CHECKS)} take it", "faults": refused}


def there(answer: Callable, device: str) -> Callable:
    """An answer that leaves on a device what it gives."""

    def moved(value: object) -> object:
        return value.to(device) if type(value) is torch.Tensor else value

    if isinstance(answer, type) or not callable(answer):
        return answer
    return lambda *given: tree_map(moved, answer(*given))


def speed(device: str, smoke: bool) -> Iterator[Record]:
    """The benchmarks; a contender that does not run there is named with its reason."""
    warnings.simplefilter("ignore")  # why each of PyTorch's programs was not taken
    numbers = torch.empty(2**20 if smoke else 2**30, dtype=torch.uint8, device=device)
    best = min(measure.seconds(numbers.clone, device) for _ in range(10))
    pace, most = 2 * numbers.numel() / best / 1e9, machine(device)["bandwidth"]
    share = f", {pace / most:.0%} of the specification" if most else ""
    yield {"name": "copy", "told": f"{pace:.0f} GB/s{share}", "faults": []}
    del numbers
    found = contests(device, smoke)
    while True:
        try:
            contest = next(found)
        except StopIteration:
            return
        except Exception as error:  # noqa: BLE001, what this card or these versions do not have
            yield {"name": "contest", "told": f"ends here: {type(error).__name__}: {str(error)[:300]}", "faults": []}
            return
        left_out = {}
        for name, call in list(contest.contenders.items()):
            try:
                call()
            except Exception as error:  # noqa: BLE001, as above
                left_out[name] = f"{type(error).__name__}: {str(error).splitlines()[0][:200]}"
                del contest.contenders[name]
        try:
            rows = measure.run(contest, 2 if smoke else 10, device)
        except Exception as error:  # noqa: BLE001, as above
            yield {"name": contest.name, "told": f"{type(error).__name__}: {str(error)[:300]}", "faults": []}
            continue
        ours = [float(row["Speed"].split()[0]) for row in rows if "`" in row["Contender"]]
        short = bool(contest.bound and ours and max(ours) < contest.bound)
        record = {"name": contest.name, "told": contest.title, "faults": [], "rows": rows, "left out": left_out}
        yield record | {"bound": contest.bound, "short": short}


PARTS = {"tests": tests, "chapters": chapters, "checks": checks, "speed": speed}


def markdown(record: Record) -> str:
    """A record as the page shows it."""
    if "rows" not in record:
        lines = [f"- {record['name']}: {record['told']}", *(f"  - {fault}" for fault in record["faults"])]
        return "\n".join(lines)
    rows = record["rows"]
    lines = ["", f"**{record['told']}**", "", *measure.markdown(rows)]
    lines += ["", *(f"Left out: {name} ({why})" for name, why in record["left out"].items())]
    if record["short"]:
        lines.append(f"Short of its bound: ours should be at least {record['bound']} times as fast as the first.")
    return "\n".join(lines)


def headline(about: Record) -> str:
    named = ", ".join(f"{name} {about[name] or 'not here'}" for name in ("python", "cuda", *PACKAGES))
    wide = f", {about['bandwidth']} GB/s of bandwidth by its specification" if about["bandwidth"] else ""
    return f"{about['device']}{wide}; {named}"


def main() -> int:
    """Return how the process ends."""
    parser = argparse.ArgumentParser(prog="python -m tests.rehearsals.gpu", description=__doc__.partition("\n")[0])
    parser.add_argument("folder", nargs="?", type=Path, default=Path("_build/gpu"))
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--smoke", action="store_true", help="on a CPU, of a few tokens")
    options = parser.parse_args()
    if not (options.smoke or torch.cuda.is_available()):
        parser.error("there is no GPU that PyTorch can use; --smoke tries the command on a CPU")
    device = "cpu" if options.smoke else "cuda"
    options.folder.mkdir(exist_ok=True, parents=True)
    failed, start, about = False, time.perf_counter(), machine(device)
    with (options.folder / "gpu.md").open("w") as page, (options.folder / "gpu.jsonl").open("w") as records:

        def tell(text: str, record: Record) -> None:
            for file in page, sys.stdout:
                print(text, file=file, flush=True)
            print(json.dumps(record), file=records, flush=True)

        tell(headline(about), {"part": "machine"} | about)
        for part in options.only:
            for record in PARTS[part](device, options.smoke):
                record |= {"part": part, "at": round(time.perf_counter() - start, 1)}
                tell(markdown(record), record)
                failed |= bool(record["faults"])
    print(f"\n{time.perf_counter() - start:.0f} s in all")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
