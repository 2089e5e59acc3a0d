import os
import socket
import sqlite3
import subprocess
import sys
from contextlib import closing

import pytest

from d2lpos.lab.store import Store
from tests.lab.errands import errands, record, until


@pytest.fixture
def runs(tmp_path):
    return {run.key: run for run in errands(3, tmp_path)}


def query(store, text, *values):
    with closing(sqlite3.connect(store.path, isolation_level=None)) as database:
        return database.execute(text, values).fetchall()


def test_nobody_writes_while_a_claim_looks_for_a_free_run(store, runs, monkeypatch):
    def look(holder):
        with (
            closing(sqlite3.connect(store.path, timeout=0, isolation_level=None)) as other,
            pytest.raises(sqlite3.OperationalError, match="locked"),
        ):
            other.execute("BEGIN IMMEDIATE")
        looked.append(holder)

    looked = []
    monkeypatch.setattr("d2lpos.lab.store._dead", look)
    with store.driver() as one, store.driver() as other:
        store.claim(runs, one)
        store.claim(runs, other)
        assert looked == [one]


def test_a_driver_needs_no_proc(store, runs, monkeypatch):
    def readlink(path):
        raise FileNotFoundError(path)

    monkeypatch.setattr(os, "readlink", readlink)
    with store.driver() as owner:
        assert owner.split()[:2] == [socket.gethostname(), str(os.getpid())]
        assert store.claim(runs, owner) == next(iter(runs))


def test_a_finished_record_stays(store, runs):
    key, run = next(iter(runs.items()))
    with store.driver() as owner:
        store.claim(runs, owner)
        store.finish(record(run, loss=0.25))
        store.finish(record(run, loss=0.5))
        store.fail(key, "too late", owner)
    store.retry(runs)
    assert store.records() == store.records([key]) == [record(run, loss=0.25)]
    assert store.records(list(runs)[1:]) == []
    assert store.states() == {key: "finished"}
    assert store.errors() == {}


def test_a_late_record_counts_when_its_claim_was_lost(store, runs):
    key, run = next(iter(runs.items()))
    with store.driver() as late, store.driver() as other:
        store.claim(runs, late)
        query(store, "UPDATE runs SET owner = ?", other)
        store.fail(key, "it is not mine to say", late)
        assert store.states() == {key: "running"}
        store.finish(record(run))
    assert store.states() == {key: "finished"}


@pytest.mark.skipif(os.name != "posix", reason="only heartbeats tell of death here")
def test_a_dead_process_loses_its_claims_at_once(store, runs):
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    with store.driver() as owner:
        key = store.claim(runs, owner)
        query(store, "UPDATE runs SET owner = ?", owner.replace(f" {os.getpid()} ", f" {dead.pid} "))
        assert store.claim(runs, owner) == key


@pytest.mark.skipif(
    not os.path.exists("/proc/self/ns/pid"), reason="process numbers mean the same everywhere"
)
def test_the_processes_of_another_container_are_not_looked_up(store, runs, monkeypatch):
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    with monkeypatch.context() as patch:
        patch.setattr(os, "readlink", lambda path: "pid:[1]")
        patch.setattr(os, "getpid", lambda: dead.pid)
        with store.driver() as elsewhere:
            key = store.claim(runs, elsewhere)
            patch.undo()
            with store.driver() as owner:
                assert store.claim({key: runs[key]}, owner) is None


@pytest.mark.parametrize("where", ["here", "elsewhere"])
def test_a_driver_without_heartbeat_loses_its_claims(store, runs, where):
    with store.driver() as owner:
        key = store.claim(runs, owner)
        if where == "elsewhere":
            query(store, "UPDATE runs SET owner = ?", "elsewhere 1 0")
        query(store, "UPDATE runs SET heartbeat = heartbeat - 45")
        assert store.claim({key: runs[key]}, owner) is None
        query(store, "UPDATE runs SET heartbeat = heartbeat - 16")
        assert store.claim({key: runs[key]}, owner) == key


def test_a_damaged_record_is_told_by_store_and_key(store, runs):
    key = next(iter(runs))
    store.finish(record(runs[key]))
    query(store, "UPDATE runs SET record = substr(record, 1, 20)")
    with pytest.raises(ValueError, match=f"lab.sqlite has a damaged record of run {key}: "):
        store.records()


def test_hearts_beat(store, runs):
    store.patience = 0.1
    with store.driver() as owner:
        store.claim(runs, owner)
        (first,) = query(store, "SELECT heartbeat FROM runs")
        until(lambda: query(store, "SELECT heartbeat FROM runs") > [first])


def test_other_files_are_left_alone(tmp_path):
    text = tmp_path / "text"
    text.write_text("It is a truth universally acknowledged, " * 100)
    other = tmp_path / "other.sqlite"
    with closing(sqlite3.connect(other)) as database:
        database.execute("CREATE TABLE cakes (name)")
    before = text.read_bytes(), other.read_bytes()
    with pytest.raises(ValueError, match="text is damaged, or no store of runs"):
        Store(text)
    with pytest.raises(ValueError, match="other.sqlite is a database, but no store of runs"):
        Store(other)
    assert (text.read_bytes(), other.read_bytes()) == before


@pytest.mark.parametrize("version", [0, 2])
def test_another_version_is_refused(store, version):
    query(store, f"PRAGMA user_version = {version}")
    with pytest.raises(ValueError, match=f"has version {version}; this d2lpos needs version 1"):
        Store(store.path)
