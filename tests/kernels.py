"""Kernels that have torch at once: forks of a process that has imported what notebooks import, and nothing of the package.

The imports of a new kernel cost three seconds of a processor and more, and the cells of most notebooks less. Under pytest
each kernel is a fork, whoever asks Jupyter for it. It is a new process where one cannot safely be forked, where another
command shall be run, and where what libraries read of the environment as they are imported has changed.
"""

import gc
import importlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from importlib.metadata import EntryPoint
from pathlib import Path

from jupyter_client.connect import KernelConnectionInfo
from jupyter_client.provisioning import KernelProvisionerFactory, LocalProvisioner

from tests.warm import become, move

ROOT = Path(__file__).parents[1]
KERNEL = [sys.executable, "-m", "ipykernel_launcher"]
IMPORTED = (
    "ipykernel.ipkernel", "ipykernel.kernelapp", "ipywidgets", "matplotlib.backends.backend_svg", "matplotlib.pyplot",
    "pandas", "scipy.stats", "torch", "torch._dynamo",
)  # fmt: skip
READ_EARLY = ("CUDA", "KMP", "MKL", "MPL", "OMP", "OPENBLAS", "PYTHON", "PYTORCH", "TORCH")
# joblib, threadpoolctl and Inductor set these themselves, in the tests' process as in every kernel that imports them.
SET_BY_LIBRARIES = {"KMP_DUPLICATE_LIB_OK", "KMP_INIT_AT_FORK", "TORCHINDUCTOR_CACHE_DIR"}
# What a kernel chooses before its first cell, and matplotlib reads as it is imported.
BACKEND = {"MPLBACKEND": "module://matplotlib_inline.backend_inline"}


class Kernels:
    """The process that forks them. It starts with the first, and when it ends, so do the kernels it still has."""

    process = None

    def __init__(self):
        self.environment = dict(os.environ)  # before a test changes it
        self.sockets = tempfile.TemporaryDirectory()

    def can_start(self, command: list[str], environment: dict[str, str]) -> bool:
        ours = sys.platform == "linux" and command[: len(KERNEL)] == KERNEL
        return ours and early(environment) == early(self.environment)

    def start(self, *request: object) -> int:
        if not self.process:
            # In a session of its own: Ctrl-C is meant for pytest, which then ends its kernels.
            self.process = subprocess.Popen(
                [sys.executable, "-m", __name__, *IMPORTED], cwd=ROOT, env=self.environment,
                start_new_session=True, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            )  # fmt: skip
        return self.ask("start", *request)

    def ask(self, *request: object) -> int | None:
        print(json.dumps(request), file=self.process.stdin, flush=True)
        return json.loads(self.process.stdout.readline())

    def end(self) -> None:
        if self.process:
            self.process.communicate()
            self.process = None
        self.sockets.cleanup()


kernels = Kernels()


def early(environment: dict[str, str]) -> dict[str, str]:
    """The part of an environment that libraries read as they are imported."""
    names = [name for name in environment if name.startswith(READ_EARLY) and name not in SET_BY_LIBRARIES]
    return {name: environment[name] for name in names}


class Kernel:
    """One of the forks, as far as Jupyter knows a process."""

    stdin = stdout = stderr = returncode = None

    def __init__(self, pid: int):
        self.pid = pid

    def poll(self) -> int | None:
        if self.returncode is None:
            self.returncode = kernels.ask("poll", self.pid)
        return self.returncode

    def wait(self) -> int:
        while self.poll() is None:
            time.sleep(0.01)
        return self.returncode

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)


class Provisioner(LocalProvisioner):
    """What Jupyter gets its kernels from."""

    async def pre_launch(self, **options) -> dict:
        # Sockets that are files: two processes that look for a free port at once can both find the same.
        self.parent.transport = "ipc"
        self.parent.ip = f"{kernels.sockets.name}/{self.kernel_id}"
        return await super().pre_launch(**options)

    async def launch_kernel(self, cmd: list[str], **options) -> KernelConnectionInfo:
        if not kernels.can_start(cmd, options["env"]):
            return await super().launch_kernel(cmd, **options)
        self.cwd, quiet = str(options.get("cwd") or Path.cwd()), options.get("stderr") is not None
        self.pid = self.pgid = kernels.start(cmd[1:], self.cwd, options["env"], quiet)
        self.process = Kernel(self.pid)
        return self.connection_info


def pytest_configure() -> None:
    factory = KernelProvisionerFactory.instance()
    factory.provisioners["fork"] = EntryPoint("fork", f"{__name__}:{Provisioner.__name__}", factory.GROUP_NAME)
    factory.default_provisioner_name = "fork"


def pytest_unconfigure() -> None:
    kernels.end()


def serve() -> None:
    """Read what to do, and write what came of it: start a kernel, its number; poll one, the status in which it ended."""
    running = set()
    for line in sys.stdin:
        what, *request = json.loads(line)
        if what == "poll":
            ended, status = os.waitpid(*request, os.WNOHANG)
            answer = os.waitstatus_to_exitcode(status) if ended else None
            running.discard(ended)
        elif answer := os.fork():
            running.add(answer)
        else:
            return start(*request)  # and end as every Python does
        print(json.dumps(answer), flush=True)
    for kernel in running:
        os.kill(kernel, signal.SIGKILL)
        os.waitpid(kernel, 0)


def start(command: list[str], folder: str, environment: dict[str, str], quiet: bool) -> None:
    """Be the kernel; where it shall be quiet, what it says of itself is lost."""
    os.setsid()
    null = os.open(os.devnull, os.O_RDWR)
    move([null] * (3 if quiet else 2), folder, environment | {"JPY_PARENT_PID": str(os.getppid())})
    for module in ("numpy.random", "torch"):  # Python's own chance begins anew in each fork
        if module in sys.modules:
            sys.modules[module].seed()
    become(*command)


if __name__ == "__main__":
    # A kernel reads, as it is imported, whose end is its own.
    os.environ |= {**BACKEND, **os.environ, "JPY_PARENT_PID": str(os.getpid())}
    for module in sys.argv[1:]:
        importlib.import_module(module)
    gc.freeze()  # as in tests/warm.py
    serve()
