"""The checks of project 1: a checkpoint moves to another layout, and another program's loader has bugs.

A file here is a dictionary of tensors in the interleaved layout. Its names are those of `Transformer`, but queries,
keys and values lie by themselves: `blocks.0.attention.q.weight` (heads · d, dim), `…k.weight` and `…v.weight`
(kv_heads · d, dim), and their biases. Beside it is its configuration.
"""

import copy
from collections.abc import Callable
from functools import cache

import torch
from torch import Tensor, nn

from ..pretrained.reader import load as load_reader
from ..pretrained.reader import surprise
from ..pretrained.reader import tokens as read_as
from ..rotary import rope as package
from ..rotary.rope import RoPE, convert_rows
from ..transformer.model import Transformer
from .cases import by_hand
from .verdict import Answer, Case, Check, Misconduct, count, nothing

PLAIN = {"vocabulary": 12, "outputs": 11, "dim": 32, "heads": 4, "kv_heads": 4, "layers": 2, "rotary": 4}


# Files and the programs that read them ----------------------------------------------------------------------


def base(config: dict) -> float:
    return config["rope_parameters"]["rope_theta"]


def other_base(theta: float) -> dict:
    return {"rope_parameters": {"rope_type": "default", "rope_theta": theta}}


def empty(config: dict, layout: str, theta: float) -> Transformer:
    """A causal model of these sizes, whose weights are yet to come."""
    rope = RoPE(config["dim"] // config["heads"], theta, layout, config["rotary"])
    sizes = [config[name] for name in ("vocabulary", "outputs", "dim", "heads", "layers")]
    return Transformer(*sizes, rope, causal=True, kv_heads=config["kv_heads"])


def together(file: dict[str, Tensor]) -> dict[str, Tensor]:
    """The file with queries, keys and values of a layer stacked, `….project.weight`, as `Transformer` has them.

    >>> part = torch.ones(2, 2)
    >>> together({f"a.{x}.weight": part for x in "qkv"})["a.project.weight"].shape
    torch.Size([6, 2])
    """
    stacked = {}
    for name, tensor in file.items():
        before, _, kind = name.rpartition(".q.")
        if before:
            stacked[f"{before}.project.{kind}"] = torch.cat([file[f"{before}.{x}.{kind}"] for x in "qkv"])
        elif ".k." not in name and ".v." not in name:
            stacked[name] = tensor
    return stacked


def apart(model: Transformer, config: dict) -> dict[str, Tensor]:
    """The weights of a model as a file has them; undoes `together`."""
    head = config["dim"] // config["heads"]
    rows = [head * config[name] for name in ("heads", "kv_heads", "kv_heads")]
    file = {}
    for name, tensor in model.state_dict().items():
        parts = zip("qkv", tensor.split(rows), strict=True) if ".project." in name else [("project", tensor)]
        file |= {name.replace("project", x): part.clone() for x, part in parts}
    return file


def small(**changes: object) -> tuple[dict, dict[str, Tensor]]:
    """Configuration and file of a model with random weights, always the same; `changes` are of the sizes.

    >>> config, file = small(kv_heads=2)
    >>> file["blocks.0.attention.k.weight"].shape
    torch.Size([16, 32])
    """
    config = PLAIN | other_base(10_000.0) | changes
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(0)
        model = empty(config, "interleaved", base(config))
    with torch.no_grad():  # large enough that each head prefers some keys
        for block in model.blocks:
            block.attention.project.weight *= 5
            block.attention.project.bias *= 5
    return config, apart(model, config)


def grouped() -> tuple[dict, dict[str, Tensor]]:
    """The small file of which the project tells: two query heads share a key head, half of a head turns."""
    return small(kv_heads=2, **other_base(500.0))


def trained() -> tuple[dict, dict[str, Tensor], dict]:
    """A model that has read Jane Austen, as a file in the interleaved layout: configuration, file, card."""
    model, card = load_reader("rope")
    sizes = {"vocabulary": card["unknown"] + 1, "outputs": card["unknown"], "dim": card["d_model"]}
    heads = {"heads": card["heads"], "kv_heads": card["heads"], "rotary": card["d_model"] // card["heads"]}
    config = PLAIN | other_base(10_000.0) | sizes | heads | {"layers": card["layers"]}
    return config, moved(apart(model, config), turning(config), config["rotary"], "interleaved"), card


def turning(config: dict) -> dict[str, int]:
    """The parts of a layer that turn, each with its number of heads."""
    return {"q": config["heads"], "k": config["kv_heads"]}


def moved(file: dict[str, Tensor], heads: dict[str, int], rotary: int, layout: str) -> dict[str, Tensor]:
    """The file with the rows of some parts in another layout, by the package's `convert_rows`.

    heads: by the name of a part, "q", "k" or "v", into how many heads its rows are cut.

    >>> config, file = small()
    >>> moved(file, {"q": 4}, 4, "half")["blocks.0.attention.q.bias"].shape
    torch.Size([32])
    """
    result = dict(file)
    for name, tensor in file.items():
        if (part := name.split(".")[-2]) in heads:
            result[name] = convert_rows(tensor, heads[part], layout, rotary)
    return result


def for_halves(config: dict, file: dict[str, Tensor], **others: int) -> dict[str, Tensor]:
    """The file for a model of halves; others are heads by part, where they are not those of `turning`."""
    return moved(file, turning(config) | others, config["rotary"], "half")


def model_of(config: dict, file: dict[str, Tensor], layout: str = "half") -> Transformer:
    """A model that turns pairs in this layout, filled with the file as it is."""
    model = empty(config, layout, base(config))
    model.load_state_dict(together(file))
    return model


def perplexity(config: dict, file: dict[str, Tensor], card: dict, text: str) -> float:
    """e to the loss in nats of a model of halves, filled with the file as it is; it reads 128 characters at a time."""
    model, here = model_of(config, file), torch.arange(128)
    told = [surprise(model, piece, here)[1:] for piece in read_as(card, text).split(128) if len(piece) == 128]
    return torch.cat(told).nanmean().exp().item()


def logits(model: Transformer, positions: list[int]) -> Tensor:
    """What the model says of tokens 0, 1, 2, … at these positions, read at once; (tokens, outputs)."""
    here = torch.tensor(positions)
    with torch.no_grad():
        return model(torch.arange(len(here))[None], here)[0]


# Another program, with its bugs -----------------------------------------------------------------------------


def their_load(config, file):
    """Fill a model that turns pairs in the half layout."""
    theta = config.get("rope_theta", 10_000.0)
    model = empty(config, "half", theta)
    heads, rotary, half = config["heads"], config["rotary"], {}
    for name, w in file.items():
        if ".attention.q." in name or ".attention.k." in name:
            w = convert_rows(w, heads, "half", rotary)
        half[name] = w
    model.load_state_dict(together(half))
    return model


def their_read_on(model, tokens, prompt):
    """Logits of all tokens; those after the prompt come singly."""
    caches, here = model.new_caches(), torch.arange(prompt)
    rows = [model(tokens[None, :prompt], here, caches=caches)]
    for n, token in enumerate(tokens[prompt:], prompt + 1):
        one, here = token.view(1, 1), torch.tensor([n])
        rows.append(model(one, here, caches=caches))
    return torch.cat(rows, dim=1)[0]


def given(answer: Callable, config: dict, file: dict[str, Tensor], *order: str) -> object:
    """What the answer makes of copies of a configuration and a file, which it must leave as they are."""
    copies = {"config": copy.deepcopy(config), "file": copy.deepcopy(file)}
    found = answer(*(copies[name] for name in order))
    same = copies["file"].keys() == file.keys()
    if not same or not all(torch.equal(copies["file"][name], file[name]) for name in file):
        raise Misconduct("Changes its argument file in place")
    return found


# Port a file ------------------------------------------------------------------------------------------------


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


def row_file(d: int, heads: int, kv_heads: int, layers: int) -> dict[str, Tensor]:
    """A file with numbers that tell where they stood."""
    file = {"tokens.weight": torch.arange(48.0).view(12, 4)}
    for layer in range(layers):
        for at, (part, cut) in enumerate({"q": heads, "k": kv_heads, "v": kv_heads}.items()):
            rows, start = cut * d, 1000 * (3 * layer + at)
            name = f"blocks.{layer}.attention.{part}"
            file[f"{name}.weight"] = start + torch.arange(2.0 * rows).view(rows, 2)
            file[f"{name}.bias"] = start + torch.arange(500.0, 500 + rows)
    return file


def port_case(name: str, d: int = 4, rotary: int = 4, heads: int = 2, layers: int = 1) -> Case:
    """What the answer makes of one tensor; there are two heads of keys."""
    config = {"heads": heads, "kv_heads": 2, "rotary": rotary}
    told = ", ".join(f"{key} = {value}" for key, value in config.items())
    file = row_file(d, heads, 2, layers)

    def ask(answer: Callable) -> object:
        found = given(answer, config, file, "file", "config")
        if not isinstance(found, dict):
            return found
        if name not in found:
            raise Misconduct(f"The result lacks {name}")
        return found[name]

    return Case(f"{name}, {d} features a head, {told}", ask)


FIRST = "blocks.0.attention"
CONFIG = {"heads": 2, "kv_heads": 2, "rotary": 4}


def backward(weight: Tensor, heads: int, rotary: int) -> Tensor:
    rows = weight.unflatten(0, (heads, -1))
    pairs = rows[:, :rotary].unflatten(1, (2, -1)).transpose(1, 2).flatten(1, 2)
    return torch.cat([pairs, rows[:, rotary:]], dim=1).flatten(0, 1)


port = Check(
    "port",
    reference=ported,
    properties={
        "queries and keys: first members, then second, head by head": [
            port_case(f"{FIRST}.q.weight", d=8, rotary=8),
            port_case(f"{FIRST}.k.weight", d=8, rotary=8),
        ],
        "keys have heads of their own": [port_case(f"{FIRST}.k.weight", heads=4)],
        "features past the rotary ones stay": [port_case(f"{FIRST}.q.weight", d=8)],
        "biases move with their rows": [
            port_case(f"{FIRST}.q.bias"),
            port_case(f"{FIRST}.k.bias"),
        ],
        "every layer": [port_case("blocks.1.attention.q.weight", layers=2)],
        "all else is as it was": [
            port_case(f"{FIRST}.v.weight"),
            port_case(f"{FIRST}.v.bias"),
            port_case("tokens.weight"),
        ],
        "written by hand": [
            by_hand("the same file", package, "check_layout", "convert_rows", (row_file(4, 2, 2, 1), CONFIG))
        ],
    },
    mistakes={
        "This leads from halves to neighbors. The file has neighbors.": (
            lambda file, config: rearranged(file, turning(config), config["rotary"], backward)
        ),
        "W_K has kv_heads heads of rows. Here it is cut into as many as W_Q.": (
            lambda file, config: rearranged(
                file, dict.fromkeys("qk", config["heads"]), config["rotary"], halves
            )
        ),
        "The whole head moves. Only its first `rotary` features are pairs.": (
            lambda file, config: rearranged(
                file, turning(config), 0, lambda w, heads, _: halves(w, heads, len(w) // heads)
            )
        ),
        "The values move, too. They do not turn, and the next matrix expects them where they are.": (
            lambda file, config: rearranged(
                file, turning(config) | {"v": config["kv_heads"]}, config["rotary"], halves
            )
        ),
        "The keys stay. A query and its keys must be arranged alike.": (
            lambda file, config: rearranged(file, {"q": config["heads"]}, config["rotary"], halves)
        ),
        "The biases stay. A bias is added to the rows that moved.": (
            lambda file, config: ported(file, config) | {n: file[n] for n in file if n.endswith("bias")}
        ),
        "Only the first layer moves.": (
            lambda file, config: ported(file, config) | {n: file[n] for n in file if "blocks.1" in n}
        ),
        "Nothing has moved.": lambda file, config: dict(file),
    },
    answers=(
        Answer(
            "perplexity",
            4.63,
            {
                "So it reads the file as it lies. Port it first.": 46.17,
                "That is the loss in nats. The perplexity is e to the loss.": 1.53,
                "So it reads where the values have moved, too.": 62.3,
            },
            within=0.02,
        ),
    ),
)


# The smallest input -----------------------------------------------------------------------------------------

BUGS = ("values", "keys", "base")


@cache
def programs() -> dict[str, Transformer]:
    """The small file, read right, and by three programs with one bug each."""
    config, file = grouped()
    right, other = for_halves(config, file), config | other_base(10_000.0)
    return {
        "right": model_of(config, right),
        "values": model_of(config, for_halves(config, file, v=config["kv_heads"])),
        "keys": model_of(config, for_halves(config, file, k=config["heads"])),
        "base": model_of(other, right),
    }


def seen(positions: list[int]) -> list[str]:
    """The bugs that tokens at these positions show."""
    found = {name: logits(model, positions) for name, model in programs().items()}
    return [bug for bug in BUGS if (found[bug] - found["right"]).abs().max() > 1e-4]


def input_case(name: str) -> Case:
    """What the positions show that an answer gives for a bug."""

    def ask(answer: dict) -> str:
        given = answer[name]
        given = given.tolist() if isinstance(given, Tensor) else given
        whole = isinstance(given, list | tuple) and all(type(n) is int and n >= 0 for n in given)
        if not whole or not 1 <= len(given) <= PLAIN["vocabulary"]:
            raise Misconduct(f"Positions are asked for, a list of 1 to 12 whole numbers; got {given!r}"[:200])
        shown = seen(list(given))
        return f"{count(len(given), 'token')} to show {', '.join(shown) or 'nothing'}"

    return Case(f"smallest[{name!r}]", ask)


SMALLEST = {"values": [0], "keys": [0, 0], "base": [0, 1]}
smallest = Check(
    "smallest",
    reference=SMALLEST,
    properties={
        "values: shown, and nothing else": [input_case("values")],
        "keys: shown, and the base is not": [input_case("keys")],
        "base: shown, by as few tokens as can be": [input_case("base")],
    },
    mistakes={
        "One token shows it: its weight is 1, whatever its score, and its value comes out.": (
            SMALLEST | {"values": [0, 0]}
        ),
        "A single token has weight 1, whatever its score is. Scores need two to choose from.": (
            SMALLEST | {"keys": [0]}
        ),
        "These keys are turned against their queries, so a wrong base shows as well.": (
            SMALLEST | {"keys": [0, 1]}
        ),
        "At one position nothing is turned against anything, so the base is not asked.": (
            SMALLEST | {"base": [0, 0]}
        ),
        "Two tokens are enough.": (SMALLEST | {"base": [0, 1, 2]}, SMALLEST | {"keys": [0, 0, 0]}),
    },
)


# Mend the loader --------------------------------------------------------------------------------------------


def loaded(config: dict, file: dict[str, Tensor]) -> Transformer:
    return model_of(config, moved(file, turning(config), config["rotary"], "half"))


def load_case(label: str, positions: list[int], **changes: object) -> Case:
    config, file = small(**changes)

    def ask(answer: Callable) -> object:
        model = given(answer, config, file, "config", "file")
        if nothing(model):
            return model
        if not isinstance(model, nn.Module):
            raise Misconduct(f"Returns type {type(model).__name__}; a model is asked for")
        return logits(model, positions)

    return Case(f"{label}; tokens 0, 1, … at {positions}", ask)


load = Check(
    "load",
    reference=loaded,
    properties={
        "keys have heads of their own": [
            load_case("heads = 4, kv_heads = 2", [0, 0], kv_heads=2),
            load_case("heads = 4, kv_heads = 2", [0, 1, 7], kv_heads=2),
        ],
        "the base of the file": [
            load_case("rope_theta = 500", [0, 1], **other_base(500.0)),
            load_case("rope_theta = 500", [0, 1, 7], **other_base(500.0)),
        ],
        "as much of each head turns as the file says": [
            load_case("rotary = 8", [0, 1], rotary=8),
            load_case("rotary = 8", [0, 1, 7], rotary=8),
        ],
    },
    mistakes={
        "The keys are cut into as many heads as the queries. Here several query heads share one.": (
            lambda config, file: model_of(config, for_halves(config, file, k=config["heads"]))
        ),
        "The base is 10000 whatever the file says. Look where its configuration keeps it.": (
            lambda config, file: loaded(config | other_base(10_000.0), file)
        ),
        "The rows of values have moved, too.": (
            lambda config, file: model_of(config, for_halves(config, file, v=config["kv_heads"]))
        ),
        "The rows of keys have not moved.": (
            lambda config, file: model_of(
                config, moved(file, {"q": config["heads"]}, config["rotary"], "half")
            )
        ),
        "Rows and layout do not fit: one is for neighbors, and the other for halves.": (
            lambda config, file: model_of(config, file),
            lambda config, file: model_of(config, for_halves(config, file), "interleaved"),
        ),
        "All features of a head move, whatever `rotary` says.": (
            lambda config, file: model_of(config, moved(file, turning(config), 8, "half"))
        ),
        "All features of a head turn, whatever `rotary` says.": (
            lambda config, file: model_of(config | {"rotary": 8}, for_halves(config, file))
        ),
        "Half of each head turns, whatever `rotary` says.": (
            lambda config, file: loaded(config | {"rotary": 4}, file)
        ),
    },
)


# Mend the cache ---------------------------------------------------------------------------------------------


def read_further(model: Transformer, tokens: Tensor, prompt: int) -> Tensor:
    caches = model.new_caches()
    rows = [model(tokens[None, :prompt], torch.arange(prompt), caches=caches)]
    for at in range(prompt, len(tokens)):
        rows.append(model(tokens[None, [at]], torch.tensor([at]), caches=caches))
    return torch.cat(rows, dim=1)[0]


class Counted:
    """A model that counts the tokens that it is given."""

    def __init__(self, model: Transformer):
        self.model, self.read = model, 0

    def __getattr__(self, name: str) -> object:
        return getattr(self.model, name)

    def __call__(self, tokens: Tensor, *arguments: object, **options: object) -> Tensor:
        self.read += tokens.numel()
        return self.model(tokens, *arguments, **options)


def read_case(tokens: int, prompt: int) -> Case:
    def ask(answer: Callable) -> object:
        with torch.no_grad():
            return answer(programs()["right"], torch.arange(tokens), prompt)

    return Case(f"{count(tokens, 'token')}, prompt = {prompt}", ask)


def reading(tokens: int, prompt: int) -> Case:
    def ask(answer: Callable) -> str:
        model = Counted(programs()["right"])
        with torch.no_grad():
            answer(model, torch.arange(tokens), prompt)
        return f"the model to read {count(model.read, 'token')}"

    return Case(f"{count(tokens, 'token')}, prompt = {prompt}", ask)


read_on = Check(
    "read_on",
    reference=read_further,
    properties={
        "the logits of a text that is read at once": [
            read_case(2, 1),
            read_case(6, 3),
            read_case(8, 2),
            read_case(4, 4),
        ],
        "each token is read once": [reading(6, 3)],
    },
    mistakes={
        "The tokens behind the prompt stand one position too far. Positions count from 0.": their_read_on,
        "Each new token stands at position 0.": (
            lambda model, tokens, prompt: at_positions(model, tokens, prompt, lambda at: 0)
        ),
        "New tokens count from 0 again. They follow the prompt.": (
            lambda model, tokens, prompt: at_positions(model, tokens, prompt, lambda at: at - prompt)
        ),
        "The new tokens stand one position too early: the first of them at that of the prompt's last.": (
            lambda model, tokens, prompt: at_positions(model, tokens, prompt, lambda at: at - 1)
        ),
        "The logits of the prompt are missing.": (
            lambda model, tokens, prompt: read_further(model, tokens, prompt)[prompt:]
        ),
        "This reads the text anew for each token. The cache is there to spare that.": (
            lambda model, tokens, prompt: torch.stack(
                [model(tokens[None, : n + 1], torch.arange(n + 1))[0, -1] for n in range(len(tokens))]
            )
        ),
    },
    answers=(
        Answer(
            "first_wrong",
            4,
            {
                "The prompt has four tokens, 0 to 3. The next one is decoded already.": 5,
                "The prompt is read at once, by the positions of `arange`.": 0,
                "This is the last token of the prompt.": 3,
            },
        ),
    ),
)


def at_positions(model: Transformer, tokens: Tensor, prompt: int, place: Callable) -> Tensor:
    """As the right answer, with new tokens at positions of its own."""
    caches = model.new_caches()
    rows = [model(tokens[None, :prompt], torch.arange(prompt), caches=caches)]
    for at in range(prompt, len(tokens)):
        rows.append(model(tokens[None, [at]], torch.tensor([place(at)]), caches=caches))
    return torch.cat(rows, dim=1)[0]
