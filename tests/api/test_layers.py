"""Imports lead downward: no module needs itself by a detour, and no room one that stands above or beside it."""

from graphlib import CycleError, TopologicalSorter

import pytest

from tests.house import FLOORS, LEVEL, PLACE, ROOT, drawing, imports, modules, room, upward

# Of the doors, attention, its form for FlexAttention and the Transformer, each knows those before it.
TOWER = ["d2lpos.encoding", "d2lpos.transformer.attention", "d2lpos.transformer.flex", "d2lpos.transformer.model"]
ENCODINGS = {"input", "rotary", "bias", "offset", "content"}


@pytest.fixture(scope="module")
def graph():
    return imports(ROOT)


def test_every_room_has_its_floor(graph):
    names = {path.name for path in (ROOT / "d2lpos").iterdir()} - {"__pycache__", "py.typed"}
    assert len(names) <= 15 and len(FLOORS) <= 9
    assert {name.removesuffix(".py") for name in names} == LEVEL.keys() - {"d2lpos"} | {"__init__"}
    assert {room(name) for name in modules(ROOT)} == LEVEL.keys()


def test_no_room_is_called_like_a_package_of_data_or_a_folder_of_the_book():
    folders = {path.name for path in [*ROOT.iterdir(), *(ROOT / "book").iterdir()] if path.is_dir()}
    assert not LEVEL.keys() - {"d2lpos"} & folders - {"figures"}  # pictures of the book, and what draws them


def test_no_module_needs_itself(graph):
    tuple(TopologicalSorter(graph).static_order())


def test_rooms_use_what_is_below(graph):
    assert upward(graph) == set()


def test_the_guide_shows_the_house():
    assert PLACE.search((ROOT / "MAINTAINERS.md").read_text("utf-8"))[0] == drawing(ROOT), "run python -m tests.house"


def test_the_tower_stands(graph):
    for at, name in enumerate(TOWER):
        users = {other for other, used in graph.items() if name in used}
        assert not users & set(TOWER[:at])
    encodings = {name for name, used in graph.items() if TOWER[0] in used and room(name) in ENCODINGS}
    assert len(encodings) > 10
    assert {name for name in encodings if graph[name] & set(TOWER[1:])} == set()


@pytest.mark.parametrize(("where", "line", "arrow"), [
    (
        "figures/show.py",
        "def f():\n    from d2lpos.lab.plot import x",
        ("d2lpos.figures.show", "d2lpos.lab.plot"),
    ),
    ("encoding.py", "if TYPE_CHECKING:\n    from .check import Case", ("d2lpos.encoding", "d2lpos.check")),
    ("encoding.py", "import d2lpos.lab.plot", ("d2lpos.encoding", "d2lpos.lab.plot")),
])
def test_a_way_up_is_found(tmp_path, where, line, arrow):
    for name in ("__init__", "encoding", "check/__init__", "figures/__init__", "figures/show", "lab/__init__"):
        path = tmp_path / "d2lpos" / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    (tmp_path / "d2lpos" / "lab" / "plot.py").write_text("from ..figures.show import show\n")
    assert upward(imports(tmp_path)) == set()
    (tmp_path / "d2lpos" / where).write_text(line)
    assert upward(imports(tmp_path)) == {arrow}


def test_a_circle_is_found(graph):
    with pytest.raises(CycleError):
        tuple(TopologicalSorter(graph | {"d2lpos.lab.run": {"d2lpos.lab.sweep"}}).static_order())
