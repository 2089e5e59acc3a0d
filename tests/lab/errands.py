"""Quick stand-ins for runs and for the work that they take, and a driver that is a process of its own.

python -m tests.lab.errands FOLDER WORK COUNT OPTIONS waits for the file "go" and sweeps; OPTIONS for `sweep` are JSON.
"""

import json
import os
import signal
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from threading import Thread

import torch

from d2lpos.lab import Store, sweep

PATIENCE = 120  # seconds that a slow machine may take for anything below


@dataclass(frozen=True)
class Errand:
    """What is done is noted in the file "done" of a folder, so that it can be counted."""

    number: int
    folder: str

    @property
    def key(self):
        return f"{self.number:016x}"

    def fields(self):
        return asdict(self)


def errands(count, folder):
    return [Errand(number, str(folder)) for number in range(count)]


def record(run, **more):
    return {"key": run.key, "run": run.fields()} | more


def note(run, name="done"):
    """Append a line with the number and the process; short appends of several processes do not mix."""
    with open(Path(run.folder) / name, "a") as file:
        file.write(f"{run.number} {os.getpid()}\n")


def noted(folder, name="done"):
    """The numbers and the processes of all notes."""
    file = Path(folder) / name
    return [tuple(map(int, text.split())) for text in file.read_text().splitlines()] if file.exists() else []


def until(holds, seconds=PATIENCE):
    """Wait for a condition, and return it."""
    end = time.monotonic() + seconds
    while not (value := holds()):
        assert time.monotonic() < end, "what was waited for did not come"
        time.sleep(0.02)
    return value


def walk(run, device):
    note(run)
    return record(run, device=device, threads=torch.get_num_threads(), metrics=[{"loss": 0.1 * run.number}])


def trip(run, device):
    """Odd errands raise, until a file "fixed" is there."""
    if run.number % 2 and not (Path(run.folder) / "fixed").exists():
        raise RuntimeError(f"errand {run.number} tripped")
    return walk(run, device)


def leave(run, device):
    sys.exit("errand left")


def dawdle(run, device):
    """From the third errand on, wait for a file "gate"."""
    note(run, "started")
    if run.number > 1:
        until((Path(run.folder) / "gate").exists)
    return walk(run, device)


def meet(run, device):
    """Errand 0 waits until another process has done one, so that two drivers take part."""
    if run.number == 0:
        until(lambda: any(process != os.getpid() for _, process in noted(run.folder)))
    return walk(run, device)


def die(run, device, mortal=(1,)):
    """Every process that has errand 1 is killed."""
    note(run, "started")
    if run.number in mortal:
        os.kill(os.getpid(), signal.SIGKILL)
    return walk(run, device)


def die_or_slip(run, device):
    """And so is the first that has errand 3."""
    slipped = any(number == 3 for number, _ in noted(run.folder, "started"))
    return die(run, device, mortal=(1,) if slipped else (1, 3))


def doze(run, device):
    """The process that has done errand 0 is killed once that is stored; errand 1 takes until errand 2 is done."""
    if run.number == 0:
        Thread(target=lambda: until((Path(run.folder) / "stored").exists) and os.kill(os.getpid(), 9)).start()
    if run.number == 1:
        until(lambda: any(number == 2 for number, _ in noted(run.folder)))
    return walk(run, device)


if __name__ == "__main__":
    folder, work, count, options = sys.argv[1:]
    (Path(folder) / f"up {os.getpid()}").touch()
    until((Path(folder) / "go").exists)
    store = Store(Path(folder) / "lab.sqlite")
    print(json.dumps(sweep(errands(int(count), folder), store, globals()[work], **json.loads(options))))
