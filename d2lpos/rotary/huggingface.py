"""A rotary encoding in the place of the one that a model of Hugging Face's transformers has.

Such a model computes cosines and sines once for all layers, in a module `rotary_emb`. Each layer turns its queries and
keys by them, with the function `apply_rotary_pos_emb` of the file in which the model is defined.
"""

import sys
from collections.abc import Mapping
from inspect import signature

import torch
from torch import Tensor, nn

from ..encoding import Encoding, check_encoding

__all__ = ["replace_rotary"]

EVERY = "every layer"


class RotaryEmbedding(nn.Module):
    """What a model calls `rotary_emb`, by an encoding for each kind of its layers; `replaced` was there before."""

    def __init__(self, replaced: nn.Module, encodings: Mapping[str, Encoding]):
        super().__init__()
        self.replaced, self.encodings = replaced, nn.ModuleDict(encodings)
        self.forms = {kind: form_of(replaced, kind) for kind in encodings}
        for kind in encodings:
            self.check_turn(kind)

    def forward(self, x: Tensor, position_ids: Tensor, layer_type: str = EVERY) -> tuple[Tensor, Tensor]:
        """Cosines and sines, (batch, sequence, columns), read off what any encoding that turns pairs makes of (1, 0)."""
        if position_ids.dim() != 2:
            raise ValueError(f"position_ids must be (batch, sequence); got {tuple(position_ids.shape)}")
        features, first, second, wide = self.forms[layer_type]
        dtype = torch.promote_types(x.dtype, torch.float32)
        pairs = torch.zeros(*position_ids.shape, features, dtype=dtype, device=x.device)[:, None]
        pairs[..., first] = 1
        turned, _ = self.encodings[layer_type].rotate(pairs, pairs[:, :, :0], position_ids, position_ids[:, :0])
        turned = turned[:, 0].to(dtype if wide else x.dtype)
        return turned[..., first], turned[..., second]

    def check_turn(self, kind: str) -> None:
        """Raise a ValueError where the model would not turn queries and keys as the encoding does."""
        encoding, (features, _, second, _), here = self.encodings[kind], self.forms[kind], places(self.replaced)
        rotary = max(second) + 1
        q = torch.arange(5.0 * features, device=here.device).sin().view(1, 1, 5, features)
        try:
            waves = self(q, here, kind)
            for x, turned in zip((q, 2 * q), encoding.rotate(q, 2 * q, here, here), strict=True):
                theirs = torch.cat([turn(self.replaced, x[..., :rotary], *waves), x[..., rotary:]], dim=-1)
                torch.testing.assert_close(turned, theirs, atol=1e-5, rtol=1e-5)
        except (AssertionError, IndexError, TypeError, ValueError) as error:
            layout = f"the layout {'interleaved' if second[0] == 1 else 'half'!r}, as {type(self.replaced).__name__} does"
            must = f"encoding must turn the first {rotary} of {features} features of a head, in {layout}"
            raise ValueError(f"{must}; got {encoding!r}") from error


def replace_rotary(model: nn.Module, encoding: Encoding | Mapping[str, Encoding]) -> nn.Module:
    """The model, in which queries and keys now turn as `encoding` turns them; nothing else of it changes.

    model is one of transformers, such as a `LlamaForCausalLM`. Any encoding that turns the model's pairs will do, with its
    scaling rule: `RoPE(128, 500_000.0, scaling=partial(yarn, factor=4, length=8192))` for heads of 128 features, and
    `RoPE(64, rotary=16)` where a model turns the first 16 of 64. Where layers are of several kinds, as in Gemma 3, it is
    a dictionary with an encoding for each, such as "full_attention" and "sliding_attention". Another call replaces what
    the first one did.

    Masks, windows and factors of the scores stay the model's own, and so does its configuration: what
    `save_pretrained` writes knows nothing of the encoding.

    Raises TypeError for what is no module or no encoding; ValueError where the layers are of several kinds and encodings
    are not, for an encoding that opens another door than `rotate`, takes positions of several axes, or turns other
    features than the model does, and for a model without a `rotary_emb`, with several classes of them (give the part
    that reads text), with several coordinates for a token (M-RoPE), or with a turn of its own kind (complex numbers, as
    in Llama 4; two functions, as in DeepSeek-V3).

    >>> from torch import nn
    >>> from d2lpos import RoPE
    >>> replace_rotary(nn.Linear(2, 2), RoPE(2))
    Traceback (most recent call last):
    ValueError: model must have one class of rotary_emb; Linear has none
    """
    if not isinstance(model, nn.Module):
        raise TypeError(f"model must be a module; got {type(model).__name__}")
    owners = [module for module in model.modules() if isinstance(getattr(module, "rotary_emb", None), nn.Module)]
    own = {type(one): one for one in (getattr(owner.rotary_emb, "replaced", owner.rotary_emb) for owner in owners)}
    if len(own) != 1:
        has = " and ".join(kind.__name__ for kind in own) or "none"
        raise ValueError(f"model must have one class of rotary_emb; {type(model).__name__} has {has}")
    (replaced,) = own.values()
    new = RotaryEmbedding(replaced, by_kind(replaced, encoding))
    for owner in owners:
        owner.rotary_emb = new
    return model


