"""A rotary encoding in the place of the one that a model of Hugging Face's transformers has.

Such a model computes cosines and sines once for all layers, in a module `rotary_emb`. Each layer turns its queries and
keys by them, with the function `apply_rotary_pos_emb` of the file in which the model is defined.
"""

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from inspect import signature

import torch
from torch import Tensor, nn

from ..encoding import Encoding, check_encoding

__all__ = ["replace_rotary"]

EVERY = "every layer"


@dataclass(frozen=True)
class Form:
    """What a model wants of each position: for each column of its cosines and sines, the pair of features that it turns."""

    features: int  # of a head
    layout: str
    first: list[int]
    second: list[int]
    wide: bool  # float32, whatever the dtype of the model

    @property
    def rotary(self) -> int:
        return max(self.second) + 1

    def cos_sin(self, encoding: Encoding, x: Tensor, position_ids: Tensor) -> tuple[Tensor, Tensor]:
        """Read off what an encoding makes of pairs (1, 0), so any will do that turns pairs; (batch, sequence, columns)."""
        dtype = torch.promote_types(x.dtype, torch.float32)
        ones = torch.zeros(len(position_ids), 1, position_ids.shape[1], self.features, dtype=dtype, device=x.device)
        ones[..., self.first] = 1
        turned = encoding.rotate(ones, ones[:, :, :0], position_ids, position_ids[:, :0])[0][:, 0]
        turned = turned if self.wide else turned.to(x.dtype)
        return turned[..., self.first], turned[..., self.second]


class RotaryEmbedding(nn.Module):
    """What a model calls `rotary_emb`, by an encoding for each kind of its layers; `replaced` was there before."""

    def __init__(self, replaced: nn.Module, encodings: Mapping[str, Encoding]):
        super().__init__()
        self.replaced, self.encodings = replaced, nn.ModuleDict(encodings)
        self.forms = {kind: form_of(replaced, kind) for kind in encodings}

    def forward(self, x: Tensor, position_ids: Tensor, layer_type: str = EVERY) -> tuple[Tensor, Tensor]:
        if position_ids.dim() != 2:
            raise ValueError(f"position_ids must be (batch, sequence); got {tuple(position_ids.shape)}")
        return self.forms[layer_type].cos_sin(self.encodings[layer_type], x, position_ids)


def replace_rotary(model: nn.Module, encoding: Encoding | Mapping[str, Encoding]) -> nn.Module:
    """The model, in which queries and keys now turn as `encoding` turns them; nothing else of it changes.

    model is one of transformers, such as a `LlamaForCausalLM`. Any encoding that turns the model's pairs will do, with its
    scaling rule: `RoPE(128, 500_000.0, scaling=partial(yarn, factor=4, length=8192))` for heads of 128 features, and
    `RoPE(64, rotary=16)` where a model turns the first 16 of 64. Where layers are of several kinds, as in Gemma 3, it is
    a dictionary with an encoding for each, such as "full_attention" and "sliding_attention". Another call replaces what
    the first one did.

    Masks, windows and factors of the scores stay the model's own, and so does its configuration: what
    `save_pretrained` writes knows nothing of the encoding.

    Raises TypeError for what is no module or no encoding, for a dictionary where the layers are of one kind and the
    reverse; ValueError for an encoding that opens another door than `rotate`, takes positions of several axes, or turns
    other features than the model does, and for a model without a `rotary_emb`, with several classes of them (give the part
    that reads text), with several coordinates for a token (M-RoPE), or with a turn of its own kind (complex numbers, as
    in Llama 4; two functions, as in DeepSeek-V3).

    >>> from torch import nn
    >>> from d2lpos import RoPE
    >>> replace_rotary(nn.Linear(2, 2), RoPE(2))
    Traceback (most recent call last):
    ValueError: model must have a rotary_emb; Linear has none
    """
    if not isinstance(model, nn.Module):
        raise TypeError(f"model must be a module; got {type(model).__name__}")
    owners = [module for module in model.modules() if isinstance(getattr(module, "rotary_emb", None), nn.Module)]
    replaced = {type(own): own for own in (getattr(owner.rotary_emb, "replaced", owner.rotary_emb) for owner in owners)}
    if len(replaced) != 1:
        names = ", ".join(sorted(kind.__name__ for kind in replaced))
        several = f"one class of rotary embedding, such as the part that reads text; got {names}"
        raise ValueError(f"model must have {several if names else f'a rotary_emb; {type(model).__name__} has none'}")
    (own,) = replaced.values()
    encodings = by_kind(own, encoding)
    new = RotaryEmbedding(own, encodings)
    for kind, one in encodings.items():
        check_turn(one, new.forms[kind], own)
    for owner in owners:
        owner.rotary_emb = new
    return model


