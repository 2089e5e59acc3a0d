"""A kernel of the tests, which is a fork, gives what a new one gives, and ends as one."""

import json
import sys
from pathlib import Path

import nbformat
import psutil
import pytest
from jupyter_client.manager import KernelManager
from jupyter_client.provisioning import KernelProvisionerFactory
from nbclient import NotebookClient

from tests import kernels
from tests.kernels import BACKEND, Kernel, Kernels

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="kernels are forked on Linux alone")

FACTS = """
import json, os, signal, sys, matplotlib
print(json.dumps({
    "main": __name__, "arguments": sys.argv[1:2], "folder": os.getcwd(), "path": sys.path,
    "leads": os.getsid(0) == os.getpgid(0) == os.getpid(), "parent": os.environ.pop("JPY_PARENT_PID") == str(os.getppid()),
    "environment": dict(os.environ), "input": sys.stdin.read(), "interrupt": str(signal.getsignal(signal.SIGINT)),
    "package": [name for name in sys.modules if name.startswith("d2lpos")],
    "drawing": {name: str(value) for name, value in matplotlib.rcParams.items()},
}))
"""
def printed(code: str, folder: Path, **options) -> str:
    """What a kernel that runs in a folder prints, or the name of its error."""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code)])
    place = {"metadata": {"path": folder}}
    NotebookClient(
        notebook, startup_timeout=300, kernel_name="python3", resources=place, allow_errors=True, **options
    ).execute()
    [output] = notebook.cells[0].outputs
    return output.get("text") or output.ename


def test_it_gives_what_a_new_one_gives(tmp_path, monkeypatch):
    monkeypatch.setenv("D2LPOS_WEIGHTS", "elsewhere")
    forked = json.loads(printed(FACTS, tmp_path))
    monkeypatch.setattr(KernelProvisionerFactory.instance(), "default_provisioner_name", "local-provisioner")
    assert forked == json.loads(printed(FACTS, tmp_path))
    assert forked["folder"] == str(tmp_path) and forked["environment"]["D2LPOS_WEIGHTS"] == "elsewhere"
    assert forked["leads"] and forked["parent"] and not forked["package"]
    assert forked["drawing"]["backend"] == BACKEND["MPLBACKEND"]


def test_it_can_be_interrupted(tmp_path):
    code = "import time; time.sleep(60)"
    assert printed(code, tmp_path, timeout=1, interrupt_on_timeout=True) == "KeyboardInterrupt"


@pytest.fixture
def own(monkeypatch):
    """A process of its own that forks, and imports little."""
    monkeypatch.setattr(kernels, "IMPORTED", ("ipykernel.kernelapp",))
    monkeypatch.setattr(kernels, "kernels", own := Kernels())
    yield own
    own.end()


@pytest.mark.parametrize("end", ["shutdown", "kill", "lose"])
def test_nothing_is_left_of_it(end, own):
    manager = KernelManager(kernel_name="python3")
    manager.start_kernel()
    assert isinstance(manager.provisioner.process, Kernel) and manager.is_alive()
    process = psutil.Process(manager.provisioner.pid)
    client = manager.client()
    client.start_channels()
    client.wait_for_ready(timeout=300)
    client.stop_channels()
    if end == "lose":
        own.end()  # as does the end of this process
    else:
        manager.shutdown_kernel(now=end == "kill")
    assert not process.is_running()
