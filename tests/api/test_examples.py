"""Every public name has an example of at most five lines, and it says the truth."""

import doctest

import pytest
from d2lpos_ext.api import imports, public, split

from tests.api.names import PUBLIC


@pytest.mark.parametrize(("module", "name"), PUBLIC)
def test_example(package, module, name):
    thing = public(package[module])[name]
    words, example = split(thing)
    assert words.strip(), "no docstring"
    assert example, "no example: end the docstring with one, as a doctest"
    assert len(example.splitlines()) <= 5
    assert max(map(len, example.splitlines())) <= 70, "wider than the page"
    assert "doctest:" not in example, "an example that is skipped or compared loosely says nothing"
    names = {}
    exec(imports(package[module]), names)  # noqa: S102, because these lines are on the page
    test = doctest.DocTestParser().get_doctest(
        example, names, name, str(thing.filepath), thing.docstring.lineno
    )
    lines = []
    assert doctest.DocTestRunner(verbose=False).run(test, out=lines.append).failed == 0, "".join(lines)
