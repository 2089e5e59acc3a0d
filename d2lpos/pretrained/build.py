"""Modules from a reading: what `d2lpos.config.read` says of a file, as encodings that turn, bias and add."""

import math
from collections.abc import Callable, Collection
from dataclasses import fields
from functools import partial

import torch
from torch import Tensor

from ..bias.alibi import ALiBi, slopes
from ..bias.beit import BEiT
from ..bias.decomposed import Decomposed
from ..bias.swin import Swin
from ..bias.swin_v2 import SwinV2
from ..bias.t5 import T5Bias
from ..config import lines, read, schema
from ..config.arguments import check_until
from ..config.tables import Refused
from ..encoding import Encoding
from ..input.convolutional import Convolutional
from ..input.learned import Learned
from ..input.sinusoids import Sinusoidal
from ..offset.deberta import DeBERTa
from ..offset.transformer_xl import TransformerXL
from ..positions.grid import cells, coordinates
from ..rotary import scaling
from ..rotary.mrope import MRoPE
from ..rotary.normed import Normed
from ..rotary.rope import RoPE
from ..rotary.rope_values import RoPEValues
from ..transformer.temperature import power, steps
from .layer import Layer, Reading

__all__ = ["build", "encoding_of"]

KINDS = {
    kind.__name__: kind
    for kind in (BEiT, Convolutional, Decomposed, DeBERTa, Learned, Sinusoidal, Swin, SwinV2, T5Bias, TransformerXL)
}
TEMPERATURES = {"power": power, "steps": steps}
# Numbers of rules that are floats, whatever JSON says.
FLOATS = ["factor", "attention_factor", "attention_factors", "share", "low", "high", "short", "long"]
CURRENT = ("dynamic_ntk", "longrope")  # rules that depend on the length of the text
APART = {"encoding", "features", "indexer", "temperature"}  # what of a layer is made anew
SAME = [field.name for field in fields(Layer) if field.name not in APART]


def encoding_of(config: object, tokens: int | None = None, ignore: Collection[str] = ()) -> Reading:
    """What a configuration says about position, layer by layer, as modules of what `d2lpos.config.read` reads.

    config is a `config.json` as a dictionary, as transformers 4 or 5 writes it, or a configuration of transformers. Of one
    with a `text_config` only this is read. For a missing key the default of the family's class in transformers is used, and
    the reading lists it under `defaults`. tokens is the length of the text, on which dynamic NTK and LongRoPE depend.
    ignore names keys to skip; the reading lists them. `print` of a reading shows it in words. Raises what
    `d2lpos.config.read` raises, and ValueError without tokens if the encoding depends on the length.

    Learned tables have the right size but are not trained, because their weights are not in the configuration. For a model
    of pictures the reading is for pictures of the configuration's size.

    >>> sizes = {"hidden_size": 64, "num_attention_heads": 4}
    >>> llama = {"model_type": "llama", "num_hidden_layers": 2, **sizes}
    >>> rope = encoding_of(llama | {"rope_theta": 5e5}).encodings[0]
    >>> rope.dim, rope.base, rope.layout
    (16, 500000.0, 'half')
    """
    return build(read(config, ignore), tokens)


def build(reading: schema.Reading, tokens: int | None = None) -> Reading:
    """The modules of a reading, layer by layer.

    tokens is the length of the text that will be read, which dynamic NTK and LongRoPE depend on. Learned tables come untrained,
    in the right size: the weights are the model's. Raises Refused, a ValueError, without tokens where these count, and for
    more tokens than the reading holds for.

    >>> from d2lpos.config import read
    >>> build(read({"model_type": "gpt2"})).input.table.shape
    torch.Size([1024, 768])
    """
    check_until(reading, tokens)
    if reading["lengths"]["until"] is not None and tokens is None:
        raise Refused("tokens_past", family=reading["family"], length=reading["lengths"]["until"])
    encoder = reading["encoder"]
    return Reading(
        reading["family"],
        **of_part(reading, tokens),
        encoder=encoder and Reading(reading["family"], **of_part(encoder, tokens)),
        places=reading["places"] and partial(places, **reading["places"]),
        defaults=reading["defaults"],
        ignored=tuple(reading["ignored"]),
        text=lines(reading, tokens),
    )


