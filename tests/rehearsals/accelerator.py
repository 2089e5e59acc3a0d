"""Run the chapters on a device that is pretended, so that a mistake with devices shows where there is no GPU.

    python -m tests.rehearsals.accelerator

A tensor there says that it is on another device, computes on the CPU, and refuses to meet one that is not there, as
CUDA does. Each chapter with a `device` line gets it, and runs the cells that use what comes from this line, and those
that they need, with two steps of training: what they print counts elsewhere. Cells that say `device=device` are run once
more without it, and one at least must notice.
"""

import ast
import io
import os
import sys
import time
from contextlib import nullcontext, redirect_stdout
from pathlib import Path
from symtable import symtable

import nbformat
import torch
from torch.utils._python_dispatch import TorchDispatchMode, return_and_correct_aliasing
from torch.utils._pytree import tree_leaves, tree_map_only
from torch.utils.backend_registration import _DummyBackendModule, _setup_privateuseone_for_python_backend

from d2lpos import lab

sys.path.append(str(Path(__file__).parents[2] / "book" / "_ext"))
from d2lpos_ext.cells import gate
from notebooks import exercised

CHAPTERS = exercised(Path(__file__).parents[2])
CHOICE = '"cuda" if torch.cuda.is_available() else "cpu"'
NAME = "pretend"
aten = torch.ops.aten
MOVES = {aten.copy_.default, aten._to_copy.default}
INDEXED = {aten.index.Tensor, aten.index_put.default, aten.index_put_.default}  # indices may be on the CPU


class Backend(_DummyBackendModule):
    """What PyTorch asks a device for: its types under autocast, and its random numbers, which are the CPU's."""

    def get_amp_supported_dtype(self) -> list[torch.dtype]:
        return [torch.bfloat16]

    def get_rng_state(self, device: object = None) -> torch.Tensor:
        return torch.get_rng_state()

    def set_rng_state(self, state: torch.Tensor, device: object = None) -> None:
        torch.set_rng_state(state)


class Far(torch.Tensor):
    """A tensor on the pretended device; `near` has its numbers."""

    __torch_function__ = torch._C._disabled_torch_function_impl

    @staticmethod
    def __new__(cls, near: torch.Tensor):
        about = {"strides": near.stride(), "storage_offset": near.storage_offset(), "dtype": near.dtype}
        return cls._make_wrapper_subclass(cls, near.shape, device=torch.device(NAME, 0), **about)

    def __init__(self, near: torch.Tensor):
        self.near = near

    def __repr__(self) -> str:
        return f"{self.near!r} on {self.device}"

    def tolist(self) -> list:
        return self.near.tolist()

    @classmethod
    def __torch_dispatch__(cls, op, types, args=(), kwargs=None):
        return call(op, args, kwargs or {})


class Machine(TorchDispatchMode):
    """Sees what makes tensors and what moves them."""

    supports_higher_order_operators = True

    @classmethod
    def is_infra_mode(cls) -> bool:
        return True  # FlexAttention traces itself, and would stop for another mode

    def __torch_dispatch__(self, op, types, args=(), kwargs=None):
        if not isinstance(op, torch._ops.OpOverload):  # FlexAttention
            return op(*args, **kwargs or {})
        return call(op, args, kwargs or {})


def call(op, args: tuple, kwargs: dict) -> object:
    """What an operation returns, on the device where it belongs. Raises RuntimeError where tensors are on two."""
    far = any(isinstance(leaf, Far) for leaf in tree_leaves((args, kwargs)))
    if far and op not in MOVES:
        met = tree_leaves(args[0] if op in INDEXED else (args, kwargs))
        if any(isinstance(leaf, torch.Tensor) and not isinstance(leaf, Far) and leaf.dim() for leaf in met):
            raise RuntimeError(f"{op} expects all tensors on one device; some are on {NAME}, some on the CPU")
    there, device = far, kwargs.get("device")
    if op is aten.copy_.default:
        there = isinstance(args[0], Far)
    elif device is not None:
        there, kwargs = torch.device(device).type == NAME, kwargs | {"device": "cpu"}
    result = op(*tree_map_only(Far, near, args), **tree_map_only(Far, near, kwargs))
    if not there:
        return result
    result = tree_map_only(torch.Tensor, Far, result)
    moved = not far or op is aten._to_copy.default
    return result if moved else return_and_correct_aliasing(op, args, kwargs, result)


