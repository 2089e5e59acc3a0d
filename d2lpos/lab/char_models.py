"""Trained models in 8 bits: what a record keeps of a character model, and the script that a page loads it from.

A row of a matrix, and a vector, is whole numbers from −127 to 127 times one float32, its scale. Rows that are shorter
than a scale is worth stay float32.
"""

import base64
import json
import math
from collections.abc import Mapping
from copy import deepcopy

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from ..pretrained.char_models import LONGEST, filled
from ..runtime.threads import one_thread
from ..transformer.model import Transformer
from .models import eval_mode
from .run import Run
from .text import ALPHABET, UNKNOWN, characters
from .training import UNSEEN

__all__ = ["card", "char_model", "dequantized", "losses", "pack", "script"]

LEVELS = 127
SHORTEST = 16  # numbers of a row; a scale for each shorter one would cost as much as it saves
TEXTS = 512  # passages over which the loss at a position is a mean
PASSAGE = "the first 513 characters of chapter 55 of Pride and Prejudice, each but the first asked for"


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


def dequantized(model: Transformer) -> Transformer:
    """A copy of a model whose parameters went through `pack`: what a page reads with.

    >>> model = Transformer(vocabulary=6, outputs=2, dim=16).eval()
    >>> tokens, here = torch.tensor([[0, 1, 2]]), torch.arange(3)
    >>> torch.allclose(dequantized(model)(tokens, here), model(tokens, here), atol=0.1)
    True
    """
    return filled(deepcopy(model), pack(model))


@one_thread()
@torch.no_grad()
def losses(model: Transformer, tokens: Tensor) -> Tensor:
    """−ln p of each token but the first, in nats; (texts, length) gives (texts, length − 1), nan where none is asked.

    >>> blind = Transformer(UNKNOWN + 1, UNKNOWN, dim=16, causal=True)
    >>> losses(blind, characters("test")[None, :9]).shape
    torch.Size([1, 8])
    """
    wanted = tokens[:, 1:].masked_fill(tokens[:, 1:] >= UNKNOWN, -100)
    here = torch.arange(wanted.shape[1])
    logits = torch.cat([model(part, here) for part in tokens[:, :-1].split(16)])
    return cross_entropy(logits.mT, wanted, reduction="none").masked_fill(wanted < 0, math.nan)


def char_model(model: Transformer, run: Run) -> dict:
    """What the record of a character model holds besides: the model in 8 bits, and how it reads.

    places: the loss in nats at each place 0 … 511 of a text, a mean over passages of the test chapters. passage: the
    loss on one passage of the trained model and of that in 8 bits, as far as the training length and as a whole.
    Both are read past the training length as `beyond` says.
    """
    text = characters("test", flowing=True)
    generator = torch.Generator().manual_seed(UNSEEN + run.seed)
    starts = torch.randint(len(text) - LONGEST, (TEXTS, 1), generator=generator)
    passage = {}
    for name, each in {"float": model, "8 bits": dequantized(model)}.items():
        with eval_mode(each, run, beyond(run), LONGEST):
            by_place = losses(each, text[None, : LONGEST + 1])[0]
            passage[name] = {"within": by_place[: run.length].mean().item(), "whole": by_place.mean().item()}
    with eval_mode(model, run, beyond(run), LONGEST):
        places = losses(model, text[starts + torch.arange(LONGEST + 1)]).nanmean(dim=0)
    return pack(model) | {"places": [round(loss, 4) for loss in places.tolist()], "passage": passage}


def beyond(run: Run) -> str:
    """How a model goes on past its training length: by the last row of a table, else as it was trained."""
    return "last row" if run.encoding == "learned" else "as trained"


def card(record: Mapping) -> dict:
    """What a file says of its model, from the record of its training."""
    run, kept_model = Run.from_fields(record["run"]), record["reader"]
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
        "batch": run.batch_size,
        "rate": run.lr,
        "seed": run.seed,
        "command": "python -m d2lpos.lab readers",
        "commit": record["machine"]["commit"],
        "torch": record["machine"]["torch"],
        "started": record["started"],
        "seconds": record["seconds"],
        "key": record["key"],
        "passage": {"name": PASSAGE} | kept_model["passage"],
    }


def script(record: Mapping) -> str:
    """The file that a page loads a model from: a classic script that puts card, shapes and weights into its window."""
    data = {
        "card": card(record),
        "shapes": record["reader"]["shapes"],
        "weights": record["reader"]["weights"],
    }
    return f'(window.d2lposReaders ??= {{}})["{data["card"]["encoding"]}"] = {json.dumps(data)};\n'
