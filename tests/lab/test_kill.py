"""Real processes die or are killed, and nothing that has finished is lost or done again."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from threading import Thread

import dask
import psutil
import pytest
from distributed import LocalCluster

from d2lpos.lab import sweep
from tests.lab.errands import PATIENCE, dawdle, die, die_or_slip, doze, errands, noted, until, walk

pytestmark = pytest.mark.skipif(os.name != "posix", reason="kills processes as POSIX does")

ROOT = Path(__file__).parents[2]


@contextmanager
def driver(folder, work, count, go=True, **options):
    """A process that sweeps errands, in a group of its own."""
    if go:
        (folder / "go").touch()
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.lab.errands", str(folder), work, str(count), json.dumps(options)],
        cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )
    try:
        yield process
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def counted(folder):
    return sorted(number for number, _ in noted(folder))


def started(folder):
    return sorted(number for number, _ in noted(folder, "started"))


def gone(process):
    """Whether a process is no more, or nothing but an entry that nobody has read yet."""
    try:
        return psutil.Process(process).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def held_up(folder, store, running):
    """Whether two errands are done and the next ones are under way."""
    return (
        len(noted(folder, "started")) == 2 + running and list(store.states().values()).count("finished") == 2
    )


def whole(store):
    with closing(sqlite3.connect(store.path)) as database:
        return database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


def test_killed_workers(store, tmp_path):
    """A death costs an attempt of the run that the worker had, and nothing else; the third is a failure."""
    runs = errands(6, tmp_path)
    assert sweep(runs, store, die_or_slip, jobs=2) == {"finished": 5, "failed": 1}
    assert counted(tmp_path) == [0, 2, 3, 4, 5]
    assert started(tmp_path) == [0, 1, 1, 1, 2, 3, 3, 4, 5]
    assert "SIGKILL" in store.errors()[runs[1].key]


def test_a_worker_killed_while_idle(store, tmp_path):
    """Another driver has errand 2, and gives it up when the worker that would take it is dead."""
    runs = errands(3, tmp_path)

    def other():
        until(lambda: store.states().get(runs[0].key) == "finished")
        (tmp_path / "stored").touch()
        until(lambda: all(gone(worker) for number, worker in noted(tmp_path) if number == 0))
        end.close()

    with ExitStack() as end:
        store.claim({runs[2].key: runs[2]}, end.enter_context(store.driver()))
        Thread(target=other).start()
        assert sweep(runs, store, doze, jobs=2) == {"finished": 3, "failed": 0}
    assert counted(tmp_path) == [0, 1, 2]


def test_killed_workers_of_a_cluster(store, tmp_path):
    """Dask hands results over when it is asked for them, so what a dead worker still had is done again."""
    runs = errands(6, tmp_path)
    rule = {"distributed.scheduler.allowed-failures": 1}
    with (
        dask.config.set(rule),
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
    ):
        done = sweep(runs, store, die, cluster=cluster.scheduler_address)
    assert done == {"finished": 5, "failed": 1}
    assert set(counted(tmp_path)) == {0, 2, 3, 4, 5}
    assert started(tmp_path).count(1) == 2
    assert "KilledWorker" in store.errors()[runs[1].key]


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_killed_driver(store, tmp_path, jobs):
    """Its workers end, its claims are free at once, and what had finished is not done again."""
    with driver(tmp_path, "dawdle", 6, jobs=jobs) as process:
        until(lambda: held_up(tmp_path, store, jobs))
        process.kill()
        process.wait()
        until(lambda: all(gone(worker) for _, worker in noted(tmp_path, "started")))
    assert whole(store)
    before = store.records()
    assert list(store.states().values()) == ["finished"] * 2 + ["running"] * jobs
    assert sweep(errands(6, tmp_path), store, walk) == {"finished": 6, "failed": 0}
    assert counted(tmp_path) == list(range(6))
    assert store.records()[:2] == before


@pytest.mark.parametrize("jobs", [1, 2])
def test_an_interrupted_driver(store, tmp_path, jobs):
    """As by Ctrl-C, which the terminal sends to the workers, too."""
    with driver(tmp_path, "dawdle", 6, jobs=jobs) as process:
        until(lambda: held_up(tmp_path, store, jobs))
        os.killpg(process.pid, signal.SIGINT)
        _, errors = process.communicate(timeout=PATIENCE)
        # The tracker of semaphores, a process of its own, may have the last word, if one has been removed already.
        last = [line for line in errors.splitlines() if "resource_tracker" not in line][-1]
        assert last == "KeyboardInterrupt"
        assert errors.count("Traceback") == 1, errors
        until(lambda: all(gone(worker) for _, worker in noted(tmp_path, "started")))
    assert list(store.states().values()) == ["finished"] * 2
    assert not list(tmp_path.glob("lab.sqlite-*"))
    assert sweep(errands(6, tmp_path), store, walk) == {"finished": 6, "failed": 0}
    assert counted(tmp_path) == list(range(6))


def test_two_drivers_share_a_store_that_they_make_at_once(tmp_path):
    with (
        driver(tmp_path, "meet", 30, go=False) as one,
        driver(tmp_path, "meet", 30, go=False, jobs=2) as other,
    ):
        until(lambda: len(list(tmp_path.glob("up *"))) == 2)
        (tmp_path / "go").touch()
        outputs = [process.communicate(timeout=PATIENCE) for process in (one, other)]
    assert [json.loads(out) for out, _ in outputs] == [{"finished": 30, "failed": 0}] * 2, outputs
    assert counted(tmp_path) == list(range(30))
    assert len({process for _, process in noted(tmp_path)}) > 1


def test_a_cluster_that_goes_away(store, tmp_path):
    with (
        dask.config.set({"distributed.comm.timeouts.connect": "1s"}),
        LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None) as cluster,
    ):
        leaving = Thread(
            target=lambda: (
                until(lambda: held_up(tmp_path, store, 1)) and cluster.sync(cluster.scheduler.close)
            )
        )
        leaving.start()
        with pytest.raises(OSError, match="the cluster is gone"):
            sweep(errands(6, tmp_path), store, dawdle, cluster=cluster.scheduler_address)
        (tmp_path / "gate").touch()
        leaving.join()
    assert list(store.states().values()) == ["finished"] * 2
