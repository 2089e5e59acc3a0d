"""Measure speed side by side and print Markdown tables: `python -m benchmarks [rope] [attention] [--device cuda]`."""

import argparse
import csv
import importlib
import os
import platform
import subprocess
import sys
from datetime import date
from importlib.metadata import version
from pathlib import Path

import torch

from d2lpos.lab.machine import processor
from d2lpos.runtime.threads import one_thread

from .measure import markdown, run

SUBJECTS = ("rope", "bias", "skew", "sinusoidal", "training", "attention", "fused", "rulers")
ALONE = ("attention", "fused", "rulers")  # whose tables have a line of their own that tells of the run
PEERS = ("torch", "transformers", "rotary-embedding-torch", "x-transformers")
TABLES = Path(__file__).parents[1] / "book" / "benchmarks"

# Above 32 MB, glibc takes fresh pages from the system for every tensor, unless it is told otherwise.
MALLOC = "glibc.malloc.mmap_threshold=4294967296:glibc.malloc.trim_threshold=68719476736"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument(
        "subjects", nargs="*", metavar="SUBJECT", help=f"{', '.join(SUBJECTS)} (default: all)"
    )
    parser.add_argument(
        "--rounds", type=int, default=20, help="each contender runs once a round (default: 20)"
    )
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu", help="on a CPU, one thread")
    parser.add_argument(
        "--kept", action="store_true", help="on a CPU: reuse memory, as smaller tensors and every GPU do"
    )
    parser.add_argument("--write", action="store_true", help="write the tables of the book too: all of them")
    arguments = parser.parse_args()
    tunable = arguments.device == "cpu" and platform.libc_ver()[0] == "glibc"
    if arguments.kept and not tunable:
        parser.error("--kept needs a CPU and glibc, whose malloc can be told to keep memory")
    if arguments.kept and os.environ.get("GLIBC_TUNABLES") != MALLOC:
        command = [sys.executable, "-m", "benchmarks", *sys.argv[1:]]
        sys.exit(subprocess.run(command, env=os.environ | {"GLIBC_TUNABLES": MALLOC}, check=False).returncode)
    if unknown := set(arguments.subjects) - set(SUBJECTS):
        parser.error(f"subjects are {', '.join(SUBJECTS)}; got {', '.join(sorted(unknown))}")
    if arguments.rounds < 1:
        parser.error(f"--rounds must be positive; got {arguments.rounds}")
    if arguments.device == "cuda" and not torch.cuda.is_available():
        parser.error("--device cuda needs a GPU that torch can use; there is none")
    if arguments.write and not set(arguments.subjects) <= set(ALONE) and not arguments.kept:
        parser.error(
            f"--write measures every subject, so that all tables are from one run; name none, or {' or '.join(ALONE)}"
        )
    where = torch.cuda.get_device_name() if arguments.device == "cuda" else f"{processor()}, one thread"
    peers = ", ".join(f"{peer} {version(peer)}" for peer in PEERS)
    about = f"{where}, float32; {peers}; {arguments.rounds} rounds; {date.today()}"
    print(about + ", memory is reused" * arguments.kept)
    with one_thread():
        for subject in arguments.subjects or SUBJECTS:
            for contest in importlib.import_module(f".{subject}", __package__).contests(arguments.device):
                rows = run(contest, arguments.rounds, arguments.device)
                show(contest.title, rows)
                if arguments.write:
                    write(f"{contest.name}{'-kept' * arguments.kept}-{arguments.device}", rows)
    if arguments.write and not arguments.kept:
        for name in arguments.subjects or ["", *ALONE]:
            (TABLES / f"{name}-{arguments.device}.txt".removeprefix("-")).write_text(f"{about}\n")
    if tunable and not arguments.kept and "rope" in (arguments.subjects or SUBJECTS):
        again = ["rope", "--kept", "--rounds", str(arguments.rounds), *["--write"] * arguments.write]
        print(flush=True)
        subprocess.run([sys.executable, "-m", "benchmarks", *again], check=True)


def show(title: str, rows: list[dict[str, str]]) -> None:
    """The table as Markdown."""
    print(f"\n### {title}\n")
    print(*markdown(rows), sep="\n", flush=True)


def write(name: str, rows: list[dict[str, str]]) -> None:
    """The table as a file of the book."""
    TABLES.mkdir(exist_ok=True)
    with (TABLES / f"{name}.csv").open("w", newline="") as file:
        table = csv.DictWriter(file, rows[0].keys(), lineterminator="\n")
        table.writeheader()
        table.writerows(rows)


if __name__ == "__main__":
    main()
