"""A Python that has torch at once: a fork of a process that has imported torch, and nothing of the package.

    def test_it_is_light(python):
        assert python("-c", "import d2lpos").returncode == 0

To import torch costs two seconds of a processor, and what a test wants from a process of its own often less than one.
Where a process cannot safely be forked, each is a new one.
"""

import gc
import json
import os
import runpy
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryFile
from types import ModuleType
from typing import Self


class Python:
    """`with Python() as python` starts the process and ends it; it runs one fork at a time."""

    def __enter__(self) -> Self:
        command = [sys.executable, __file__]
        if sys.platform == "linux":
            self.process = subprocess.Popen(command, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        return self

    def __exit__(self, *_) -> None:
        if sys.platform == "linux":
            self.process.communicate()

    def __call__(self, *arguments: object) -> subprocess.CompletedProcess:
        """What comes of `python ARGUMENTS` here and now: of -c CODE, -m MODULE or a file, and its arguments."""
        command = list(map(str, arguments))
        if sys.platform != "linux":
            return subprocess.run([sys.executable, *command], capture_output=True, text=True, check=False)
        print(json.dumps([command, os.getcwd(), dict(os.environ)]), file=self.process.stdin, flush=True)
        return subprocess.CompletedProcess(command, *json.loads(self.process.stdout.readline()))


def move(files: list[int], folder: str, environment: dict[str, str]) -> None:
    """Go where a new Python would have started: its first files, its folder and its environment."""
    for number, file in enumerate(files):
        os.dup2(file, number)
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)


def become(what: str, *arguments: str) -> None:
    """Do what a new Python does with these arguments."""
    if what == "-c":
        sys.argv, sys.path[0] = [what, *arguments[1:]], ""
        main = sys.modules["__main__"] = ModuleType("__main__")
        exec(arguments[0], vars(main))  # noqa: S102, as -c does
    elif what == "-m":
        sys.argv, sys.path[0] = list(arguments), os.getcwd()
        runpy.run_module(arguments[0], run_name="__main__", alter_sys=True)
    else:
        sys.argv, sys.path[0] = [what, *arguments], str(Path(what).resolve().parent)
        runpy.run_path(what, run_name="__main__")


def serve() -> None:
    """Read what to run, each in a fork, and write the status in which it ended and what it printed."""
    for line in sys.stdin:
        command, folder, environment = json.loads(line)
        with TemporaryFile("w+") as out, TemporaryFile("w+") as err:
            if not (child := os.fork()):
                move([os.open(os.devnull, os.O_RDONLY), out.fileno(), err.fileno()], folder, environment)
                return become(*command)  # and end as every Python does
            code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            out.seek(0), err.seek(0)
            print(json.dumps([code, out.read(), err.read()]), flush=True)


if __name__ == "__main__":
    import torch  # noqa: F401

    gc.freeze()  # else each fork would copy nearly all of the memory, to count references in it
    serve()
