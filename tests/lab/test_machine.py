"""A record says which machine made it, from which commit."""

import platform
import subprocess
from io import StringIO
from mmap import mmap
from pathlib import Path

import pytest
import torch

from d2lpos.lab import machine as module
from d2lpos.lab.machine import alike, chip, commit, machine, processor

INFO = """processor\t: 0
cpu family\t: 25
model\t\t: 1
model name\t: Abacus: 9 rows
stepping\t: 2
"""


@pytest.fixture
def told(monkeypatch):
    """What Linux tells, by file."""
    files = {}

    def opened(path):
        if path not in files:
            raise FileNotFoundError(path)
        return StringIO(files[path])

    monkeypatch.setattr(module, "open", opened, raising=False)
    return files


def test_a_machine_is_told_and_its_processor_by_name_family_model_and_stepping(told, monkeypatch):
    monkeypatch.setattr(platform, "processor", lambda: "")
    monkeypatch.setattr(platform, "machine", lambda: "wood")
    assert (processor(), chip(), module.installed("no package")) == ("wood", None, None)
    told["/proc/cpuinfo"] = INFO
    monkeypatch.setattr(module, "version", lambda name: f"{name} 1.2")
    assert machine("cpu") == {
        "device": "cpu", "processor": "Abacus: 9 rows", "chip": "25-1-2", "system": f"{platform.system()} wood",
        "vectors": torch.backends.cpu.get_cpu_capability(), "threads": torch.get_num_threads(), "torch": torch.__version__,
        "python": platform.python_version(), "d2lpos": "d2lpos 1.2", "commit": commit(),
    }
    told["/proc/cpuinfo"] = INFO.replace("stepping", "step").replace("model name", "name")
    assert (processor(), chip()) == ("wood", None)
    monkeypatch.setattr(platform, "processor", lambda: "oak")
    assert processor() == "oak"


def test_memory_is_told_by_linux_or_of_a_gpu_by_torch(told, monkeypatch):
    assert module.peak_bytes("cpu") is module.held_bytes("cpu") is None
    told["/proc/self/status"] = "Name:\tone\nVmHWM:\t    7 kB\nVmRSS:\t    5 kB\n"
    assert (module.peak_bytes("cpu"), module.held_bytes("cpu")) == (7168, 5120)
    for name in "max_memory_allocated", "memory_allocated", "reset_peak_memory_stats", "get_device_name":
        monkeypatch.setattr(torch.cuda, name, lambda device, name=name: forgotten.append(device) or name)
    forgotten = []
    assert (module.peak_bytes("cuda:1"), module.held_bytes("cuda:1")) == ("max_memory_allocated", "memory_allocated")
    module.forget_peak("cuda:1")
    assert forgotten == 3 * ["cuda:1"] and machine("cuda:1")["device"] == "get_device_name"


def test_machines_are_of_one_kind_where_all_is_the_same_that_both_tell():
    about = machine("cpu") | {"compiled": False}
    assert alike(about, about | {"commit": "another", "started": 1})
    for name in "device", "processor", "chip", "vectors", "system", "threads", "torch", "compiled":
        assert not alike(about, about | {name: "another"})
        assert alike(about, {key: value for key, value in about.items() if key != name})


def test_the_commit_has_a_plus_where_files_were_changed_and_is_none_where_git_has_not_the_package(tmp_path, monkeypatch):
    def git(*arguments):
        who = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org")
        return subprocess.run(["git", "-C", tmp_path, *who, *arguments], check=True, capture_output=True, text=True).stdout

    file = tmp_path / "d2lpos" / "lab" / "machine.py"
    file.parent.mkdir(parents=True)
    file.write_text("1")
    monkeypatch.setattr(module, "__file__", str(file))
    assert commit.__wrapped__() is None
    git("init")
    git("commit", "--allow-empty", "-m", "none")
    assert commit.__wrapped__() is None  # a repository that has other files
    git("add", ".")
    git("commit", "-m", "one")
    (tmp_path / "beside").touch()
    assert commit.__wrapped__() == git("rev-parse", "HEAD")[:12]
    file.write_text("2")
    assert commit.__wrapped__() == git("rev-parse", "HEAD")[:12] + "+"
    monkeypatch.setenv("PATH", "")
    assert commit.__wrapped__() is None


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="only Linux tells")
def test_the_peak_is_what_was_held_at_once_since_it_was_forgotten():
    with mmap(-1, 2**27) as room:
        room.write(bytes(2**27))
    module.forget_peak("cpu")
    before = module.peak_bytes("cpu")
    assert 2**24 < before < module.held_bytes("cpu") + 2**24
    with mmap(-1, 2**26) as room:
        room.write(bytes(2**26))
    assert module.peak_bytes("cpu") - before > 0.9 * 2**26 > module.held_bytes("cpu") - before
