"""The page has every module that readers use, and each of its names is one that a chapter or a test uses."""

import ast
import json
import re

import pytest
from notebooks import every

from tests.api.names import PUBLIC, ROOT
from tests.house import ENCODERS, modules

# What the others and the exercises stand on; a chapter shows how to use `check`.
INTERNAL = {"positions.arguments", "positions.looks", "transformer.inputs", "transformer.programs"}


def test_every_module_is_on_the_page():
    names = {".".join(path.relative_to(ROOT / "d2lpos").with_suffix("").parts) for path in modules(ROOT).values()}
    wanted = {name for name in names - INTERNAL if name.split(".")[0] in ENCODERS and not name.endswith("__init__")}
    assert wanted | {"config", "pretrained", "pretrained.char_models", "lab", "figures"} == {module for module, _ in PUBLIC}


@pytest.mark.parametrize("room", sorted({*ENCODERS} - {"encoding"}))
def test_a_room_hands_out_public_names_of_its_modules(package, room):
    public = {name for module, name in PUBLIC if module.startswith(f"{room}.")}
    assert set(package[room].exports) <= public


def test_every_name_of_the_package_is_on_the_page(package):
    assert set(package.exports) <= {name for _, name in PUBLIC}


def test_no_module_takes_a_private_name_of_another():
    taken = {
        (name, imported.name)
        for name, path in modules(ROOT).items()
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.ImportFrom) and node.level
        for imported in node.names
        if re.match(r"_[a-z]", imported.name)
    }
    assert taken == set()


def test_every_name_is_used():
    used = {place for source in _sources() for place in _used(ast.parse(source))}
    unused = {
        (module, name)
        for module, name in PUBLIC
        if not {(place, name) for place in ("d2lpos", *module.split("."))} & used
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
                yield re.sub(r"^( *)[%!].*", r"\1pass", "".join(cell["source"]), flags=re.MULTILINE)


def _used(tree):
    """Module and name of what is imported from the package, or taken as `module.name`."""
    for node in ast.walk(tree):
        match node:
            case ast.ImportFrom(module=str(path), names=names) if path.split(".")[0] == "d2lpos":
                yield from ((path.rpartition(".")[2], imported.name) for imported in names)
            case ast.Attribute(value=ast.Name(id=module), attr=name):
                yield module, name
