"""Families that read pictures, beside what `encoding_of` reads: rows that are added, turns, and terms of the scores."""

import re
import sys

import torch
from torch import Tensor, nn

from d2lpos.bias.beit import BEiT
from d2lpos.bias.decomposed import Decomposed
from d2lpos.pretrained import Reading
from tests.parity import tiny

TABLE = re.compile(r"(^|\.)(position_embeddings?|pos_embed)(\.weight)?$")


def compare(reading: Reading, made: nn.Module) -> list[str]:
    """A word for each difference, none where they agree."""
    wrong, config = set(), made.config
    if reading.input is not None:
        wrong |= rows(reading, made)
    elif any(TABLE.search(name) for name, _ in made.named_parameters()):
        wrong.add("a table that is not read")
    if "rotate" in (reading.encodings[0].doors if reading.encodings[0] else ()):
        for height, width in (4, 4), (3, 5), (7, 2):
            wrong |= turns(reading, made, height * config.patch_size, width * config.patch_size)
    return sorted(wrong | steps(reading, made) | vectors(reading, made))


def rows(reading: Reading, made: nn.Module) -> set[str]:
    """What the table adds to each token: what a layer, or the module with the table, gives less what it gives without."""
    name, table = next((n, p) for n, p in made.named_parameters() if TABLE.search(n))
    if reading.input.table.shape != table.shape[-2:] and reading.input.table.numel() != table.numel():
        return {"table"}
    owner = made.get_submodule(TABLE.sub("", name))
    layers = next((m for m in owner.modules() if isinstance(m, nn.ModuleList)), None)
    inputs, picture = [], torch.randn(1, 3, *[reading_side(made)] * 2)
    hook = (
        layers[0].register_forward_pre_hook(
            lambda m, a, k: inputs.append(a[0] if a else k["hidden_states"]), with_kwargs=True
        )
        if layers is not None
        else owner.register_forward_hook(
            lambda m, a, out: inputs.append(out[0] if isinstance(out, tuple) else out)
        )
    )
    trained = torch.randn_like(table)
    with torch.no_grad():
        for content in trained, torch.zeros_like(table):
            table.data = content
            made(pixel_values=picture)
    hook.remove()
    added, dim = (inputs[0] - inputs[1])[0], reading.input.table.shape[1]
    added = (added.permute(1, 2, 0) if added.dim() == 3 and added.shape[-1] != dim else added).reshape(
        -1, dim
    )
    reading.input.table.data = trained.reshape(-1, dim)
    ours = reading.input.embed(torch.zeros(1, len(added), dim), reading.first + torch.arange(len(added)))[0]
    return set() if torch.allclose(ours, added, atol=1e-4) else {"rows"}


def reading_side(made: nn.Module) -> int:
    side = made.config.image_size
    return side if isinstance(side, int) else side[0]


def turns(reading: Reading, made: nn.Module, height: int, width: int) -> set[str]:
    """Scores of turned queries and keys, for a picture of this size."""
    picture = torch.randn(1, 3, height, width)

    def calls() -> list[tiny.Call]:
        tiny.CALLS.clear()
        with torch.no_grad():
            made(pixel_values=picture)
        return list(tiny.CALLS)

    theirs = calls()
    with tiny.still(made):
        before = calls()
    places = reading.places(height // made.config.patch_size, width // made.config.patch_size)
    if len(theirs) != len(reading.layers):
        return {f"{len(theirs)} layers"}
    for layer, call, plain in zip(reading.layers, theirs, before, strict=True):
        q, k = layer.encoding.rotate(plain.q, plain.k, places, places)
        mine = tiny.Call(q, k, None, call.scale, False).scores
        if not torch.allclose(mine, call.scores, atol=1e-3 * call.scores.abs().max().item()):
            return {f"scores of {height} × {width} pixels"}
    return set()


def steps(reading: Reading, made: nn.Module) -> set[str]:
    """BEiT's biases, a table each."""
    theirs = [m for m in made.modules() if type(m).__name__.endswith("RelativePositionBias")]
    ours = list(dict.fromkeys(e for e in reading.encodings if isinstance(e, BEiT)))
    if len(theirs) != len(ours):
        return {f"{len(theirs)} tables of steps, and not {len(ours)}"}
    for bias, module in zip(ours, theirs, strict=True):
        nn.init.normal_(module.relative_position_bias_table)
        if bias.table.shape != module.relative_position_bias_table.shape:
            return {"table of steps"}
        bias.table.data = module.relative_position_bias_table.data
        places = reading.places(bias.height, bias.width)
        q = torch.zeros(1, bias.table.shape[1], len(places), 2)
        if not torch.allclose(bias.score(q, q, places, places), module((bias.height, bias.width))[0]):
            return {"bias"}
    return set()


def vectors(reading: Reading, made: nn.Module) -> set[str]:
    """Decomposed vectors, and the windows they are for."""
    theirs = [m for m in made.modules() if hasattr(m, "rel_pos_h")]
    blocks = [m for m in made.modules() if hasattr(m, "window_size") and type(m).__name__.endswith("Layer")]
    if theirs and [m.window_size or None for m in blocks] != [layer.tile for layer in reading.layers]:
        return {"windows"}
    ours = [e for e in reading.encodings if isinstance(e, Decomposed)]
    if len(theirs) != len(ours):
        return {f"{len(theirs)} layers with vectors, and not {len(ours)}"}
    for encoding, module in zip(ours, theirs, strict=True):
        for mine, parameter in (encoding.rows, module.rel_pos_h), (encoding.columns, module.rel_pos_w):
            if mine.shape != parameter.shape:
                return {"vectors"}
            nn.init.normal_(parameter)
            mine.data = parameter.data
        size = encoding.height, encoding.width
        places = reading.places(*size)
        q = torch.randn(1, 4, len(places), encoding.rows.shape[1])
        if not torch.allclose(encoding.score(q, q, places, places), summed(module, q, size)[None], atol=1e-4):
            return {"terms"}
    return set()


def summed(module: nn.Module, q: Tensor, size: tuple[int, int]) -> Tensor:
    """Their terms of the scores; (head, query, key)."""
    home, n = sys.modules[type(module).__module__], size[0] * size[1]
    if hasattr(module, "get_decomposed_rel_pos"):
        terms = module.get_decomposed_rel_pos(q[0], module.rel_pos_h, module.rel_pos_w, size, size)
        return terms.reshape(-1, n, n)
    zero = torch.zeros(len(q[0]), n, n)
    return home.add_decomposed_relative_positions(zero, q[0], module.rel_pos_h, module.rel_pos_w, size, size)
