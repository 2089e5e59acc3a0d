import signal

import pytest


@pytest.fixture(autouse=True)
def ctrl_c():
    """What a shell starts in its background ignores Ctrl-C, and so do the processes that these tests start and stop."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)
