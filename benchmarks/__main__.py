"""Print the tables as Markdown: `python -m benchmarks [rope] [bias] [--rounds 20] [--device cuda]`."""

import argparse
import importlib
import platform
from importlib.metadata import version

import torch

from d2lpos.threads import one_thread

from .measure import run

SUBJECTS = ("rope", "bias")
PEERS = ("torch", "transformers", "rotary-embedding-torch", "x-transformers")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument(
        "subjects", nargs="*", metavar="SUBJECT", help=f"{', '.join(SUBJECTS)} (default: all)"
    )
    parser.add_argument(
        "--rounds", type=int, default=20, help="each contender runs once a round (default: 20)"
    )
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu", help="on a CPU, one thread")
    arguments = parser.parse_args()
    if unknown := set(arguments.subjects) - set(SUBJECTS):
        parser.error(f"subjects are {', '.join(SUBJECTS)}; got {', '.join(sorted(unknown))}")
    if arguments.rounds < 1:
        parser.error(f"--rounds must be positive; got {arguments.rounds}")
    if arguments.device == "cuda" and not torch.cuda.is_available():
        parser.error("--device cuda needs a GPU that torch can use; there is none")
    print(", ".join(f"{peer} {version(peer)}" for peer in PEERS))
    print(
        torch.cuda.get_device_name() if arguments.device == "cuda" else f"{processor()}, one thread, float32"
    )
    with one_thread():
        for subject in arguments.subjects or SUBJECTS:
            for contest in importlib.import_module(f".{subject}", __package__).contests(arguments.device):
                rows = run(contest, arguments.rounds, arguments.device)
                print(f"\n### {contest.title}\n")
                print("| " + " | ".join(rows[0]) + " |")
                print("|:--|" + "--:|" * (len(rows[0]) - 1))
                for row in rows:
                    print("| " + " | ".join(row.values()) + " |", flush=True)


def processor() -> str:
    """The processor's name, where the system tells it."""
    try:
        with open("/proc/cpuinfo") as lines:
            return next(line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


if __name__ == "__main__":
    main()
