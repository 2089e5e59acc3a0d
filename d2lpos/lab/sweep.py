"""Do many runs: one after the other, in several processes, or on a Dask cluster.

Processes come from loky, on which joblib is built. Each is an executor of its own, so that when one dies it is
plain which run it had; joblib would give up all of them, and not tell.
"""

import os
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Future, wait
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import partial
from threading import Thread
from traceback import format_exc, format_exception
from typing import Any

from ..positions.arguments import check_positive
from .lines import line
from .run import Run
from .store import Store

__all__ = ["sweep"]

Work = Callable[[Run, str], dict[str, Any]]
# How to begin a call, and how many calls can be under way: workers of a cluster come and go.
Pool = tuple[Callable[..., Future[Any]], Callable[[], int]]

DEATHS = 3  # of processes that had a run, after which it has failed
PAUSE = 0.5  # seconds between looks at what other drivers have done
ONE_THREAD = {"OMP_NUM_THREADS": "1"}
GONE = "the cluster is gone; what had finished is in the store"
BAR = "{desc} |{bar}| {percentage:.0f} % [{elapsed}, {remaining} left]"


def sweep(
    runs: Iterable[Run],
    store: Store,
    work: Work | None = None,
    jobs: int = 1,
    cluster: str | None = None,
    device: str = "cpu",
    retry: bool = False,
) -> dict[str, int]:
    """Do all of `runs` that are not done yet, and return how many are "finished" and how many have "failed".

    work: a function that returns the record of a run on a device; by default `execute`.
    jobs: how many runs are done at a time, each in its own process. With 1 they are done in this process.
    cluster: "local:4" for Dask with four processes, or the address of a Dask cluster, "tcp://host:port" or
        "tls://host:port", whose workers are processes.
    retry: whether to do failed runs again.

    A run that raises an error is stored as failed, with its traceback, and so is a run whose process died three times.
    (An existing cluster counts deaths by its own rule.) The other runs go on. Several drivers may share a store. Each
    returns when all of its runs are done, by itself or by another driver. An interrupted driver releases its runs, and if
    you call it again, it goes on from there.

    Raises ValueError for impossible jobs or an impossible cluster, ImportError if Dask is missing, and OSError if the
    cluster or the store cannot be reached.

    >>> from tempfile import mkdtemp
    >>> store = Store(mkdtemp() + "/lab.sqlite")
    >>> runs = [Run("order", length=4, steps=1, seed=s) for s in range(3)]
    >>> sweep(runs, store)
    {'finished': 3, 'failed': 0}
    """
    from tqdm import tqdm

    if work is None:
        from .experiment import execute as work
    runs = {run.key: run for run in runs}
    with _pool(jobs, cluster) as (submit, slots), store.driver() as owner:
        if retry:
            store.retry(runs)
        todo, count = _look(store, runs)
        busy: dict[Future, str] = {}
        deaths: Counter[str] = Counter()
        with tqdm(total=len(runs), initial=len(runs) - len(todo), bar_format=BAR) as bar:
            _show(bar, count)
            while todo:
                while len(busy) < slots() and (key := store.claim(todo, owner)):
                    _show(bar, _look(store, runs)[1])
                    busy[submit(_attempt, work, runs[key], device)] = key
                if not busy:  # what is left is with other drivers
                    time.sleep(PAUSE)
                for key, record, error, died in _ended(busy):
                    deaths[key] += died
                    if record:
                        store.finish(record)
                    elif died and deaths[key] < DEATHS:
                        busy[submit(_attempt, work, runs[key], device)] = key
                    else:
                        store.fail(key, error, owner)
                todo, count = _look(store, runs)
                _show(bar, count)
    return {state: count[state] for state in ("finished", "failed")}


def _attempt(work: Work, run: Run, device: str) -> tuple[dict[str, Any] | None, str | None]:
    """Return a record that a store takes, or else why there is none, in words that any process can read."""
    try:
        record = work(run, device)
        line(record)
        if (record["key"], record["run"]) != (run.key, run.fields()):
            raise ValueError(f"work must return the record of run {run.key}; got that of {record['key']}")
    except (Exception, SystemExit):  # noqa: BLE001 (a run may raise anything)
        return None, format_exc()
    return record, None


