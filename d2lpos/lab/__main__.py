"""The recorded studies from a terminal: `python -m d2lpos.lab --help`."""

import os
import sys
from argparse import ArgumentParser, Namespace
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from runpy import run_path
from statistics import median
from tempfile import TemporaryDirectory

import torch

from ..positions.arguments import check_name, check_positive
from ..runtime.interrupt import listen
from ..runtime.published import RESULTS
from . import encodings
from .experiment import execute
from .observed import page_table
from .plot import UNITS, describe, plot, table
from .probe import Probe
from .probes import PROBES, run_probe
from .publish import finished, publish
from .record import EVERY, records
from .report import duration
from .run import Run
from .store import Store
from .studies import STUDIES
from .summary import frame
from .sweep import sweep

STORE = Path("lab.sqlite")
SEEDS = 10_000  # at most: all runs are listed and checked before the first one starts


class Parser(ArgumentParser):
    def error(self, message: str) -> None:
        self.exit(2, f"{message}\n")


def parse(arguments: list[str] | None) -> Namespace:
    parser = Parser(prog="python -m d2lpos.lab", description="List, run and resume the recorded studies.")
    add = parser.add_argument
    add("study", nargs="?", help="what to run or resume; without it, the studies are listed")
    add("--seeds", type=int, help="how many: 0, 1, … (5; with --smoke 1); of trained models, passages")
    add("--device", choices=("cpu", "cuda"), default="cpu")
    add("--compile", action="store_true", help="train with torch.compile")
    ways = parser.add_mutually_exclusive_group()
    ways.add_argument("--jobs", type=int, help="runs at a time, each in its own process (1)")
    ways.add_argument("--cluster", help="local:4, or the address of a Dask cluster: tcp://host:port")
    add("--encodings", type=Path, metavar="FILE", help="a Python file that registers yours; they run, too")
    add("--retry", action="store_true", help="do failed runs again")
    add("--store", type=Path, help=f"keep runs in this file alone ({STORE} here, with the published runs)")
    add("--results", type=Path, help="the folder of the published runs (the book's)")
    add("--summary", action="store_true", help="run nothing; print what is there")
    add("--plot", type=Path, metavar="FILE", help="run nothing; draw what is there, as .svg or .png")
    ends = parser.add_mutually_exclusive_group()
    ends.add_argument(
        "--smoke", action="store_true", help="the same code in seconds; nothing is kept unless --store"
    )
    ends.add_argument(
        "--publish", action="store_true", help="in the end, add to the folder of published runs"
    )
    options = parser.parse_args(arguments)
    if options.seeds is None:
        options.seeds = 1 if options.smoke else 5
    if options.jobs is None:
        options.jobs = 1
    options.look = options.summary or options.plot is not None
    return options


def check(options: Namespace) -> None:
    if options.seeds > SEEDS:
        raise ValueError(f"seeds must be at most {SEEDS}; got {options.seeds}")
    check_positive(seeds=options.seeds, jobs=options.jobs)
    if options.study is not None:
        check_name("study", options.study, EVERY)
    elif options.look or options.publish:
        raise ValueError("--summary, --plot and --publish need the name of a study")
    if options.encodings and (options.study is None or options.publish):
        raise ValueError("--encodings needs the name of a study, and goes without --publish")
    if options.study in PROBES and (options.encodings or options.compile or options.plot):
        raise ValueError("--encodings, --compile and --plot go with studies that train")
    if options.encodings and not options.encodings.is_file():
        raise ValueError(f"there is no file {options.encodings}")
    if options.device == "cuda" and not (options.cluster or torch.cuda.is_available()):
        raise ValueError("--device cuda needs a GPU that PyTorch can use, and there is none")
    if options.plot is not None and options.plot.suffix not in (".svg", ".png"):
        raise ValueError(f"--plot must name a file that ends in .svg or .png; got {options.plot}")
    if options.look and options.store and not options.store.exists():
        raise ValueError(f"there is no store {options.store}")
    if options.results and not options.results.is_dir():
        raise ValueError(f"there is no folder {options.results}")
    if options.publish and not (options.results or RESULTS.parent.is_dir()):
        raise ValueError("--publish needs --results where d2lpos is not in a checkout of the book")


def read_encodings(file: Path | None) -> list[str]:
    """Run a file of the reader's, and return the names that it has registered."""
    before = dict(encodings.OWN)
    if file is not None:
        run_path(str(file))
    names = [name for name, own in encodings.OWN.items() if own is not before.get(name)]
    if file is not None and not names:
        raise ValueError(f"{file} registers no encoding: it must call d2lpos.lab.register")
    return names


def cost(runs: list[Run] | list[Probe], published: list[dict]) -> str:
    """Say how long runs take one after the other, by the published runs of the same encodings."""
    seconds = defaultdict(list)
    for record in published:
        run = record["run"]
        seconds[run.get("encoding") or Probe(**run).encoding].append(record["seconds"])
    if published:  # nobody has measured a reader's own
        usual = median(record["seconds"] for record in published)
        seconds |= {name: [usual] for name in encodings.OWN}
    if not all(run.encoding in seconds for run in runs):
        return "not measured yet"
    devices = sorted({record["machine"]["device"] for record in published})
    return f"about {duration(sum(median(seconds[run.encoding]) for run in runs))} on {' or '.join(devices)}"