def of_part(part: schema.Part, tokens: int | None) -> dict[str, object]:
    """What a part's reading is made with; layers that share nothing have encodings of their own."""
    shared: dict[int, Encoding | None] = {}
    layers = []
    for number in part["layers"]:
        kind = part["kinds"][number]
        alike = kind["encoding"] and (kind["encoding"].get("shared") or kind["encoding"]["kind"] == "ALiBi")
        encoding = shared.get(number) if alike else None
        encoding = module_of(kind["encoding"], tokens) if encoding is None else encoding
        shared[number] = encoding
        layers.append(of_layer(kind, encoding, tokens))
    return {
        "layers": tuple(layers),
        "input": module_of(part["input"], tokens),
        "first": part["first"],
        "causal": part["causal"],
    }


def of_layer(kind: schema.Layer, encoding: Encoding | None, tokens: int | None) -> Layer:
    temperature = kind["temperature"]
    if temperature:
        numbers = {name: value for name, value in temperature.items() if name != "kind"}
        temperature = partial(TEMPERATURES[kind["temperature"]["kind"]], **numbers)
    return Layer(
        **{name: kind[name] for name in SAME},
        encoding=encoding,
        features=kind["features"] and tuple(kind["features"]),
        temperature=temperature,
        indexer=module_of(kind["indexer"], tokens),
    )


def module_of(numbers: schema.Encoding | None, tokens: int | None = None) -> Encoding | None:
    """The module of an encoding's numbers."""
    if numbers is None:
        return None
    if "rotary" in numbers:
        return turn_of(numbers, tokens)
    kind, rest = (
        numbers["kind"],
        {key: value for key, value in numbers.items() if key not in ("kind", "shared")},
    )
    if kind != "ALiBi":
        return KINDS[kind](**rest)
    heads, octaves, dim = numbers["heads"], float(numbers["octaves"]), numbers["divided"]
    if dim is None:
        return ALiBi(heads, octaves=octaves)
    return ALiBi(heads, slopes=slopes(heads, octaves=octaves) / math.sqrt(dim))


def turn_of(numbers: schema.Encoding, tokens: int | None) -> Encoding:
    rule = rule_of(numbers["rule"], tokens)
    rule = backward(rule) if numbers["backward"] else rule
    dim, base, layout = numbers["dim"], numbers["base"], numbers["layout"]
    if numbers["kind"] == "MRoPE":
        return MRoPE(dim, numbers["deal"], base, layout, rule)
    kind = RoPEValues if numbers["kind"] == "RoPEValues" else RoPE
    turn = kind(dim, base, layout, numbers["rotary"], rule, numbers["axes"])
    return turn if numbers["norm"] is None else Normed(turn, eps=numbers["norm"])


def rule_of(rule: schema.Rule | None, tokens: int | None) -> Callable[[Tensor], tuple[Tensor, float]]:
    """The rule of its numbers for a text of so many tokens."""
    if rule is None:
        return scaling.unscaled
    kind = rule["kind"]
    if kind in CURRENT and tokens is None:
        raise Refused("tokens", kind=kind.removesuffix("_ntk"))
    numbers: dict[str, object] = {}
    for key, value in rule.items():
        if key in FLOATS and value is not None:
            value = list(map(float, value)) if isinstance(value, list) else float(value)
        numbers[key] = value
        if key == "length" and kind in CURRENT:
            numbers["current"] = tokens
    del numbers["kind"]
    if scales := numbers.pop("attention_factors", None):
        numbers["attention_factor"] = scales[tokens > rule["length"]]
    function = getattr(scaling, kind)
    return partial(function, **numbers) if numbers else function


def backward(rule: Callable[[Tensor], tuple[Tensor, float]]) -> Callable[[Tensor], tuple[Tensor, float]]:
    """The rule, then turned the other way."""

    def turned(frequencies: Tensor) -> tuple[Tensor, float]:
        scaled, factor = rule(frequencies)
        return scaling.negated(scaled)[0], factor

    turned.rule = rule
    return turned


def places(height: int, width: int, before: int, at: float, unit: str) -> Tensor:
    """Where the tokens of a picture of so many cells stand; (before + height · width, 2)."""
    grid = cells(height, width) if unit == "cells" else 2 * torch.pi * coordinates(height, width)
    return torch.cat([torch.full((before, 2), at).to(grid), grid]) if before else grid