def by_kind(own: nn.Module, encoding: Encoding | Mapping[str, Encoding]) -> Mapping[str, Encoding]:
    """An encoding for each kind of layers; raises a TypeError or ValueError where one is missing or is none."""
    name, encodings = type(own).__name__, {EVERY: encoding}
    if "layer_type" in signature(own.forward).parameters:
        kinds, encodings = sorted(own.rope_type), encoding
        if not isinstance(encoding, Mapping):
            raise TypeError(f"encoding must be a dictionary with {', '.join(kinds)}, as {name} has; got {encoding!r}")
        if sorted(encoding) != kinds:
            raise ValueError(f"encoding must have {', '.join(kinds)}, as {name} has; got {', '.join(encoding)}")
    for one in encodings.values():
        check_encoding(one)
        if one.doors != ("rotate",):
            raise ValueError(f"encoding must open the door rotate alone; got {one!r}, which opens {one.doors}")
        if one.axes > 1:
            raise ValueError(f"encoding must take positions of one axis, as {name} does; got {one!r}")
    return encodings


def turn(own: nn.Module, q: Tensor, k: Tensor, cos: Tensor, sin: Tensor) -> tuple[Tensor, Tensor]:
    """Queries and keys, turned by the model's function; raises a ValueError where it has no such function, or several."""
    file = sys.modules[type(own).__module__]
    names = [name for name in vars(file) if name.startswith("apply_") and "rotary" in name and "vision" not in name]
    if names != ["apply_rotary_pos_emb"]:
        listed = " and ".join(names) or "no such function"
        raise ValueError(f"model must turn by apply_rotary_pos_emb alone; {file.__name__} has {listed}")
    if "k" in signature(file.apply_rotary_pos_emb).parameters:
        return file.apply_rotary_pos_emb(q, k, cos, sin)
    return file.apply_rotary_pos_emb(q, cos, sin), file.apply_rotary_pos_emb(k, cos, sin)


def form_of(own: nn.Module, kind: str) -> Form:
    """How a model turns, seen from what it does; raises a ValueError where it is no turn of pairs by one position."""
    config, name, here = getattr(own, "config", None), type(own).__name__, places(own)
    if "mrope_section" in (getattr(config, "rope_parameters", None) or {}):
        raise ValueError(f"model must have one position for each token; {name} has several coordinates (M-RoPE)")
    x, rest = torch.zeros(1, device=here.device), () if kind == EVERY else (kind,)
    waves = own(x, here, *rest)
    if not isinstance(waves, tuple) or len(waves) != 2 or waves[0].shape[:-1] != here.shape:
        raise ValueError(f"model must have cosines and sines of each position; {name} gives something else")
    cos, columns = waves[0], waves[0].shape[-1]
    if columns % 2 == 0 and torch.equal(*cos.chunk(2, dim=-1)):
        pairs = [*range(columns // 2)] * 2
    elif torch.equal(cos[..., ::2], cos[..., 1::2]):
        pairs = [column // 2 for column in range(columns)]
    else:
        pairs = [*range(columns)]
    half = max(pairs) + 1
    one = torch.eye(2 * half, device=here.device)[0].expand(1, 1, here.shape[1], -1)
    partner = turn(own, one, one, torch.zeros_like(cos), torch.ones_like(cos))[0][0, 0, 0].argmax().item()
    if partner not in (1, half):  # where a quarter turn takes the first feature
        raise ValueError(f"model must turn features i and i + 1, or i and i + {half}; {name} turns 0 and {partner}")
    step = 1 if partner == half else 2
    heads = getattr(config, "num_attention_heads", None)
    features = getattr(config, "head_dim", None) or (config.hidden_size // heads if heads else 2 * half)
    first, wide = [step * pair for pair in pairs], own(x.bfloat16(), here, *rest)[0].dtype == torch.float32
    second, layout = [pair + partner for pair in first], "half" if step == 1 else "interleaved"
    return Form(max(features, 2 * half), layout, first, second, wide)


def check_turn(encoding: Encoding, form: Form, own: nn.Module) -> None:
    """Raise a ValueError where the model would not turn queries and keys as the encoding does."""
    rotary, here = form.rotary, places(own)
    shape, random = (2, 1, 1, here.shape[1], form.features), torch.Generator().manual_seed(0)
    q, k = torch.randn(shape, generator=random).to(here.device)
    try:
        turned = encoding.rotate(q, k, here, here)
        theirs = turn(own, q[..., :rotary], k[..., :rotary], *form.cos_sin(encoding, q, here))
        for ours, x, y in zip(turned, (q, k), theirs, strict=True):
            torch.testing.assert_close(ours, torch.cat([y, x[..., rotary:]], dim=-1), atol=1e-5, rtol=1e-5)
    except (AssertionError, TypeError, ValueError) as error:
        must = f"encoding must turn the first {rotary} of {form.features} features of a head, in the layout {form.layout!r}"
        raise ValueError(f"{must}, as {type(own).__name__} does; got {encoding!r}") from error


def places(own: nn.Module) -> Tensor:
    """A few positions, (1, sequence), on the device of the model."""
    return torch.arange(5, device=next((x.device for x in own.buffers()), None))[None]