def show_studies(options: Namespace) -> None:
    for name, study in EVERY.items():
        runs, published = study.runs(range(options.seeds)), records(name, options.results)
        print(f"{name}: {study.question}")
        print(
            f"    {len(runs)} runs with {options.seeds} seeds, {cost(runs, published)}; {len(published)} published"
        )


@contextmanager
def opened(options: Namespace) -> Iterator[Store]:
    """Open the store: a passing one for a smoke test, and for a look where there is none. A look writes nothing."""
    path = options.store or STORE
    if options.look and path.exists() and not (options.smoke and not options.store):
        yield Store(path, look=True)
        return
    with TemporaryDirectory() as folder:
        passing = options.look or options.smoke and not options.store
        store = Store(folder / STORE if passing else path)
        if not passing and not options.store:
            known = {key for key, state in store.states().items() if state == "finished"}
            for record in records(options.study, options.results):
                if record["key"] not in known:
                    store.finish(record)
        yield store


def collected(options: Namespace, store: Store, runs: list[Run]) -> list[dict]:
    """Return what is finished, in the order of the runs; what is published counts where no store was named."""
    available = finished(runs, store)
    if options.look and not (options.store or options.smoke):
        available += records(options.study, options.results)
    by_key = {record["key"]: record for record in reversed(available)}
    return [by_key[run.key] for run in runs if run.key in by_key]


def do(options: Namespace, store: Store, runs: list[Run]) -> int:
    """Do what is left of the runs, and return how many have failed."""
    states = store.states()
    left = [run for run in runs if states.get(run.key) != "finished"]
    time = "seconds" if options.smoke else cost(left, records(options.study, options.results))
    print(f"{options.study}: {EVERY[options.study].question}")
    print(f"{len(left)} of {len(runs)} runs to do" + f": {time}" * bool(left), flush=True)
    work = partial(execute, compiled=True) if options.compile else None
    work = run_probe if options.study in PROBES else work
    done = sweep(runs, store, work, options.jobs, options.cluster, options.device, options.retry)
    errors = store.errors()
    for run in runs:
        if run.key in errors:
            reason = errors[run.key].strip().splitlines()[-1]
            print(f"{run.encoding}, seed {run.seed}, failed (try --retry): {reason}", file=sys.stderr)
    return done["failed"]


def tell(options: Namespace, finished_records: list[dict]) -> None:
    if options.study in PROBES:
        if (cells := page_table(options.study, finished_records)) is not None:
            print("\nAs on the study's page: ± is half of a 95 % interval over passages of one text")
            print(cells.to_string())
        return
    value, rows = STUDIES[options.study].value, frame(finished_records)
    for split, part in rows.groupby("split"):
        print(f"\n{UNITS[value].capitalize()}, {split}: mean over seeds, with its 95 % interval")
        print(table(part, value).to_string())
    if options.plot is None:
        return
    from ..figures import show
    from ..figures.style import PAGE

    figure = plot(rows, value)
    if options.plot.suffix == ".png":
        figure.savefig(options.plot, dpi=200, facecolor=PAGE["paper"])
    else:
        options.plot.write_text(show(figure, describe(rows, value)).svg, encoding="utf-8")


def answer(options: Namespace) -> int:
    """Do what is asked of a study, and return how the process ends."""
    also = read_encodings(options.encodings)
    runs = EVERY[options.study].runs(range(options.seeds), options.smoke, also)
    with opened(options) as store:
        failed = 0 if options.look else do(options, store, runs)
        if done := collected(options, store, runs):
            devices = sorted({record["machine"]["device"] for record in done})
            print(f"{len(done)} of {len(runs)} runs are finished, on {' and '.join(devices)}")
            tell(options, done)
        elif options.look:
            raise ValueError(f"no run of {options.study} is finished yet")
        if options.publish and len(done) < len(runs):
            missing = f"{len(runs) - len(done)} of {len(runs)} runs are not finished"
            print(f"Nothing is published: {missing}", file=sys.stderr)
            return 1
        if options.publish:
            folder = options.results or RESULTS
            print(f"\n{publish(options.study, store, runs, folder)} runs are published in {folder}")
    return 1 if failed else 0


def main(arguments: list[str] | None = None) -> int:
    """Return how the process ends.

    0; 1 where runs have failed, or are not finished that were to be published; 2 where the call cannot be met;
    130 where it was interrupted; 141 where nobody reads what it prints.
    """
    options = parse(arguments)
    try:
        listen()
        check(options)
        code = 0
        if options.study is None:
            show_studies(options)
        else:
            code = answer(options)
        sys.stdout.flush()  # while a broken pipe can be caught
        return code
    except KeyboardInterrupt:
        resumable = not options.look and (options.store or not options.smoke)
        print("\nStopped." + " The same command goes on from here." * bool(resumable), file=sys.stderr)
        return 130
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for what Python flushes at its end
        return 141
    except (ValueError, ImportError, OSError) as error:
        print(error, file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
