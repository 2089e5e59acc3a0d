"""What several exercises of this chapter ask about."""

import copy
from collections.abc import Callable
from functools import cache

import torch
from torch import Tensor

from ...pretrained.char_models import load as load_char_model
from ...pretrained.char_models import surprise
from ...pretrained.char_models import tokens as read_as
from ...rotary.rope import RoPE, permute_qk_rows
from ...transformer.model import Transformer
from ..verdict import Misconduct

PLAIN = {"vocabulary": 12, "outputs": 11, "dim": 32, "heads": 4, "kv_heads": 4, "layers": 2, "rotary": 4}


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
    model, card = load_char_model("rope")
    sizes = {"vocabulary": card["unknown"] + 1, "outputs": card["unknown"], "dim": card["d_model"]}
    heads = {"heads": card["heads"], "kv_heads": card["heads"], "rotary": card["d_model"] // card["heads"]}
    config = PLAIN | other_base(10_000.0) | sizes | heads | {"layers": card["layers"]}
    return config, moved(apart(model, config), turning(config), config["rotary"], "interleaved"), card


def turning(config: dict) -> dict[str, int]:
    """The parts of a layer that turn, each with its number of heads."""
    return {"q": config["heads"], "k": config["kv_heads"]}


def moved(file: dict[str, Tensor], heads: dict[str, int], rotary: int, layout: str) -> dict[str, Tensor]:
    """The file with the rows of some parts in another layout, by the package's `permute_qk_rows`.

    heads: by the name of a part, "q", "k" or "v", into how many heads its rows are cut.

    >>> config, file = small()
    >>> moved(file, {"q": 4}, 4, "half")["blocks.0.attention.q.bias"].shape
    torch.Size([32])
    """
    result = dict(file)
    for name, tensor in file.items():
        if (part := name.split(".")[-2]) in heads:
            result[name] = permute_qk_rows(tensor, heads[part], layout, rotary)
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
    surprises = [surprise(model, piece, here)[1:] for piece in read_as(card, text).split(128) if len(piece) == 128]
    return torch.cat(surprises).nanmean().exp().item()


def logits(model: Transformer, positions: list[int]) -> Tensor:
    """What the model says of tokens 0, 1, 2, … at these positions, read at once; (tokens, outputs)."""
    here = torch.tensor(positions)
    with torch.no_grad():
        return model(torch.arange(len(here))[None], here)[0]


def their_load(config, file):
    """Fill a model that turns pairs in the half layout."""
    theta = config.get("rope_theta", 10_000.0)
    model = empty(config, "half", theta)
    heads, rotary, half = config["heads"], config["rotary"], {}
    for name, w in file.items():
        if ".attention.q." in name or ".attention.k." in name:
            w = permute_qk_rows(w, heads, "half", rotary)
        half[name] = w
    model.load_state_dict(together(half))
    return model


def outcome_of(answer: Callable, config: dict, file: dict[str, Tensor], *order: str) -> object:
    """What the answer makes of copies of a configuration and a file, which it must leave as they are."""
    copies = {"config": copy.deepcopy(config), "file": copy.deepcopy(file)}
    outcome = answer(*(copies[name] for name in order))
    same = copies["file"].keys() == file.keys()
    if not same or not all(torch.equal(copies["file"][name], file[name]) for name in file):
        raise Misconduct("Changes its argument file in place")
    if copies["config"] != config:
        raise Misconduct("Changes its argument config in place")
    return outcome


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
