"""Imports lead downward: no module needs itself by a detour, and no package one that stands above or beside it.

All imports count, those inside functions and those for annotations, too.
"""

import ast
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# What each package may use besides itself; `d2lpos` stands for all modules that lie in no package within.
BELOW = {
    "d2lpos": set(),
    "d2lpos.check": {"d2lpos"},
    "d2lpos.figures": {"d2lpos"},
    "d2lpos.lab": {"d2lpos", "d2lpos.figures", "d2lpos.pretrained"},
    "d2lpos.pretrained": {"d2lpos"},
}
# Of encodings, attention, its form for FlexAttention and the Transformer, each knows those before it.
TOWER = ["d2lpos.encoding", "d2lpos.transformer.attention", "d2lpos.transformer.flex", "d2lpos.transformer.model"]
ON_TOP = {"d2lpos", "d2lpos.pretrained.reader"}  # they know the encodings and the tower


def modules(root: Path) -> dict[str, Path]:
    """All modules by name; a package is the one in its `__init__`."""
    paths = (root / "d2lpos").rglob("*.py")
    return {".".join(p.relative_to(root).with_suffix("").parts).removesuffix(".__init__"): p for p in paths}


def imports(root: Path) -> dict[str, set[str]]:
    """The modules of the package that each of them imports."""
    known = modules(root)
    return {name: set(_imported(name, path, known)) - {name} for name, path in known.items()}


def _imported(name: str, path: Path, known: dict[str, Path]) -> Iterator[str]:
    inside = name.split(".") if path.name == "__init__.py" else name.split(".")[:-1]
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        match node:
            case ast.Import(names=names):
                wanted = [alias.name for alias in names]
            case ast.ImportFrom(module=module, names=names, level=level):
                above = inside[: len(inside) + 1 - level] if level else []
                base = ".".join([*above, *([module] if module else [])])
                wanted = [f"{base}.{alias.name}" for alias in names]
            case _:
                continue
        for full in wanted:
            if full in known or full.rpartition(".")[0] in known:
                yield full if full in known else full.rpartition(".")[0]


def package(name: str) -> str:
    return max((known for known in BELOW if f"{name}.".startswith(f"{known}.")), key=len)


def wrong(graph: dict[str, set[str]]) -> set[tuple[str, str]]:
    """Imports of a package that is not below."""
    pairs = ((name, other) for name, others in graph.items() for other in others)
    return {(a, b) for a, b in pairs if package(a) != package(b) and package(b) not in BELOW[package(a)]}


@pytest.fixture(scope="module")
def graph():
    return imports(ROOT)


def test_every_package_has_its_place():
    packages = {name for name, path in modules(ROOT).items() if path.name == "__init__.py"}
    assert packages == set(BELOW)


def test_no_module_needs_itself(graph):
    tuple(TopologicalSorter(graph).static_order())


def test_packages_use_what_is_below(graph):
    assert wrong(graph) == set()


def test_the_tower_stands(graph):
    for at, name in enumerate(TOWER):
        users = {other for other, used in graph.items() if name in used}
        assert not users & set(TOWER[:at])
    encodings = {name for name, used in graph.items() if TOWER[0] in used} - {*TOWER, *ON_TOP}
    assert len(encodings) > 10
    attention = {name for name in encodings if graph[name] & set(TOWER[1:])}
    assert {name for name in attention if package(name) == "d2lpos"} == set()


@pytest.mark.parametrize(
    ("where", "line", "found"),
    [
        ("figures/show.py", "from ..lab import plot", ("d2lpos.figures.show", "d2lpos.lab.plot")),
        (
            "figures/show.py",
            "def f():\n    from d2lpos.lab.plot import x",
            ("d2lpos.figures.show", "d2lpos.lab.plot"),
        ),
        ("rope.py", "if TYPE_CHECKING:\n    from .check import Case", ("d2lpos.rotary.rope", "d2lpos.check")),
        ("rope.py", "import d2lpos.lab.plot", ("d2lpos.rotary.rope", "d2lpos.lab.plot")),
        (
            "check/verdict.py",
            "from ..figures.show import show",
            ("d2lpos.check.verdict", "d2lpos.figures.show"),
        ),
    ],
)
def test_a_way_up_is_found(tmp_path, where, line, found):
    for name in ("__init__", "rope", "check/__init__", "check/verdict", "figures/__init__", "figures/show"):
        path = tmp_path / "d2lpos" / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    (tmp_path / "d2lpos" / "lab").mkdir()
    (tmp_path / "d2lpos" / "lab" / "__init__.py").touch()
    (tmp_path / "d2lpos" / "lab" / "plot.py").write_text("from ..figures.show import show\n")
    assert wrong(imports(tmp_path)) == set()
    (tmp_path / "d2lpos" / where).write_text(line)
    assert wrong(imports(tmp_path)) == {found}


def test_a_circle_is_found(graph):
    with pytest.raises(CycleError):
        tuple(TopologicalSorter(graph | {"d2lpos.lab.run": {"d2lpos.lab.sweep"}}).static_order())
