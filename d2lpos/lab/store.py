"""One file that holds what was run: a row a run, written by any number of drivers at once.

The file is an SQLite database with a write-ahead log. Drivers share that log through memory, so the file must lie
on a local disk, not on one that is mounted over a network.
"""

import json
import os
import socket
import sqlite3
import time
import uuid
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from threading import Event, Thread
from typing import Any

from ..positions.arguments import check_scale
from .lines import line
from .run import Run

__all__ = ["Store"]

MARK = 0x64326C70  # "d2lp" in the file's head tells a store from other databases
VERSION = 1
SCHEMA = """
CREATE TABLE runs (
    key TEXT PRIMARY KEY,
    state TEXT NOT NULL CHECK (state IN ('running', 'finished', 'failed')),
    run TEXT NOT NULL,
    record TEXT CHECK ((record IS NOT NULL) = (state = 'finished')),
    error TEXT CHECK ((error IS NOT NULL) = (state = 'failed')),
    owner TEXT CHECK ((owner IS NOT NULL) = (state = 'running')),
    heartbeat REAL CHECK ((heartbeat IS NOT NULL) = (state = 'running'))
)"""
FINISH = """
INSERT INTO runs (key, state, run, record) VALUES (?, 'finished', ?, ?)
ON CONFLICT (key) DO UPDATE
SET state = 'finished', record = excluded.record, error = NULL, owner = NULL, heartbeat = NULL
WHERE state != 'finished'"""
CLAIM = """
INSERT INTO runs (key, state, run, owner, heartbeat) VALUES (?, 'running', ?, ?, ?)
ON CONFLICT (key) DO UPDATE SET owner = excluded.owner, heartbeat = excluded.heartbeat"""