def _ended(busy: dict[Future, str]) -> list[tuple[str, dict[str, Any] | None, str | None, bool]]:
    """Take out what has ended: its key, its record or its error, and whether the error is that its process died.

    No future is kept. While one is, Dask does its run again when a worker dies that had the result.
    """
    return [(busy.pop(future), *_outcome(future)) for future in wait(busy, PAUSE, FIRST_COMPLETED).done]


def _outcome(future: Future) -> tuple[dict[str, Any] | None, str | None, bool]:
    try:
        return *future.result(), False
    except CancelledError:
        raise OSError(GONE) from None
    except Exception as error:  # noqa: BLE001 (whatever a cluster tells of a lost run)
        return None, "".join(format_exception(error)), isinstance(error, BrokenExecutor)


def _look(store: Store, runs: dict[str, Run]) -> tuple[dict[str, Run], Counter[str]]:
    """Return the runs that are left, and how many are in each state."""
    states = store.states()
    todo = {key: run for key, run in runs.items() if states.get(key) not in ("finished", "failed")}
    return todo, Counter(states[key] for key in runs if key in states)


def _show(bar, count: Counter[str]) -> None:
    bar.n = count["finished"] + count["failed"]
    words = ", ".join(f"{count[state]} {state}" for state in ("finished", "running", "failed"))
    words += f" of {bar.total}"
    if words != bar.desc or sys.stderr.isatty():  # in a file, each refresh of the clock adds a line
        bar.set_description_str(words)


def _pool(jobs: int, cluster: str | None) -> AbstractContextManager[Pool]:
    check_positive(jobs=jobs)
    if cluster is None:
        return _here() if jobs == 1 else _processes(jobs)
    if jobs != 1:
        raise ValueError(f"jobs must be 1 where a cluster is given, which has its own workers; got {jobs}")
    kind, _, rest = cluster.partition(":")
    remote, local = kind in ("tcp", "tls") and rest.startswith("//"), kind == "local" and rest.isdecimal()
    if not (remote or local and int(rest)):
        raise ValueError(
            f'cluster must be like "local:4", "tcp://host:port" or "tls://host:port"; got {cluster!r}'
        )
    return _dask(cluster, workers=int(rest) if kind == "local" else 0)


@contextmanager
def _here() -> Iterator[Pool]:
    def submit(call: Callable[..., Any], *args) -> Future:
        future = Future()
        future.set_result(call(*args))
        return future

    yield submit, lambda: 1


@contextmanager
def _processes(jobs: int) -> Iterator[Pool]:
    from loky import ProcessPoolExecutor

    idle, busy = [], {}
    started = partial(ProcessPoolExecutor, 1, initializer=_serve, initargs=(os.getpid(),), env=ONE_THREAD)

    def submit(*call) -> Future:
        for future in [future for future in busy if future.done()]:
            executor = busy.pop(future)
            if isinstance(future.exception(), BrokenExecutor):
                executor.shutdown()
            else:
                idle.append(executor)
        executor = idle.pop() if idle else started()
        try:
            future = executor.submit(*call)
        except BrokenExecutor as error:  # it died while idle
            future = Future()
            future.set_exception(error)
        busy[future] = executor
        return future

    try:
        yield submit, lambda: jobs
    finally:
        for executor in [*idle, *busy.values()]:
            executor.shutdown(kill_workers=True)


def _serve(driver: int) -> None:
    """On Linux and macOS, end when the driver does, even if it was killed before this process could ask for it."""

    def watch() -> None:
        while os.getppid() == driver:
            time.sleep(1)
        os._exit(1)

    Thread(target=watch, daemon=True).start()


@contextmanager
def _dask(cluster: str, workers: int) -> Iterator[Pool]:
    from distributed import Client, LocalCluster

    def slots() -> int:
        try:
            threads = client.nthreads()
        except OSError:
            raise OSError(GONE) from None
        if max(threads.values(), default=1) > 1:
            raise ValueError("workers of the cluster must have one thread; start them with --nthreads 1")
        return len(threads)

    with ExitStack() as stack:
        if workers:
            cluster = stack.enter_context(
                LocalCluster(
                    n_workers=workers,
                    threads_per_worker=1,
                    memory_limit=None,
                    dashboard_address=None,
                    scheduler_kwargs={"allowed_failures": DEATHS - 1},
                )
            )
        client = stack.enter_context(Client(cluster))
        yield client.get_executor().submit, slots