def near(tensor: Far) -> torch.Tensor:
    return tensor.near


def run(source: str, names: dict) -> None:
    """Run a cell, and show the value of its last line as a notebook would."""
    tree = ast.parse(source)
    shown = ast.Expression(tree.body.pop().value) if isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "cell", "exec"), names)  # noqa: S102, because this is our own cell
    if shown:
        repr(eval(compile(shown, "cell", "eval"), names))


def made_and_used(source: str) -> tuple[set[str], set[str]]:
    """The names that a cell leaves behind, and those that it reads, but for the variables of its loops."""
    cell = symtable(source, "cell", "exec")
    made = {name.get_name() for name in cell.get_symbols() if name.is_assigned() or name.is_imported()}
    used = {name.get_name() for name in cell.get_symbols() if name.is_referenced()}
    tables = cell.get_children()
    while tables:
        table = tables.pop()
        used |= {name.get_name() for name in table.get_symbols() if name.is_global()}
        tables += table.get_children()
    loops = [node.target for node in ast.walk(ast.parse(source)) if isinstance(node, ast.For)]
    own = {node.id for target in loops for node in ast.walk(target) if isinstance(node, ast.Name)}
    return made - own, used - own


def touched(sources: list[str]) -> tuple[set[int], set[int]]:
    """The cells that read something of the first one's `device`, and the others that make what these read."""
    names = [made_and_used(source) for source in sources]
    there, reached, needed, wanted = {"device"}, set(), set(), set()
    for number, (made, used) in enumerate(names[1:], 1):
        if used & there:
            reached.add(number)
        there = there | made if used & there else there - made
    for number, (made, used) in reversed(list(enumerate(names))):
        if number in reached or made & wanted:
            needed.add(number)
            wanted = wanted - made | used
    return reached, needed - reached


def rehearse(chapter: Path) -> tuple[list[str], int]:
    """What fails in a chapter that chooses a device, and how many cells notice that `device=device` is gone."""
    cells = [c for c in nbformat.read(chapter, as_version=4).cells if c.cell_type == "code" and not gate(c)]
    sources = [cell.source.replace('!"{executable}"', "pass  # ").replace(CHOICE, f'"{NAME}"') for cell in cells]
    names, failed, noticed = {}, [], 0
    if f'device = "{NAME}"' not in sources[0]:
        return failed, noticed
    reached, needed = touched(sources)
    for number in sorted(reached | needed):
        source, before = sources[number], dict(names)
        with Machine() if number in reached else nullcontext():
            try:
                run(source, names)
            except Exception as error:  # noqa: BLE001, any of them is a fault
                failed.append(f"{chapter.name}, cell {cells[number].id}: {error}")
            if ", device=device" in source:
                try:
                    run(source.replace(", device=device", ""), before)
                except (RuntimeError, ValueError) as error:
                    noticed += NAME in str(error)
    return failed, noticed


def main() -> str | None:
    """Return a sentence for each failure."""
    os.environ["MPLBACKEND"] = "agg"
    _setup_privateuseone_for_python_backend(NAME, Backend())
    train = lab.train

    def short(model, sampler, length, steps=2, *rest, **options):
        return train(model, sampler, length, 2, *rest, **options)

    lab.train = lab.experiment.train = short
    failed, noticed = [], 0
    for chapter in CHAPTERS:
        start = time.perf_counter()
        with redirect_stdout(io.StringIO()):
            faults, here = rehearse(chapter)
        failed, noticed = failed + faults, noticed + here
        print(f"{chapter.name}: {time.perf_counter() - start:.0f} s", flush=True)
    if not noticed:
        failed.append("No cell notices that its device=device is gone.")
    return "\n".join(failed) or None


if __name__ == "__main__":
    sys.exit(main())
