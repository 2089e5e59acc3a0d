"""The house: rooms of the package, floors, and who uses whom. `python -m tests.house` draws it into MAINTAINERS.md.

All imports count, those inside functions and those for annotations, too.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
# From the ground up. A room uses rooms of lower floors alone; `d2lpos` is what `import d2lpos` brings.
FLOORS = (
    ("config", "positions", "runtime"),
    ("encoding",),
    ("input", "transformer"),
    ("rotary", "bias", "content"),
    ("offset",),
    ("d2lpos", "pretrained"),
    ("figures", "check"),
    ("lab",),
)
LEVEL = {room: level for level, rooms in enumerate(FLOORS) for room in rooms}
ENCODERS = [room for floor in FLOORS[:5] for room in floor if room not in ("config", "runtime")]  # what encodings are made of
PLACE = re.compile(r"(?<=<!-- house -->\n).*?(?=<!-- /house -->)", re.DOTALL)


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


def room(module: str) -> str:
    """The first part of a module's name below the package."""
    return module.split(".")[1] if "." in module else module


def arrows(graph: dict[str, set[str]]) -> dict[str, set[str]]:
    """The other rooms that each room uses."""
    by_room: dict[str, set[str]] = {}
    for module, used in graph.items():
        by_room.setdefault(room(module), set()).update(map(room, used))
    return {name: used - {name} for name, used in by_room.items()}


def upward(graph: dict[str, set[str]]) -> set[tuple[str, str]]:
    """Imports of a room that stands above or beside."""
    pairs = ((name, other) for name, others in graph.items() for other in others)
    return {(a, b) for a, b in pairs if room(a) != room(b) and LEVEL[room(b)] >= LEVEL[room(a)]}


def drawing(root: Path) -> str:
    """The house as Markdown: a diagram without the arrows that follow from others, and a table of all rooms."""
    uses, known = arrows(imports(root)), modules(root)
    reached = {name: _reached(name, uses) for name in uses}
    lines = ["```mermaid", "graph TD"]
    rows = ["| Floor | Room | What is in it |", "|---|---|---|"]
    for level, rooms in reversed(list(enumerate(FLOORS))):
        for name in rooms:
            direct = {other for other in uses[name] if not any(other in reached[via] for via in uses[name] - {other})}
            lines += [f"  {name} --> {other}" for other in sorted(direct, key=_order)]
            path = known["d2lpos" if name == "d2lpos" else f"d2lpos.{name}"]
            says = ast.get_docstring(ast.parse(path.read_text("utf-8"))).partition("\n")[0]
            rows.append(f"| {level} | `{name}` | {says} |")
    return "\n".join([*lines, "```", "", *rows, ""])


def _reached(name: str, uses: dict[str, set[str]]) -> set[str]:
    return uses[name].union(*(_reached(other, uses) for other in uses[name]))


def _order(name: str) -> tuple[int, str]:
    return LEVEL[name], name


if __name__ == "__main__":
    guide = ROOT / "MAINTAINERS.md"
    guide.write_text(PLACE.sub(lambda _: drawing(ROOT), guide.read_text("utf-8")), "utf-8")