def by_kind(own: nn.Module, encoding: Encoding | Mapping[str, Encoding]) -> Mapping[str, Encoding]:
    """An encoding for each kind of layers; raises a TypeError or ValueError where one is missing or is none."""
    kinds = own.rope_type if "layer_type" in signature(own.forward).parameters else None
    encodings = encoding if kinds and isinstance(encoding, Mapping) else {EVERY: encoding}
    if kinds and encodings.keys() != kinds.keys():
        must = f"encoding must be a dictionary with {', '.join(sorted(kinds))}, as {type(own).__name__} has"
        raise ValueError(f"{must}; got {encoding!r}")
    for one in encodings.values():
        check_encoding(one)
        if one.doors != ("rotate",) or one.axes > 1:
            must = "encoding must open the door rotate alone, and take positions of one axis"
            raise ValueError(f"{must}; got {one!r}, with doors={one.doors} and axes={one.axes}")
    return encodings


def turn(own: nn.Module, x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """x, turned by the model's function; raises a ValueError where it has no such function, or several."""
    file = sys.modules[type(own).__module__]
    names = [name for name in vars(file) if name.startswith("apply_") and "rotary" in name and "vision" not in name]
    if names != ["apply_rotary_pos_emb"]:
        raise ValueError(f"model must turn by apply_rotary_pos_emb alone; {file.__name__} has {names}")
    if "k" in signature(file.apply_rotary_pos_emb).parameters:
        return file.apply_rotary_pos_emb(x, x, cos, sin)[0]
    return file.apply_rotary_pos_emb(x, cos, sin)


def form_of(own: nn.Module, kind: str) -> tuple[int, list[int], list[int], bool]:
    """The features of a head; for each column of the model's cosines and sines, the first and second feature that it turns;
    and whether they are float32, whatever the dtype of the model.

    Raises a ValueError where they are no cosines and sines of one position for each token.
    """
    config, name, here = getattr(own, "config", None), type(own).__name__, places(own)
    rest = () if kind == EVERY else (kind,)
    waves = own(here.float(), here, *rest)
    several = "mrope_section" in (getattr(config, "rope_parameters", None) or {})
    if several or not isinstance(waves, tuple) or len(waves) != 2 or waves[0].shape[:-1] != here.shape:
        gives = "those of several coordinates (M-RoPE)" if several else "something else"
        raise ValueError(f"model must have cosines and sines of one position for each token; {name} gives {gives}")
    cos, columns = waves[0], waves[0].shape[-1]
    orders = [*range(columns // 2)] * 2, [column // 2 for column in range(columns)], [*range(columns)]
    pairs = next(order for order in orders if torch.equal(cos, cos[..., [order.index(pair) for pair in order]]))
    half = max(pairs) + 1
    one = torch.eye(2 * half, device=here.device)[0].expand(1, 1, here.shape[1], -1)
    partner = turn(own, one, torch.zeros_like(cos), torch.ones_like(cos))[0, 0, 0].argmax().item()  # after a quarter turn
    first = pairs if partner == half else [2 * pair for pair in pairs]
    heads = getattr(config, "num_attention_heads", None)
    features = getattr(config, "head_dim", None) or (config.hidden_size // heads if heads else 2 * half)
    wide = own(here.bfloat16(), here, *rest)[0].dtype == torch.float32
    return max(features, 2 * half), first, [feature + partner for feature in first], wide


def places(own: nn.Module) -> Tensor:
    """A few positions, (1, sequence), on the device of the model."""
    return torch.arange(5, device=next((x.device for x in own.buffers()), None))[None]
