"""Tests against a mutant, in a fork of a process that has imported what takes long, and nothing of the package.

The package and its tests are imported anew in each fork, so that a mutant is in everything that is made of it.
"""

import gc
import json
import os
import resource
import signal
import subprocess
import sys
from contextlib import suppress
from importlib import import_module
from importlib.machinery import SourceFileLoader
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from typing import Self

ROOT = Path(__file__).parents[2]
IDLE = ("cacheprovider", "junitxml", "faulthandler", "pastebin", "unraisableexception", "threadexception")
OPTIONS = ["-qx", "--tb=no", "--assert=plain", "--import-mode=importlib", "--override-ini=addopts="]
OPTIONS += ["--confcutdir=tests", "-ptests.tiers", "-mnot proof", *(f"-pno:{plugin}" for plugin in IDLE)]
CORE = ("hypothesis.strategies", "torch._dynamo", "torch.nn.attention.flex_attention", "torch.testing")
LAB = ("matplotlib.pyplot", "pandas", "scipy.stats", "sklearn.datasets", "sklearn.model_selection")
# The last two are for macOS: nothing that a fork could not take along may run in threads.
ENVIRONMENT = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "OMP_NUM_THREADS": "1", "VECLIB_MAXIMUM_THREADS": "1"}
ENVIRONMENT |= {"OBJC_DISABLE_INITIALIZE_FORK_SAFETY": "YES"}


class Host:
    """`with Host(*libraries) as host` starts the process and ends it; it answers one question at a time."""

    def __init__(self, *libraries: str):
        self.libraries = libraries

    def __enter__(self) -> Self:
        self.process = subprocess.Popen(
            [sys.executable, "-m", __spec__.name, *self.libraries],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT, env=os.environ | ENVIRONMENT,
        )
        return self

    def __exit__(self, *_) -> None:
        self.process.communicate()

    def ask(self, tests: list[str], module: str = "", text: str = "", **more) -> dict:
        """What comes of tests, files or single ones, where `module` has this text; the first failure ends it.

        code: pytest's, or −n for a process that signal n has ended. failed: the test that failed. seconds: of
        processor time. More: `first`, tests of these files that come before the others; `limit`, the seconds that it may
        take.
        """
        print(json.dumps([tests, module, text, more]), file=self.process.stdin, flush=True)
        return json.loads(self.process.stdout.readline())


class Witness:
    """Puts tests in order, one of each kind before the others of their kind, and notes what comes of them."""

    def __init__(self, tests: list[str], first: list[str] = ()):
        self.tests, self.first, self.failed = tests, first, None

    def pytest_sessionstart(self):
        from hypothesis import Phase, settings

        settings.register_profile("mutants", settings.default, phases=(Phase.explicit, Phase.generate))
        settings.load_profile("mutants")  # one counterexample will do, however long

    def pytest_collection_modifyitems(self, items):
        if "::" in self.tests[0]:
            places = {test: place for place, test in enumerate(self.tests)}
            items[:] = sorted((i for i in items if i.nodeid in places), key=lambda i: places[i.nodeid])
            return
        rank = {}
        for item in items:
            kind = item.nodeid.partition("[")[0]
            rank[item] = rank[kind] = rank.get(kind, 0) + 1
        items.sort(key=lambda item: (item.nodeid not in self.first, rank[item]))

    def pytest_runtest_logreport(self, report):
        self.failed = report.nodeid if report.failed else self.failed


def serve(module: str, text: str) -> list[str]:
    """Let `module` be imported with this text; its name appears in what is returned once that has happened."""
    get_code, served = SourceFileLoader.get_code, []

    def get(self, name):
        if name != module:
            return get_code(self, name)
        served.append(name)
        return compile(text, self.path, "exec")

    SourceFileLoader.get_code = get
    return served


def answer(tests: list[str], module: str, text: str, first: list[str] = (), limit: int = 120) -> dict:
    """What `Host.ask` returns, but for what the parent of this process alone can tell."""
    import pytest

    resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))
    signal.alarm(limit)
    served = serve(module, text)
    witness = Witness(tests, first)
    code = pytest.main([*dict.fromkeys(test.partition("::")[0] for test in tests), *OPTIONS], [witness])
    noticed = served or not module  # who never imports it cannot
    return {"code": int(code) if noticed else 0, "failed": witness.failed}


def answer_all() -> None:
    """Read questions and write answers, each from a fork."""
    for question in sys.stdin:
        tests, module, text, more = json.loads(question)
        with TemporaryFile("w+") as replies, TemporaryFile("w+") as words:
            if not (child := os.fork()):
                os.setsid()
                os.dup2(words.fileno(), 1)
                os.dup2(words.fileno(), 2)
                json.dump(answer(tests, module, text, **more), replies)
                replies.flush()
                os._exit(0)
            _, status, used = os.wait4(child, 0)
            with suppress(ProcessLookupError):
                os.killpg(child, signal.SIGKILL)  # what its tests have left running
            replies.seek(0), words.seek(0)
            code = os.waitstatus_to_exitcode(status)
            if code > 0:
                sys.exit(f"no answer to {tests}, {module}: {words.read()}")
            reply = json.load(replies) if code == 0 else {"code": code, "failed": None}
        print(json.dumps(reply | {"seconds": used.ru_utime + used.ru_stime}), flush=True)


if __name__ == "__main__":
    from _pytest.config import default_plugins

    for name in (*sys.argv[1:], *(f"_pytest.{plugin}" for plugin in default_plugins)):
        import_module(name)
    with TemporaryDirectory() as folder:
        sys.pycache_prefix, sys.dont_write_bytecode = folder, False  # forks share what they have compiled
        gc.collect()
        gc.freeze()  # else each fork would copy nearly all of the memory, to count references in it
        answer_all()
