"""Each mistake of the list, in a copy of its module, must make the tests fail that it names."""

from functools import cache

import pytest

from .host import CORE, LAB, ROOT, Host
from .mistakes import AS_GOOD, listed
from .rules import mutants, named


@pytest.fixture(scope="module")
def host():
    with Host(*CORE, *LAB) as host:
        yield host


@pytest.fixture(scope="module")
def killers(host):
    """The tests that have noticed a mutant. In the end, all must pass without one."""
    tests = set()
    yield tests
    assert host.ask(sorted(tests)) | {"seconds": ...} == {"code": 0, "failed": None, "seconds": ...}


@cache
def made(file):
    return mutants((ROOT / file).read_text("utf-8"))


@pytest.mark.parametrize(("file", "tests", "mistake"), list(listed()))
def test_a_mistake_is_noticed(file, tests, mistake, host, killers):
    old, arrow, new = mistake.partition(" → ")
    if arrow:
        text = (ROOT / file).read_text("utf-8")
        assert text.count(old) == 1
        text = text.replace(old, new)
    else:
        ((*_, text),) = named(mistake, made(file))
    reply = host.ask(tests, file.removesuffix(".py").replace("/", "."), text, first=sorted(killers))
    assert reply["code"] == (0 if old in AS_GOOD else pytest.ExitCode.TESTS_FAILED)
    killers.update({reply["failed"]} - {None})
