"""Ctrl-C while a command of this package loads.

PyTorch takes its time to load, and an exception amid that would end in a traceback, or be lost. So Ctrl-C ends the
process, until the command listens.
"""

import signal
import sys

# So Python calls itself while it looks for `python -m d2lpos.…`; who imports the package otherwise sees no change.
if sys.argv[:1] == ["-m"] and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def listen() -> None:
    """Raise KeyboardInterrupt at Ctrl-C again, as Python does by itself."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_DFL:
        signal.signal(signal.SIGINT, signal.default_int_handler)
