"""The page has every module that readers use, and each of its names is one that a chapter or a test uses."""

import ast
import json
import re

from notebooks import every

from tests.api.names import PUBLIC, ROOT

# What the others and the exercises stand on; a chapter shows how to use `check`.
INTERNAL = {"arguments", "census", "check", "inputs", "interrupt", "published", "threads"}


def test_every_module_is_on_the_page(package):
    modules = {name for name, thing in package.members.items() if thing.is_module}
    assert modules - INTERNAL == {module for module, _ in PUBLIC}


def test_every_name_of_the_package_is_on_the_page(package):
    assert set(package.exports) <= {name for _, name in PUBLIC}


def test_every_name_is_used(package):
    used = {place for source in _sources() for place in _used(ast.parse(source))}
    unused = {
        (module, name)
        for module, name in PUBLIC
        if (module, name) not in used and not (name in package.exports and ("d2lpos", name) in used)
    }
    assert unused == set()


def _sources():
    """The Python of the tests, these apart, and of the notebooks."""
    for path in (ROOT / "tests").rglob("*.py"):
        if path.parent.name != "api":
            yield path.read_text("utf-8")
    for path in every(ROOT):
        for cell in json.loads(path.read_text("utf-8"))["cells"]:
            if cell["cell_type"] == "code":
                yield re.sub(r"^( *)%.*", r"\1pass", "".join(cell["source"]), flags=re.MULTILINE)


def _used(tree):
    """Module and name of what is imported from the package, or taken as `module.name`."""
    for node in ast.walk(tree):
        match node:
            case ast.ImportFrom(module=str(path), names=names) if path.split(".")[0] == "d2lpos":
                module = path.removeprefix("d2lpos.").split(".")[0]
                yield from ((module, imported.name) for imported in names)
            case ast.Attribute(value=ast.Name(id=module), attr=name):
                yield module, name
