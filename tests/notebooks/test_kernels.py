"""The kernels of the tests are forks that nothing else can answer for."""

import signal
import sys

import pytest
from jupyter_client.manager import start_new_kernel


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a kernel is a new process")
def test_kernel_needs_no_free_port_and_may_be_stopped_twice():
    manager, client = start_new_kernel()
    assert manager.transport == "ipc"
    for _ in range(2):
        manager.provisioner.process.send_signal(signal.SIGKILL)
        assert manager.provisioner.process.wait() == -signal.SIGKILL
    client.stop_channels()
    manager.cleanup_resources()
