"""Of the mistakes written by hand, at least 97 % in the core and 95 % elsewhere are noticed."""

import pytest

from tests.core.mutants_by_hand import CORE, EQUIVALENT, REST
from tests.mutation.host import CORE as LIBRARIES
from tests.mutation.host import LAB, ROOT, Host


def survivors(host, rows):
    """Mistakes that no test notices; each stands once in its file."""
    found = []
    for (file, tests), mistakes in rows.items():
        text = (ROOT / file).read_text("utf-8")
        for mistake in mistakes:
            old, arrow, new = mistake.partition(" → ")
            assert arrow and text.count(old) == 1, f"{file}: {old!r} stands {text.count(old)} times"
            module = file.removesuffix(".py").replace("/", ".")
            if host.ask(tests.split(), module, text.replace(old, new))["code"] != pytest.ExitCode.TESTS_FAILED:
                found.append(f"{file}: {mistake}")
    return found


@pytest.mark.parametrize(("rows", "least"), [(CORE, 0.97), (REST, 0.95)], ids=["core", "rest"])
def test_mistakes_are_noticed(rows, least):
    number = sum(map(len, rows.values()))
    assert number >= 60
    with Host(*LIBRARIES, *LAB) as host:
        left = survivors(host, rows)
    same = [one for one in left if any(old in one for old in EQUIVALENT)]
    print("\n".join(left))
    assert len(left) - len(same) <= (1 - least) * (number - len(same)), left