class Store:
    """Runs that are running, finished or failed, in the file `path`, which is made if it does not exist.

    patience: after how many seconds without a heartbeat the driver of a run counts as dead.
    look: whether to only read. If so, no file is made, and the file may be on a medium that cannot be written.

    A driver can claim a run that is not in the store, and the runs of a dead driver. Each method is one transaction,
    which happens completely or not at all.

    Raises ValueError for a file that is damaged, no store, or a store of another version, and for a patience that is not
    finite and positive; OSError if the file cannot be read or written, as on a full disk.

    >>> from tempfile import mkdtemp
    >>> Store(mkdtemp() + "/lab.sqlite").states()
    {}
    """

    def __init__(self, path: str | Path, patience: float = 60.0, look: bool = False):
        check_scale(patience=patience)
        self.path, self.patience, self.look = Path(path), patience, look
        with self._transaction() as database:
            if not look and not database.execute("SELECT * FROM sqlite_master").fetchone():
                database.execute(SCHEMA)
                database.execute(f"PRAGMA application_id = {MARK}")
                database.execute(f"PRAGMA user_version = {VERSION}")
            (mark,), (version,) = (
                database.execute(f"PRAGMA {name}").fetchone() for name in ("application_id", "user_version")
            )
            if mark != MARK:
                raise ValueError(f"{self.path} is a database, but no store of runs")
            if version != VERSION:
                raise ValueError(f"{self.path} has version {version}; this d2lpos needs version {VERSION}")
        if look:
            return
        # Refused while another driver is in the file; that one has done it, or the next one will.
        with suppress(OSError), self._connection() as database:
            database.execute("PRAGMA journal_mode = WAL")

    def states(self) -> dict[str, str]:
        """Return "running", "finished" or "failed" for each key in the store."""
        with self._transaction() as database:
            return dict(database.execute("SELECT key, state FROM runs ORDER BY key"))

    def records(self, keys: Iterable[str] | None = None) -> list[dict[str, Any]]:
        """Return the finished records, or only the records of `keys`, sorted by key."""
        with self._transaction() as database:
            rows = database.execute("SELECT key, record FROM runs WHERE state = 'finished' ORDER BY key")
            keys = None if keys is None else set(keys)
            return [self._decode(key, record) for key, record in rows if keys is None or key in keys]

    def _decode(self, key: str, record: str) -> dict[str, Any]:
        try:
            return json.loads(record)
        except ValueError as error:
            raise ValueError(f"{self.path} has a damaged record of run {key}: {error}") from error

    def errors(self) -> dict[str, str]:
        """Return the error of each failed run, by key."""
        with self._transaction() as database:
            return dict(database.execute("SELECT key, error FROM runs WHERE state = 'failed' ORDER BY key"))

    @contextmanager
    def driver(self) -> Iterator[str]:
        """The name of a driver, which claims runs. It sends heartbeats while this context is open, and then frees its claims."""
        owner = f"{_place()} {os.getpid()} {uuid.uuid4().hex}"
        done = Event()

        def beat() -> None:
            while not done.wait(self.patience / 4):
                with suppress(OSError), self._transaction() as database:
                    database.execute("UPDATE runs SET heartbeat = ? WHERE owner = ?", (time.time(), owner))

        heart = Thread(target=beat, daemon=True)
        heart.start()
        try:
            yield owner
        finally:
            done.set()
            heart.join()
            # Where even this cannot be written, the claims end with the driver.
            with suppress(OSError), self._transaction() as database:
                database.execute("DELETE FROM runs WHERE owner = ?", (owner,))

    def claim(self, runs: Mapping[str, Run], owner: str) -> str | None:
        """Claim the first of `runs` that is free, and return its key, or None if no run is free."""
        now = time.time()
        with self._transaction() as database:
            known = {key: row for key, *row in database.execute("SELECT key, owner, heartbeat FROM runs")}
            for key, run in runs.items():
                holder, heartbeat = known.get(key, (None, None))
                if key not in known or holder and (now - heartbeat > self.patience or _dead(holder)):
                    database.execute(CLAIM, (key, line(run.fields()), owner, now))
                    return key
        return None

    def finish(self, record: dict[str, Any]) -> None:
        """Store a record. No record is ever replaced, so a later record of the same run is dropped."""
        with self._transaction() as database:
            database.execute(FINISH, (record["key"], line(record["run"]), line(record)))

    def fail(self, key: str, error: str, owner: str) -> None:
        """Store why a run that `owner` claimed has failed."""
        with self._transaction() as database:
            database.execute(
                "UPDATE runs SET state = 'failed', error = ?, owner = NULL, heartbeat = NULL "
                "WHERE key = ? AND owner = ?",
                (error, key, owner),
            )

    def retry(self, keys: Iterable[str]) -> None:
        """Remove the failures of runs, so that they can be claimed again."""
        with self._transaction() as database:
            database.executemany("DELETE FROM runs WHERE key = ? AND state = 'failed'", [(k,) for k in keys])

    @contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
        """Open the file for one use: nothing is shared with threads and processes, and nothing stays open."""
        address = self.path.absolute().as_uri() + "?mode=" + ("ro" if self.look else "rwc")
        # SQLite makes the log's files even to read. Where it cannot, and there is no log, nobody writes.
        if self.look and not (os.access(self.path.parent, os.W_OK) or Path(f"{self.path}-wal").exists()):
            address += "&immutable=1"
        try:
            with closing(sqlite3.connect(address, 60, isolation_level=None, uri=True)) as database:
                yield database
        except sqlite3.OperationalError as error:
            raise OSError(f"the store {self.path} cannot be read or written: {error}") from error
        except sqlite3.DatabaseError as error:
            if type(error) is not sqlite3.DatabaseError:
                raise
            raise ValueError(f"{self.path} is damaged, or no store of runs: {error}") from error

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with self._connection() as database:
            database.execute("BEGIN" if self.look else "BEGIN IMMEDIATE")
            with database:
                yield database


def _place() -> str:
    """Where a process number means the same process: on one machine and, on Linux, in one container."""
    with suppress(OSError):
        return f"{socket.gethostname()} {os.readlink('/proc/self/ns/pid')}"
    return socket.gethostname()


def _dead(owner: str) -> bool:
    """Whether the driver was a process of this place that is no more."""
    place, process, _ = owner.rsplit(maxsplit=2)
    if place != _place() or os.name != "posix":
        return False
    try:
        os.kill(int(process), 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        pass  # the process is alive; it runs under another user, so no signal may be sent to it
    return False
