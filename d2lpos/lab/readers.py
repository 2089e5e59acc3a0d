"""Trained models in 8 bits: what a record keeps of a reader, and the script that a page loads it from.

A row of a matrix, and a vector, is whole numbers from −127 to 127 times one float32, its scale. Rows that are shorter
than a scale is worth stay float32.
"""

import base64
import json
import math
import re
from collections.abc import Mapping
from copy import deepcopy

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from ..arguments import check_name
from ..published import published
from ..threads import one_thread
from ..transformer import Transformer
from .models import READINGS, build, place, reading
from .run import Run
from .studies import STUDIES
from .text import ALPHABET, UNKNOWN, characters
from .training import UNSEEN

__all__ = ["card", "dequantized", "load", "pack", "reader", "script", "surprise", "unpack"]

LEVELS = 127
SHORTEST = 16  # numbers of a row; a scale for each shorter one would cost as much as it saves
LONGEST = 512  # characters that a reader is given
TEXTS = 512  # passages over which the loss at a position is a mean
PASSAGE = "the first 512 characters of chapter 55 of Pride and Prejudice"
FILE = re.compile(r'\(window\.d2lposReaders \?\?= \{\}\)\["(\w+)"\] = (\{.*\});\n')


def pack(model: Transformer) -> dict:
    """All parameters of a model in 8 bits: `shapes` [[name, rows, columns, kind], …] and `weights`, base64.

    kind is "q8" or "f32". The bytes are first all float32, little endian: of each tensor in the order of
    shapes, a scale for each row of a "q8", or all numbers of an "f32". Then come the int8 of each "q8".
    Raises ValueError for a parameter that is not finite, or has more than two axes.

    >>> packed = pack(Transformer(vocabulary=6, outputs=2, dim=16))
    >>> packed["shapes"][0], packed["shapes"][-1]
    (['tokens.weight', 6, 16, 'q8'], ['head.bias', 1, 2, 'f32'])
    """
    shapes, floats, levels = [], [], []
    for name, parameter in model.named_parameters():
        if parameter.dim() > 2 or not parameter.isfinite().all():
            raise ValueError(f"{name} must be a finite vector or matrix; got {tuple(parameter.shape)}")
        rows = parameter.detach().float().cpu().reshape(-1, parameter.shape[-1])
        small = rows.shape[1] < SHORTEST
        shapes.append([name, *rows.shape, "f32" if small else "q8"])
        if small:
            floats.append(rows)
            continue
        scales = rows.abs().amax(dim=1) / LEVELS
        floats.append(scales)
        levels.append((rows / scales.where(scales > 0, 1)[:, None]).round().to(torch.int8))
    data = torch.cat([part.flatten() for part in floats]).numpy().astype("<f4").tobytes()
    data += torch.cat([part.flatten() for part in levels]).numpy().tobytes()
    return {"shapes": shapes, "weights": base64.b64encode(data).decode()}


def unpack(packed: Mapping) -> dict[str, Tensor]:
    """The parameters by name, float32, of what `pack` has packed.

    Raises ValueError for another kind of tensor, and for weights that do not fill the shapes.

    >>> model = Transformer(vocabulary=6, outputs=2, dim=16)
    >>> off = (unpack(pack(model))["tokens.weight"] - model.tokens.weight).abs().max()
    >>> bool(off <= model.tokens.weight.abs().max() / 127)
    True
    """
    shapes, data = packed["shapes"], bytearray(base64.b64decode(packed["weights"], validate=True))
    for name, _, _, kind in shapes:
        check_name(f"kind of {name}", kind, ("q8", "f32"))
    floats = [rows if kind == "q8" else rows * columns for _, rows, columns, kind in shapes]
    whole = [rows * columns if kind == "q8" else 0 for _, rows, columns, kind in shapes]
    if len(data) != 4 * sum(floats) + sum(whole):
        raise ValueError(
            f"weights must have {4 * sum(floats) + sum(whole)} bytes, to fill the shapes; got {len(data)}"
        )
    numbers = torch.frombuffer(data, dtype=torch.float32, count=sum(floats)).split(floats)
    levels = torch.frombuffer(data, dtype=torch.int8, offset=4 * sum(floats)).split(whole)
    return {
        name: (scales[:, None] * part.view(rows, columns) if kind == "q8" else scales.view(rows, columns))
        for (name, rows, columns, kind), scales, part in zip(shapes, numbers, levels, strict=True)
    }


def dequantized(model: Transformer) -> Transformer:
    """A copy of a model whose parameters went through `pack`: what a page reads with.

    >>> model = Transformer(vocabulary=6, outputs=2, dim=16).eval()
    >>> tokens, here = torch.tensor([[0, 1, 2]]), torch.arange(3)
    >>> torch.allclose(dequantized(model)(tokens, here), model(tokens, here), atol=0.1)
    True
    """
    return filled(deepcopy(model), pack(model))


