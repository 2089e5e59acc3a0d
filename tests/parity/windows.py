"""Families whose layers see a picture through windows, beside what `encoding_of` reads: what attention weighs."""

import math

import torch
from torch import Tensor, nn
from torch.nn.functional import normalize

from d2lpos.bias.swin_v2 import SwinV2
from d2lpos.pretrained import Layer, Reading
from tests.parity import pictures

CLOSE = 1e-4


def compare(reading: Reading, made: nn.Module) -> list[str]:
    """A word for each difference, none where they agree."""
    wrong = pictures.rows(reading, made) if reading.input is not None else set()
    blocks = [module for module in made.modules() if hasattr(module, "shift_size")]
    if len(blocks) != len(reading.layers):
        return [f"{len(blocks)} layers, and not {len(reading.layers)}"]
    for number, (layer, block) in enumerate(zip(reading.layers, blocks, strict=True)):
        if not weights_fit(layer, block):
            return [f"parameters of layer {number}"]
    for number, (layer, call) in enumerate(zip(reading.layers, watched(made, blocks), strict=True)):
        height, width = (-(-cells // layer.merged) for cells in grid(made))
        if call["size"] != (height, width):
            wrong.add(f"cells of layer {number}")
        elif not torch.allclose(
            mine(layer, blocks[number], call, reading.places(height, width)), theirs(call), atol=CLOSE
        ):
            wrong.add(f"weights of layer {number}")
    return sorted(wrong)


def core(block: nn.Module) -> nn.Module:
    """The module that has queries, keys and the bias."""
    return getattr(block.attention, "self", block.attention)


def weights_fit(layer: Layer, block: nn.Module) -> bool:
    """Fills both biases with the same random weights; False where they have other sizes."""
    module = core(block)
    if hasattr(module, "continuous_position_bias_mlp"):
        first, _, second = module.continuous_position_bias_mlp
        scales = torch.linspace(1, 5, module.num_attention_heads)  # the last beyond log 100, where theirs end
        module.logit_scale.data = scales[:, None, None]
        nn.init.normal_(first.bias)
        parameters = {"first.weight": first.weight, "first.bias": first.bias, "second.weight": second.weight}
    else:
        module = getattr(module, "relative_position_bias", module)
        nn.init.normal_(module.relative_position_bias_table)
        parameters = {"table": module.relative_position_bias_table}
    own = dict(layer.encoding.named_parameters()) if layer.encoding is not None else {}
    if {name: p.shape for name, p in own.items()} != {name: p.shape for name, p in parameters.items()}:
        return False
    layer.encoding.load_state_dict(parameters)
    return True


def grid(made: nn.Module) -> tuple[int, int]:
    """The cells of the picture that `watched` shows."""
    config = made.config
    if hasattr(config, "spec_size"):
        return (config.spec_size // config.patch_stride[0],) * 2
    sides = config.image_size if isinstance(config.image_size, list | tuple) else (config.image_size,) * 2
    return tuple(side // config.patch_size for side in sides)


def watched(made: nn.Module, blocks: list[nn.Module]) -> list[dict]:
    """What each layer gets, the windows that it cuts, and how attention weighs them."""
    made.config._attn_implementation = "eager"
    calls, hooks = [{} for _ in blocks], []
    for call, block in zip(calls, blocks, strict=True):

        def enter(module, args, call=call):
            call["x"], call["size"] = args[0][0], tuple(args[1])
            call["normed"] = module.layernorm_before(args[0])[0]

        def attend(module, args, out, call=call):
            call["windows"], call["weights"] = args[0], out[1]

        hooks += [block.register_forward_pre_hook(enter), block.attention.register_forward_hook(attend)]
    height, width = grid(made)
    both = {"output_attentions": True, "output_hidden_states": True}  # MaskFormer's asks for both or none
    with torch.no_grad():
        if hasattr(made.config, "spec_size"):
            ratio = made.config.spec_size // made.config.num_mel_bins
            sound = torch.randn(1, 1, made.config.spec_size * ratio, made.config.num_mel_bins)
            made(input_features=sound, is_longer=torch.zeros(1, 1), **both)
        else:
            patch = made.config.patch_size
            made(pixel_values=torch.randn(1, 3, height * patch, width * patch), **both)
    for hook in hooks:
        hook.remove()
    return calls


def theirs(call: dict) -> Tensor:
    """(head, query, key) of all cells, which are found again in the windows by what they hold.

    What a window has besides, filled up where the picture ends, is left out.
    """
    cells = call["normed"] if holds(call["windows"], call["normed"]).any() else call["x"]
    weights = torch.zeros(call["weights"].shape[1], len(cells), len(cells))
    for mask, weight in zip(holds(call["windows"], cells), call["weights"], strict=True):
        places, there = mask.nonzero(as_tuple=True)
        weights[:, there[:, None], there] = weight[:, places[:, None], places]
    assert (weights.sum(-1) > 0).all(), "a cell that is in no window"
    return weights / weights.sum(-1, keepdim=True)


def holds(windows: Tensor, cells: Tensor) -> Tensor:
    """(window, place, cell), True where a place of a window holds a cell."""
    return (windows[..., None, :] == cells).all(-1)


def mine(layer: Layer, block: nn.Module, call: dict, places: Tensor) -> Tensor:
    """The same as the reading has it, of the model's own queries and keys."""
    module, x = core(block), call["x"] if isinstance(layer.encoding, SwinV2) else call["normed"]
    ways = ("q_proj", "k_proj") if hasattr(module, "q_proj") else ("query", "key")
    heads = module.num_attention_heads
    q, k = (getattr(module, way)(x).unflatten(-1, (heads, -1)).transpose(0, 1)[None] for way in ways)
    if layer.cosine:
        learned = getattr(module, "logit_scale", torch.zeros(1)).clamp(max=math.log(100)).exp()
        scores = normalize(q, dim=-1) @ normalize(k, dim=-1).mT * learned
    else:
        scores = q @ k.mT / q.shape[-1] ** 0.5
    pieces, inside = (places - layer.shift) // layer.tile, (places - layer.shift) % layer.tile
    scores = scores + layer.encoding.score(q, k, inside, inside)
    apart = (pieces[:, None] != pieces).any(-1)
    return scores.masked_fill(apart, -torch.inf).softmax(-1)[0].detach()
