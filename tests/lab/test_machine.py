"""A record says which machine made it, from which commit."""

import subprocess
from io import StringIO
from pathlib import Path

import pytest

from d2lpos.lab import machine as module
from d2lpos.lab.machine import alike, chip, commit, machine, processor

INFO = """processor\t: 0
cpu family\t: 25
model\t\t: 1
model name\t: Abacus: 9 rows
stepping\t: 2
"""


def test_a_processor_is_told_by_its_name_family_model_and_stepping(monkeypatch):
    for info, name, numbers in (INFO, "Abacus: 9 rows", "25-1-2"), (INFO.replace("stepping", "step"), "Abacus: 9 rows", None):
        monkeypatch.setattr(module, "open", lambda _, info=info: StringIO(info), raising=False)
        assert (processor(), chip()) == (name, numbers)


@pytest.mark.parametrize(
    "name", ["device", "processor", "chip", "vectors", "system", "threads", "torch", "compiled"]
)
def test_machines_are_of_one_kind_where_all_is_the_same_that_both_tell(name):
    about = machine("cpu") | {"compiled": False}
    assert alike(about, about | {"commit": "another", "started": 1})
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
    assert commit.__wrapped__() is None
    git("add", ".")
    git("commit", "-m", "one")
    (tmp_path / "beside").touch()
    assert commit.__wrapped__() == git("rev-parse", "HEAD")[:12]
    file.write_text("2")
    assert commit.__wrapped__() == git("rev-parse", "HEAD")[:12] + "+"
    monkeypatch.setenv("PATH", "")
    assert commit.__wrapped__() is None


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="only Linux tells")
def test_the_peak_is_what_was_held_at_once_since_it_was_forgotten(python):
    # In a process of its own: what a long one holds free would serve for the tensor.
    code = """
import torch
from d2lpos.lab.machine import forget_peak, held_bytes, peak_bytes
torch.ones(2**24)
forget_peak("cpu")
before = peak_bytes("cpu")
assert 2**24 < before < held_bytes("cpu") + 2**24
torch.ones(2**24)  # 64 MiB
assert peak_bytes("cpu") - before > 0.9 * 2**26 > held_bytes("cpu") - before
"""
    done = python("-c", code)
    assert done.returncode == 0, done.stderr