def filled(model: Transformer, packed: Mapping) -> Transformer:
    """The model with the parameters that were packed, in evaluation; raises ValueError where they are not its own."""
    found = unpack(packed)
    mine = dict(model.named_parameters())
    if mine.keys() != found.keys():
        raise ValueError(f"shapes must name {', '.join(mine)}; got {', '.join(found)}")
    with torch.no_grad():
        for name, parameter in mine.items():
            rows, columns = found[name].shape
            if (rows, columns) != (parameter.numel() // parameter.shape[-1], parameter.shape[-1]):
                wanted = tuple(parameter.shape)
                raise ValueError(f"{name} must be {wanted}, as in the model; got {(rows, columns)}")
            parameter.copy_(found[name].view_as(parameter))
    return model.eval()


@one_thread()
@torch.no_grad()
def surprise(model: Transformer, tokens: Tensor, positions: Tensor | None = None) -> Tensor:
    """−ln p of each token but the first, in nats; (texts, length) gives (texts, length − 1).

    positions: (length,), 0, 1, 2, … where none are given. A token never sees those after it, wherever they stand.
    A token that stands for any other character has no probability, and is nan.

    >>> blind = Transformer(UNKNOWN + 1, UNKNOWN, dim=16)
    >>> surprise(blind, characters("test")[None, :9]).shape
    torch.Size([1, 8])
    """
    length = tokens.shape[1] - 1
    positions = torch.arange(length + 1) if positions is None else positions
    past = torch.ones(length, length, dtype=torch.bool).tril()
    wanted = tokens[:, 1:].masked_fill(tokens[:, 1:] >= UNKNOWN, -100)
    logits = torch.cat([model(part, positions[:-1], past) for part in tokens[:, :-1].split(16)])
    return cross_entropy(logits.mT, wanted, reduction="none").masked_fill(wanted < 0, math.nan)


def reader(model: Transformer, run: Run) -> dict:
    """What the record of a reader holds besides: the model in 8 bits, and how it reads.

    places: the loss in nats at each place 0 … 511 of a text, a mean over passages of the test chapters. passage: the
    loss on one passage of the trained model and of that in 8 bits, as far as the training length and as a whole.
    Both are read past the training length as `beyond` says.
    """
    text = characters("test", flowing=True)
    generator = torch.Generator().manual_seed(UNSEEN + run.seed)
    starts = torch.randint(len(text) - LONGEST, (TEXTS, 1), generator=generator)
    losses = {}
    for name, each in {"float": model, "8 bits": dequantized(model)}.items():
        with reading(each, run, beyond(run), LONGEST):
            found = surprise(each, text[None, : LONGEST + 1])[0]
            losses[name] = {"within": found[: run.length].mean().item(), "whole": found.mean().item()}
    with reading(model, run, beyond(run), LONGEST):
        places = surprise(model, text[starts + torch.arange(LONGEST + 1)]).nanmean(dim=0)
    return pack(model) | {"places": [round(loss, 4) for loss in places.tolist()], "passage": losses}


def beyond(run: Run) -> str:
    """How a reader goes on past its training length: by the last row of a table, else as it was trained."""
    return "last row" if run.encoding == "learned" else "as trained"


def card(record: Mapping) -> dict:
    """What a file says of its model, from the record of its training."""
    run, found = Run(**record["run"]), record["reader"]
    return {
        "encoding": run.encoding,
        "beyond": beyond(run),
        "d_model": run.dim,
        "heads": run.heads,
        "layers": run.layers,
        "train_length": run.length,
        "vocabulary": ALPHABET,
        "unknown": UNKNOWN,
        "parameters": record["parameters"],
        "trained_on": "chapters 1 to 48 of Pride and Prejudice by Jane Austen, 1813, in the public domain",
        "steps": run.steps,
        "batch": run.size,
        "rate": run.rate,
        "seed": run.seed,
        "command": "python -m d2lpos.lab readers",
        "commit": record["machine"]["commit"],
        "torch": record["machine"]["torch"],
        "started": record["started"],
        "seconds": record["seconds"],
        "key": record["key"],
        "passage": {"name": PASSAGE} | found["passage"],
    }


def script(record: Mapping) -> str:
    """The file that a page loads a model from: a classic script that puts card, shapes and weights into its window."""
    told = {
        "card": card(record),
        "shapes": record["reader"]["shapes"],
        "weights": record["reader"]["weights"],
    }
    return f'(window.d2lposReaders ??= {{}})["{told["card"]["encoding"]}"] = {json.dumps(told)};\n'


def read(text: str) -> dict:
    """Card, shapes and weights from the text of a file. Raises ValueError for what `script` does not write.

    >>> read("alert(1)")
    Traceback (most recent call last):
    ValueError: a reader's file must be one assignment to d2lposReaders; got 'alert(1)'
    """
    found = FILE.fullmatch(text)
    if not found:
        raise ValueError(f"a reader's file must be one assignment to d2lposReaders; got {text[:40]!r}")
    return json.loads(found[2])


def load(name: str) -> tuple[Transformer, dict]:
    """A published reader, as a page has it, and its card.

    The model reads as its card says past its training length. Raises ValueError for an encoding that has none.

    >>> model, about = load("alibi")
    >>> about["train_length"]
    128
    """
    found = {run.encoding: run for run in STUDIES["readers"].full}
    check_name("name", name, found)
    told = read(published("results").joinpath(f"readers-{name}.js").read_text("utf-8"))
    run = found[name]
    model = filled(build(run), told)
    place(model, READINGS[told["card"]["beyond"]](run, LONGEST)(model.encoding))
    return model, told["card"]
