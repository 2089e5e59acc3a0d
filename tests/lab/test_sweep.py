import os
import sys
from collections import Counter
from concurrent.futures import BrokenExecutor, Future
from contextlib import nullcontext

import dask
import pytest
from distributed import Client, LocalCluster

from d2lpos.lab import sweep
from tests.lab.errands import errands, leave, noted, record, trip, walk


@pytest.mark.parametrize("way", [{}, {"jobs": 2}, {"cluster": "local:2"}], ids=str)
def test_every_run_is_done_once_and_failures_are_kept(store, tmp_path, monkeypatch, way):
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    runs = errands(6, tmp_path)

    def work(run, device):  # as in a notebook, whose functions cannot be imported elsewhere
        return trip(run, device)

    assert sweep(runs + runs, store, work, device="meta", **way) == {"finished": 3, "failed": 3}
    assert sorted(number for number, _ in noted(tmp_path)) == [0, 2, 4]
    errors = store.errors()
    assert list(errors) == [run.key for run in runs[1::2]]
    assert all(error.startswith("Traceback") for error in errors.values())
    assert errors[runs[3].key].endswith("RuntimeError: errand 3 tripped\n")
    assert {record["device"] for record in store.records()} == {"meta"}
    if way:
        assert {record["threads"] for record in store.records()} == {1}


def test_a_run_is_tried_three_times_where_its_process_dies(store, tmp_path, monkeypatch, capsys):
    runs, tries, sizes = errands(3, tmp_path), Counter(), []

    def submit(attempt, work, run, device):
        tries[run.number] += 1
        future = Future()
        if tries[run.number] > run.number + 1:
            future.set_result(attempt(work, run, device))
        else:
            future.set_exception(BrokenExecutor("a process died"))
        return future

    monkeypatch.setattr(sys.modules["d2lpos.lab.sweep"], "_pool", lambda *how: nullcontext((submit, lambda: sizes.append(how) or 2)))
    assert sweep(runs, store, walk, 2) == {"finished": 2, "failed": 1}
    assert tries == {0: 2, 1: 3, 2: 3} and set(sizes) == {(2, None)}
    assert store.errors().keys() == {runs[2].key} and store.errors()[runs[2].key].endswith("BrokenExecutor: a process died\n")
    shown = capsys.readouterr().err
    assert all(words in shown for words in ("0 running, 0 failed of 3", "0 finished, 2 running", "2 finished, 0 running, 1 failed of 3"))
    monkeypatch.undo()
    assert sweep(runs, store, walk, retry=True) == {"finished": 3, "failed": 0}
    assert noted(tmp_path)[2] == (2, os.getpid())  # one at a time is done here


@pytest.mark.parametrize(("work", "error"), [
    (lambda run, device: None, "TypeError"),
    (lambda run, device: {"run": run.fields()}, "KeyError: 'key'"),
    (lambda run, device: record(run, loss=float("nan")), "not JSON compliant"),
    (lambda run, device: record(errands(9, run.folder)[8]) | {"key": run.key}, "work must return the record of run"),
    (leave, "SystemExit: errand left"),
])
def test_work_that_gives_no_record_has_failed(store, tmp_path, work, error):
    assert sweep(errands(1, tmp_path), store, work) == {"finished": 0, "failed": 1}
    (message,) = store.errors().values()
    assert error in message


@pytest.mark.parametrize(
    ("way", "error"),
    [
        ({"jobs": 0}, "jobs must be positive; got 0"),
        ({"jobs": 2, "cluster": "local:2"}, "jobs must be 1 where a cluster is given"),
        ({"cluster": "local:0"}, "cluster must be like"),
        ({"cluster": "4"}, 'must be like "local:4", "tcp://host:port" or "tls://host:port"; got \'4\''),
        ({"cluster": "inproc://10.0.0.1/7/1"}, "cluster must be like"),
    ],
    ids=str,
)
def test_ways_that_cannot_be(store, tmp_path, way, error):
    with pytest.raises(ValueError, match=error):
        sweep(errands(1, tmp_path), store, walk, **way)
    assert store.states() == {}


def test_a_cluster_that_is_not_there(store, tmp_path):
    with (
        dask.config.set({"distributed.comm.timeouts.connect": "1s"}),
        pytest.raises(OSError, match="connect to tcp://127.0.0.1:9"),
    ):
        sweep(errands(1, tmp_path), store, walk, cluster="tcp://127.0.0.1:9")


def test_workers_that_come_late_are_waited_for(store, tmp_path, monkeypatch):
    threads, answers = Client.nthreads, []

    def at_first_none(client):
        answers.append(threads(client) if answers else {})
        return answers[-1]

    monkeypatch.setattr(Client, "nthreads", at_first_none)
    assert sweep(errands(1, tmp_path), store, walk, cluster="local:1") == {"finished": 1, "failed": 0}
    assert answers[0] == {} and len(answers) > 1


def test_workers_with_several_threads_are_refused(store, tmp_path, monkeypatch):
    """One such worker among others is enough."""
    monkeypatch.setattr(Client, "nthreads", lambda client: {"one": 1, "another": 2})
    with (
        LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None) as cluster,
        pytest.raises(ValueError, match="must have one thread; start them with --nthreads 1"),
    ):
        sweep(errands(1, tmp_path), store, walk, cluster=cluster.scheduler_address)
    assert store.states() == {}
