"""Solution cells of a notebook: each shows the verdict on the book's answer, and leaves the reader's answer as it was.

So after *Run all* the check of a stub that nobody has touched still says "not attempted yet".
"""

import ast
import sys
from typing import Any

HEAD = "#@title Solution"  # how a solution cell begins
NOTHING = object()


class Solutions:
    """Watches the cells of an IPython shell. `running` says whether one with a solution runs."""

    def __init__(self) -> None:
        self.running, self.kept = False, {}

    def begin(self, info: Any) -> None:
        """Before a cell runs: keep what the reader's names stand for, if the cell is a solution."""
        self.running, self.kept = info.raw_cell.lstrip().startswith(HEAD), {}
        if self.running:
            self.kept = {name: self.names.get(name, NOTHING) for name in stored(info.raw_cell)}

    def end(self, _: Any) -> None:
        """After a cell has run: give the reader's names back, and take away those that were none of them."""
        for name, value in self.kept.items():
            if value is not NOTHING:
                self.names[name] = value
            else:
                self.names.pop(name, None)
        self.running, self.kept = False, {}

    def watch(self) -> None:
        """Watch the shell of the notebook that imports the checks, if one does."""
        shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
        if shell:
            self.names = shell.user_ns
            shell.events.register("pre_run_cell", self.begin)
            shell.events.register("post_run_cell", self.end)


def stored(source: str) -> set[str]:
    """The names that a cell defines at its top; none where it is no Python."""
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return set()
    names = {node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    plain = (node for part in tree.body if not hasattr(part, "name") for node in ast.walk(part))
    return names | {node.id for node in plain if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}


SOLUTIONS = Solutions()
SOLUTIONS.watch()
