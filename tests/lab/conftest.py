import os
import signal

import pytest

from d2lpos.lab.store import Store


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "lab.sqlite")


@pytest.fixture(autouse=True)
def ctrl_c():
    """What a shell starts in its background ignores Ctrl-C, and so do the processes that these tests start and stop."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(autouse=True)
def no_encodings_of_their_own(monkeypatch):
    """What a test registers ends with it."""
    monkeypatch.setattr("d2lpos.lab.encodings.OWN", {})


@pytest.fixture(autouse=True)
def environment():
    """Dask changes the environment of the process that starts its workers, and leaves it so."""
    before = dict(os.environ)
    yield
    os.environ.clear()
    os.environ.update(before)
