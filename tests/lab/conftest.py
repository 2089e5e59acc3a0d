import os
import signal
import sys
from contextlib import nullcontext

import pytest
import torch
from torch.overrides import TorchFunctionMode

from d2lpos.lab.store import Store


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "lab.sqlite")


STUDIES = {f"test_{name}" for name in ("packed", "probe", "real_both", "real_inside", "real_table", "real_tables", "reuse")}


class Elsewhere(TorchFunctionMode):
    """What a study makes without a word on its device mixes with nothing, as on a machine with a GPU."""

    def __torch_function__(self, call, types, args=(), kwargs=None):
        makes = call in (torch.arange, torch.eye, torch.full, torch.ones, torch.tensor, torch.zeros)
        of_a_study = sys._getframe(1).f_globals["__name__"].startswith("d2lpos.lab")
        return call(*args, **({"device": "meta"} if makes and of_a_study else {}) | (kwargs or {}))


@pytest.fixture(autouse=True)
def elsewhere(request):
    with Elsewhere() if request.path.stem in STUDIES else nullcontext():
        yield


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
