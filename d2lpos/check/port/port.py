"""Port a file."""

from collections.abc import Callable

import torch
from torch import Tensor

from ...rotary import rope as package
from ..cases import by_hand
from ..verdict import Answer, Case, Check, Misconduct
from .material import outcome_of


def halves(weight: Tensor, heads: int, rotary: int) -> Tensor:
    """Rows of neighbors to rows of halves, among the first `rotary` of each head."""
    rows = weight.unflatten(0, (heads, -1))
    pairs = rows[:, :rotary].unflatten(1, (-1, 2)).transpose(1, 2).flatten(1, 2)
    return torch.cat([pairs, rows[:, rotary:]], dim=1).flatten(0, 1)


def rearranged(file: dict, heads: dict, rotary: int, rows: Callable) -> dict:
    """The file, in which `rows` has put those of some parts in another order."""
    result = dict(file)
    for name, tensor in file.items():
        if (part := name.split(".")[-2]) in heads:
            result[name] = rows(tensor, heads[part], rotary)
    return result


def ported(file: dict, config: dict) -> dict:
    return rearranged(file, {"q": config["heads"], "k": config["kv_heads"]}, config["rotary"], halves)


def row_file(d: int, heads: int, kv_heads: int, layers: int, dim: int = 2) -> dict[str, Tensor]:
    """A file with numbers that tell where they stood."""
    file = {"tokens.weight": torch.arange(6.0 * dim**2).view(-1, dim)}
    for layer in range(layers):
        for at, (part, cut) in enumerate({"q": heads, "k": kv_heads, "v": kv_heads}.items()):
            rows, start = cut * d, 1000 * ((3 * layer + at) % 9)
            name = f"blocks.{layer}.attention.{part}"
            file[f"{name}.weight"] = start + torch.arange(float(dim * rows)).view(rows, dim)
            file[f"{name}.bias"] = start + torch.arange(500.0, 500 + rows)
    return file


def port_case(
    name: str, d: int = 4, rotary: int = 4, heads: int = 2, kv_heads: int = 2, layers: int = 1, dim: int = 2
) -> Case:
    """What the answer makes of one tensor."""
    config = {"rotary": rotary, "heads": heads, "kv_heads": kv_heads}
    settings = ", ".join(f"{key} = {value}" for key, value in config.items())
    file = row_file(d, heads, kv_heads, layers, dim)

    def ask(answer: Callable) -> object:
        outcome = outcome_of(answer, config, file, "file", "config")
        if not isinstance(outcome, dict):
            return outcome
        if name not in outcome:
            raise Misconduct(f"The result lacks {name}")
        return outcome[name]

    return Case(f"{name}, {d} features a head, {settings}", ask)


FIRST = "blocks.0.attention"
CONFIG = {"heads": 2, "kv_heads": 2, "rotary": 4}


port = Check(
    "port",
    reference=ported,
    properties={
        "queries and keys: first members, then second, head by head": [
            port_case(f"{FIRST}.q.weight", d=8, rotary=8),
            port_case(f"{FIRST}.k.weight", d=8, rotary=8),
            port_case(f"{FIRST}.q.weight", heads=3, kv_heads=3),
        ],
        "keys have heads of their own": [
            port_case(f"{FIRST}.k.weight", heads=4),
            port_case(f"{FIRST}.k.weight", heads=6, kv_heads=3, dim=5),
        ],
        "features past the rotary ones stay": [port_case(f"{FIRST}.q.weight", d=8)],
        "biases move with their rows": [port_case(f"{FIRST}.q.bias"), port_case(f"{FIRST}.k.bias", d=8)],
        "every layer": [port_case("blocks.10.attention.q.weight", layers=11), port_case("blocks.1.attention.k.weight", layers=2)],
        "all else is as it was": [
            port_case(f"{FIRST}.v.weight"), port_case(f"{FIRST}.v.bias"), port_case("tokens.weight"),
        ],
        "written by hand": [
            by_hand("the same file", package, "check_layout", "permute_qk_rows", (row_file(4, 2, 2, 1), CONFIG))
        ],
    },
    mistakes={
        "This leads from halves to neighbors. The file has neighbors.":
            "unflatten(1, (-1, 2)) → unflatten(1, (2, -1))",
        "W_K has kv_heads heads of rows. Here it is cut into as many as W_Q.":
            '"k": config["kv_heads"] → "k": config["heads"]',
        "The whole head moves. Only its first `rotary` features are pairs.":
            "heads[part], rotary → heads[part], len(tensor) // heads[part]",
        "The values move, too. They do not turn, and the next matrix expects them where they are.":
            '"k": config["kv_heads"] → "k": config["kv_heads"], "v": config["kv_heads"]',
        "The keys stay. A query and its keys must be arranged alike.": ', "k": config["kv_heads"] → ',
        "The biases stay. A bias is added to the rows that moved.":
            lambda file, config: ported(file, config) | {n: file[n] for n in file if n.endswith("bias")},
        "A layer stays as it is. Each has queries and keys to move.":
            lambda file, config: ported(file, config) | {n: file[n] for n in file if "blocks.0" not in n},
        "Nothing has moved.": lambda file, config: dict(file),
    },
    answers=(Answer("perplexity", 4.63, within=0.02, mistakes={
        "So it reads the file as it lies. Port it first.": 46.17,
        "That is the loss in nats. The perplexity is e to the loss.": 1.53,
        "So it reads where the values have moved, too.": 62.3,
    }),),
    as_good={
        "rows[:, :rotary].unflatten(1, (-1, 2)).transpose(1, 2) → rows[:, :rotary].unflatten(1, (-1, 2)).transpose(2, 1)": "Two axes change places, whichever is named first.",
    },
)
