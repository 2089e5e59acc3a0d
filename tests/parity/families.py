"""Every family of transformers beside what `encoding_of` reads from its configuration.

    python -m tests.parity.families          # measure, and write book/families.csv
    python -m tests.parity.families llama    # print some

A tiny model is built from the family's own configuration class, with random weights. The scores that its queries and
keys make, at shifted and stretched positions, are compared with those that ours make of the same queries and keys
before they turned; and which keys a query sees, with our window and chunk.
"""

import csv
import inspect
import re
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn
from torch.nn.functional import pad

from d2lpos import Encoding, Learned
from d2lpos.config.tables import by_name as by_part
from d2lpos.config.tables import rows as every_row
from d2lpos.input import Convolutional
from d2lpos.offset.deberta import DeBERTa
from d2lpos.pretrained import Layer, Reading, encoding_of
from d2lpos.rotary.normed import Normed
from d2lpos.rotary.rope import convert
from d2lpos.runtime.threads import one_thread
from d2lpos.transformer.temperature import multiply
from tests.parity import pictures, tiny, windows
from tests.parity.rows import by_name

PLACES = {
    "as they are": torch.arange(12),
    "shifted": 300 + torch.arange(12),
    "stretched": torch.tensor([0, 1, 5, 6, 20, 21, 50, 90, 91, 200, 317, 400]),
}
SMALL_PICTURE = {"image_size": 64, "patch_size": 16}
STAGES = {"depths": [2, 2], "num_heads": [2, 4], "embed_dim": 16, "window_size": 4}
SWIN = {**STAGES, "image_size": 32}
TWO_TERMS = {"relative_attention": True, "pos_att_type": ["c2p", "p2c"]}
DEALT = {"rope_parameters": {"rope_type": "default", "rope_theta": 1e4, "mrope_section": [4, 2, 2]}}
STRETCHED = {"rope_type": "yarn", "rope_theta": 1e4, "factor": 4.0, "original_max_position_embeddings": 32}
MIXED = ["linear_attention", "full_attention"] * 4
# What a family's tiny model needs besides the usual sizes.
FITTED = by_name(
    {
        "bamba": {"attn_layer_indices": [1, 3], "mamba_n_heads": 4, "mamba_d_head": 32},
        "bailing_hybrid": {"num_hidden_layers": 12},
        "dbrx": {"attn_config": {"clip_qkv": 8.0, "kv_n_heads": 2, "rope_theta": 10_000.0}},
        "cohere_compass_text": {
            "layer_types": ["sliding_attention", "full_attention"] * 4,
            "rope_parameters": {
                "sliding_attention": {"rope_type": "default", "rope_theta": 100.0},
                "full_attention": None,
            },
        },
        "granitemoehybrid": {"layer_types": MIXED, "position_embedding_type": "rope"}
        | {"mamba_n_heads": 4, "mamba_d_head": 32},
        "modernbert": {"local_attention": 8},
        "beit": {**SMALL_PICTURE, "use_relative_position_bias": True}
        | {"use_absolute_position_embeddings": True},
        "data2vec-vision": {**SMALL_PICTURE, "use_shared_relative_position_bias": True},
        "deberta": {**TWO_TERMS, "max_relative_positions": 20},
        "deberta-v2": {**TWO_TERMS, "max_relative_positions": 32, "position_buckets": 8}
        | {"norm_rel_ebd": "layer_norm"},
        "dinov3_vit": {"num_register_tokens": 4},
        "clip_vision_model deit dinov2 ijepa siglip_vision_model vit vit_msn": SMALL_PICTURE,
        "donut-swin maskformer-swin swin": SWIN,
        "swinv2": {**SWIN, "pretrained_window_sizes": [3, 0]},
        "swin2sr": {**STAGES, "image_size": 8},
        "clap_audio_model": {
            "depths": [2, 2], "num_attention_heads": [2, 4], "patch_embeds_hidden_size": 16, "window_size": 4,
            "spec_size": 32, "num_mel_bins": 8, "projection_dim": 64,
        },
        "sam_vision_model": {**SMALL_PICTURE, "window_size": 2, "global_attn_indexes": [1, 3]},
        "vitdet": {**SMALL_PICTURE, "pretrain_image_size": 64, "use_relative_position_embeddings": True}
        | {"window_size": 2, "window_block_indices": [0, 2]},
        """cosmos3_edge_text glm4v_text glm_ocr_text paddleocr_vl_text qwen2_5_omni_text qwen2_5_vl_text
        qwen2_vl_text qwen3_vl_text""": DEALT,
        "glm4v_moe_text": {
            "head_dim": 16,
            "rope_parameters": {**DEALT["rope_parameters"], "partial_rotary_factor": 1.0},
        },
        "qwen3_omni_moe_text qwen3_vl_moe_text": {**DEALT, "sliding_window": None},
        "ernie4_5_vl_moe_text": {
            "rope_parameters": {**DEALT["rope_parameters"], "mrope_section": [3, 3, 2]},
            "moe_intermediate_size": [16, 16],
        },
        "idefics": {"cross_layer_interval": 8},
        "chameleon": {"vocabulary_map": {"<image>": 8}},
        "deepseek_ocr2_text": {"mlp_layer_types": ["dense"] * 8},
        "molmo2_text": {"rope_parameters": STRETCHED, "rope_scaling_layers": [1, 3]},
        "qwen3_5_moe_text qwen3_5_text": {
            "rope_parameters": {**DEALT["rope_parameters"], "partial_rotary_factor": 0.5, "mrope_section": [2, 1, 1]},
        },
        "recurrent_gemma": {"attention_window_size": 5},
        "zamba2": {"use_mem_rope": True, "layers_block_type": ["linear_attention", "hybrid"] * 4}
        | {"num_hidden_layers": 8},
        "falcon_h1": {"mamba_d_ssm": 32, "mamba_n_heads": 4, "mamba_d_state": 8, "mamba_chunk_size": 16},
        "falcon": {"new_decoder_architecture": False, "multi_query": False, "num_kv_heads": 4},
        "git": {"vision_config": {"num_hidden_layers": 1}},
        "phi4_multimodal": {
            "vision_config": {"num_hidden_layers": 2, "intermediate_size": 32},
            "audio_config": {"num_blocks": 1, "intermediate_size": 32},
        },
        "gpt_neo": {"attention_types": [[["global", "local"], 4]]},
        "whisper": {"num_mel_bins": 80},
        "xmod": {"languages": ["en_XX"], "default_language": "en_XX"},
        "gemma3n_text": {"num_hidden_layers": 10, "num_kv_shared_layers": 2},
        "lfm2_moe": {"layer_types": ["conv", "full_attention"] * 4},
        "llama4_text": {"floor_scale": 4},
        "longcat_flash": {"num_layers": 4, "head_dim": 8},
        "esmc": {"num_key_value_heads": 4},
        "mamba2": {"num_heads": 8},
        "mimo_v2_flash": {"head_dim": 48},
        "ministral3": {
            "rope_parameters": {
                "rope_type": "yarn", "rope_theta": 1e4, "original_max_position_embeddings": 32,
                "factor": 16.0, "llama_4_scaling_beta": 0.1, "mscale": 1.0, "mscale_all_dim": 1.0, "beta_fast": 32.0,
                "beta_slow": 1.0,
            }
        },
        "zaya": {"num_experts_per_tok": 1},
    }
)
# Those that hand attention their interleaved pairs sorted in halves, turned or not.
SORTED = {"axk1", "axk2", "deepseek_v3", "deepseek_v32", "glm_moe_dsa", "glm4_moe_lite", "youtu", "mistral4", "bailing_hybrid", "longcat_flash"}
NORMS = re.compile(r"(query|key)_layernorm$")  # after the turn, where the reading has such a norm
TOLERANCE = 1e-3  # of the largest score: their frequencies are rounded to float32, and positions reach 400


def ours(layer: Layer, q: Tensor, k: Tensor, positions: Tensor) -> tuple[Tensor, Tensor]:
    """Queries and keys (batch, head, sequence, feature) as this layer turns them."""
    encoding = layer.encoding or Encoding()
    start, stop = layer.features or (0, q.shape[-1])
    parts = encoding.rotate(q[..., start:stop], k[..., start:stop], positions, positions)
    pairs = zip((q, k), parts, strict=True)
    turned = [torch.cat([x[..., :start], part, x[..., stop:]], dim=-1) for x, part in pairs]
    grown = torch.arange(len(positions)) if layer.counts else positions
    return multiply(turned[0], grown, layer.temperature) if layer.temperature else turned[0], turned[1]


def unsorted(x: Tensor, layer: Layer) -> Tensor:
    start, stop = layer.features
    return torch.cat([x[..., :start], convert(x[..., start:stop], "interleaved"), x[..., stop:]], dim=-1)


def looks(layer: Layer, positions: Tensor, causal: bool) -> Tensor:
    """(query, key), True where a query may look."""
    ahead = positions[None] - positions[:, None]
    mask = ahead <= 0 if causal else torch.ones_like(ahead, dtype=torch.bool)
    if layer.window is not None:
        mask &= ahead.abs() < layer.window
    if layer.chunk is not None:
        mask &= positions[None] // layer.chunk == positions[:, None] // layer.chunk
    return mask


def fitted(family: str, **more: object) -> object:
    """The configuration of a family's tiny model; more replaces what it says."""
    return tiny.configuration(family, **FITTED.get(family, {}) | more)


def compare(family: str, **more: object) -> list[str]:
    """How the reading differs from the model: a word for each difference, none where they agree."""
    config = fitted(family, **more)
    reading = encoding_of(config, tokens=len(PLACES["as they are"]))
    made = tiny.model(family, config)
    reader = every_row()[family]["read"]
    if reader == "picture":
        return pictures.compare(reading, made)
    if reader == "swin":
        return windows.compare(reading, made)
    if kind_of(family) == HEARD:
        return heard(reading, made)
    if kind_of(family) == ADDED:
        biases = shared_buckets(reading, made) if reading.encodings[0] else []
        return sorted([*added(reading, made), *biases])
    if isinstance(reading.encodings[0], DeBERTa):
        return sorted([*added(reading, made), *disentangled(reading, made)])
    if kind_of(family) == BIASED and reading.encodings[0].doors == ("score",):
        return (bucketed if reading.encoder else sloped)(reading, made)
    return sliced(family, reading, made) if family in OWN else turned(family, reading, made)


def turned(family: str, reading: Reading, made: nn.Module) -> list[str]:
    """The scores of turned queries and keys, the keys that each query sees, and the sinks."""
    wrong = set()
    several = any(encoding and encoding.axes > 1 for encoding in reading.encodings)
    for where, line in PLACES.items():
        positions = torch.stack([line, line // 7, line % 5 + 300], dim=-1) if several else line
        theirs = tiny.calls(made, positions)
        late = NORMS if isinstance(next(filter(None, reading.encodings), None), Normed) else None
        with tiny.still(made, late):
            # At 0 no temperature has grown. RecurrentGemma takes every 0 for the start of a text.
            before = tiny.calls(made, positions if family == "recurrent_gemma" else 0 * positions)
        if family == "diffllama":  # it asks twice in each layer, with the same queries and keys
            theirs, before = theirs[::2], before[::2]
        attending = [layer for layer in reading.layers if layer.attends and not layer.crosses]
        if len(theirs) != len(attending):
            return [f"{len(theirs)} layers attend, and not {len(attending)}"]
        for number, (call, plain, layer) in enumerate(zip(theirs, before, attending, strict=True)):
            if layer.features and abs(call.scale / layer.scale * call.q.shape[-1] ** 0.5 - 1) > TOLERANCE:
                wrong.add("scale")
            for one in (call, plain):  # what compresses puts further keys behind those of the tokens
                one.k = one.k[..., : len(line), :]
                one.visible = None if one.visible is None else one.visible[:, : len(line)]
            plain.q, plain.k = (unsorted(x, layer) if family in SORTED else x for x in (plain.q, plain.k))
            if isinstance(layer.encoding, Normed):
                norms = [m for n, m in made.named_modules() if NORMS.search(n)][2 * number : 2 * number + 2]
                for weight, norm in zip(layer.encoding.parameters(), norms, strict=True):
                    weight.data = norm.weight.data
            q = multiply(plain.q, torch.zeros(1), cooled(layer)) if layer.temperature else plain.q
            mine = tiny.Call(*ours(layer, q, plain.k, positions), None, call.scale, False)
            if not same(mine.scores, call.scores):
                wrong.add(f"scores {where}")
            if call.sinks != layer.sinks:
                wrong.add("sinks")
            plain_order = where == "as they are" and call.visible is not None
            if plain_order and not torch.equal(call.visible, looks(layer, line, reading.causal)):
                wrong.add(f"mask of layer {number}")
    return sorted(wrong)


def cooled(layer: Layer) -> Callable[[Tensor], Tensor]:
    return lambda positions: 1 / layer.temperature(positions)


def same(mine: Tensor, theirs: Tensor) -> bool:
    return bool((mine - theirs).abs().max() <= TOLERANCE * theirs.abs().max())


# Families whose own attention is not to be replaced: their function that turns, and how its tensors lie.
OWN = {
    "codegen": ("apply_rotary_pos_emb", "sequence first"),
    "falcon": ("apply_rotary_pos_emb", "heads first"),
    "gpt_neox_japanese": ("apply_rotary_pos_emb", "heads first"),
    "gptj": ("apply_rotary_pos_emb", "sequence first"),
    "roformer": ("apply_rotary_position_embeddings", "after the angles"),
}


def sliced(family: str, reading: Reading, made: nn.Module) -> list[str]:
    """What their function makes of the features that it gets, all of which turn."""
    name, order = OWN[family]
    module, turned = sys.modules[type(made).__module__], []
    if order == "after the angles":
        module = module.RoFormerSelfAttention
    original = getattr(module, name)

    def listening(*tensors: Tensor, **rest: object) -> object:
        out = original(*tensors, **rest)
        if order == "after the angles":
            tensors = tensors[1:]
        pairs = zip(tensors, out if isinstance(out, tuple) else (out,), strict=False)
        flip = order == "sequence first"
        turned.extend((x.transpose(1, 2), y.transpose(1, 2)) if flip else (x, y) for x, y in pairs)
        return out

    wrong = set()
    setattr(module, name, staticmethod(listening) if isinstance(module, type) else listening)
    try:
        for where, positions in PLACES.items():
            if order == "after the angles" and where != "as they are":  # RoFormer takes no position ids
                continue
            turned.clear()
            tiny.calls(made, positions)
            if len(turned) != 2 * len(reading.layers):
                return [f"{len(turned) // 2} layers turn, and not {len(reading.layers)}"]
            for number, (x, y) in enumerate(turned):
                encoding = reading.encodings[number // 2]
                whole = pad(x, (0, encoding.dim - x.shape[-1]))
                if not same(encoding.rotate_at(whole, positions)[..., : x.shape[-1]], y):
                    wrong.add(f"turns {where}")
                if x.shape[-1] != encoding.rotary:
                    wrong.add("features")
    finally:
        setattr(module, name, staticmethod(original) if isinstance(module, type) else original)
    return sorted(wrong)


TABLES = re.compile(r"(position_embeddings?|wpe|embed_positions|positions_embed)$")


def added(reading: Reading, made: nn.Module) -> list[str]:
    """What the tables and sinusoids of each part give for the first tokens, and where it takes position ids, later."""
    if not any(TABLES.search(name) for name, _ in made.named_modules()):  # CTRL keeps its table apart
        table = made.transformer.pos_encoding
        fit = (same(added_vectors(reading, start, 12), table[start : start + 12]) for start in (0, 300))
        return [] if all(fit) else ["table"]
    wrong = set()
    parts = {"encoder": reading.encoder, "decoder": reading} if reading.encoder else {"": reading}
    ids = "position_ids" in inspect.signature(made.forward).parameters
    ids = ids and reading.first != made.config.pad_token_id + 1
    for start in (0, 300) if ids else (0,):
        rows, hooks = {}, []
        for name, module in made.named_modules():
            if TABLES.search(name):
                hooks.append(module.register_forward_hook(partial(note, rows, name)))
        words = {"input_ids": 4 + torch.arange(12)[None]}
        if reading.encoder:
            words["decoder_input_ids"] = words["input_ids"]
        if hasattr(made.config, "num_mel_bins"):
            words["input_features"] = torch.zeros(1, made.config.num_mel_bins, 3000)
            del words["input_ids"]
        with torch.no_grad():
            made(**words, **({"position_ids": start + torch.arange(12)[None]} if ids else {}))
        for hook in hooks:
            hook.remove()
        if len(rows) != len(parts):
            return [f"{len(rows)} tables, and not {len(parts)}"]
        for name, (module, row) in rows.items():
            part = next(part for word, part in parts.items() if word in name)
            if isinstance(part.input, Learned):
                if part.input.table.shape != module.weight.shape:
                    theirs, mine = tuple(module.weight.shape), tuple(part.input.table.shape)
                    return [f"table of {theirs}, and not of {mine}"]
                part.input.table.data = module.weight.data
            row = row.flatten(0, -2)
            if not same(added_vectors(part, start, min(12, len(row))), row[:12]):
                wrong.add(f"rows of the {name.split('.')[-1]} from {start} on")
    return sorted(wrong)


def note(rows: dict, name: str, module: nn.Module, _: object, output: object) -> None:
    output = output[0] if isinstance(output, tuple) else output
    rows[name] = module, output.clone()  # to which some models add in place


def added_vectors(reading: Reading, start: int, length: int) -> Tensor:
    """What the input adds to tokens from start on; (length, dim)."""
    encoding = reading.input
    dim = encoding.table.shape[1] if isinstance(encoding, Learned) else encoding.dim
    positions = reading.first + start + torch.arange(length)
    return encoding.embed(torch.zeros(1, length, dim), positions)[0].detach()


def bucketed(reading: Reading, made: nn.Module) -> list[str]:
    """The biases of both parts for 300 tokens, and how many tables there are."""
    wrong, length = set(), 300
    for part, name in (reading, "decoder"), (reading.encoder, "encoder"):
        theirs = [m for n, m in made.named_modules() if name in n and hasattr(m, "compute_bias")]
        theirs = [m for m in theirs if getattr(m, "has_relative_attention_bias", False)]
        mine = list(dict.fromkeys(part.encodings))
        if len(theirs) != len(mine):
            return [f"{len(theirs)} tables in the {name}, and not {len(mine)}"]
        for bias, module in zip(mine, theirs, strict=True):
            bias.table.data = module.relative_attention_bias.weight.data
            q, here = torch.zeros(1, bias.heads, length, 2), torch.arange(length)
            score = bias.score(q, q, here, here)
            if not same(score, module.compute_bias(length, length)[0]):
                wrong.add(f"bias of the {name}")
            if abs(part.layers[0].scale / module.key_value_proj_dim**0.5 - 1) > TOLERANCE:
                wrong.add("scale")
    return sorted(wrong)


def sloped(reading: Reading, made: nn.Module) -> list[str]:
    """What the first layer weighs for one word over and over, whose scores differ by the bias alone."""
    length, bias = 60, reading.encodings[0]
    q, here = torch.zeros(1, bias.heads, length, 2), torch.arange(length)
    ahead = torch.ones(length, length, dtype=torch.bool).triu(1)
    mine = bias.score(q, q, here, here).masked_fill(ahead, -torch.inf).softmax(-1)
    return [] if same(mine, weights_of_one_word(made, length)) else ["slopes"]


def weights_of_one_word(made: nn.Module, length: int) -> Tensor:
    """The first layer's weights, (head, query, key); Falcon's by PyTorch's attention, as its others add the bias twice."""
    words = torch.full((1, length), 4)
    batch = {"input_ids": words, "attention_mask": torch.ones_like(words)}
    if made.config.model_type != "falcon":
        made.config._attn_implementation = "eager"
        with torch.no_grad():
            return made(**batch, output_attentions=True).attentions[0][0].float()
    made.config._attn_implementation = "sdpa"
    scores, module = [], sys.modules[type(made).__module__]
    with pytest.MonkeyPatch.context() as patch, torch.no_grad():

        def listening(q: Tensor, k: Tensor, v: Tensor, attn_mask: Tensor, **rest: object) -> Tensor:
            scores.append(attn_mask + q @ k.mT / q.shape[-1] ** 0.5)
            return torch.zeros_like(q)

        patch.setattr(module.F, "scaled_dot_product_attention", listening)
        made(**batch)
    return scores[0][0].float().softmax(-1)


def heard(reading: Reading, made: nn.Module) -> list[str]:
    """What is added to 250 frames, and the attention weights of each layer with sinusoids of offsets."""
    calls, made.config._attn_implementation = [], "eager"
    parts = [m for n, m in made.named_modules() if n.endswith(("pos_conv_embed", "self_attn", ".attention"))]
    for module in parts:
        module.register_forward_hook(lambda *call: calls.append(call), with_kwargs=True)
    with torch.no_grad():
        made(torch.randn(1, 80_000))
    if isinstance(reading.input, Convolutional):
        (theirs, (x,), _, added), *_ = calls
        reading.input.convolution.load_state_dict(theirs.conv.state_dict())
        return [] if same(reading.input(x), x + added) else ["convolution"]
    if len(calls) != len(reading.layers):
        return ["layers"]
    for layer, (module, _, words, (_, weights)) in zip(reading.layers, calls, strict=True):
        terms, x = layer.encoding, words["hidden_states"]
        terms.u.data, terms.v.data = module.pos_bias_u, module.pos_bias_v
        terms.project.weight.data = torch.cat([module.linear_pos.weight[:, ::2], module.linear_pos.weight[:, 1::2]], dim=1)
        q, k = (f(x).unflatten(-1, terms.u.shape).transpose(1, 2) for f in (module.linear_q, module.linear_k))
        here = torch.arange(x.shape[1])
        if not same((q @ k.mT / q.shape[-1] ** 0.5 + terms.score(q, k, here, here)).softmax(-1), weights):
            return ["weights"]
    return []


def shared_buckets(reading: Reading, made: nn.Module) -> list[str]:
    """MPNet's bias, which all layers share."""
    encoder, bias, length = made.base_model.encoder, reading.encodings[0], 300
    bias.table.data = encoder.relative_attention_bias.weight.data
    q, here = torch.zeros(1, bias.heads, length, 2), torch.arange(length)
    theirs = encoder.compute_position_bias(torch.zeros(1, length, 2))[0]
    return [] if len(set(reading.encodings)) == 1 and same(bias.score(q, q, here, here), theirs) else ["bias"]


def disentangled(reading: Reading, made: nn.Module) -> list[str]:
    """DeBERTa's attention weights in each layer, for 60 tokens."""
    calls, here = [], torch.arange(60)
    attending = [m for m in made.modules() if type(m).__name__ == "DisentangledSelfAttention"]
    hooks = [m.register_forward_hook(lambda *call: calls.append(call), with_kwargs=True) for m in attending]
    with torch.no_grad():
        made(input_ids=4 + here[None] % 60, output_attentions=True)
    for hook in hooks:
        hook.remove()
    for (module, arguments, words, out), layer in zip(calls, reading.layers, strict=True):
        bias, vectors, x = layer.encoding, words["rel_embeddings"], arguments[0]
        heads, split = len(bias.keys), lambda t: t.unflatten(-1, (len(bias.keys), -1)).transpose(-3, -2)  # noqa: B023
        if hasattr(module, "in_proj"):
            q, k, _ = module.in_proj(x).unflatten(-1, (heads, 3, -1)).transpose(1, 2).unbind(dim=-2)
            q, tables = q + module.q_bias.view(heads, 1, -1), (module.pos_proj, module.pos_q_proj)
        else:
            q, k = split(module.query_proj(x)), split(module.key_proj(x))
            own = (module.key_proj, module.query_proj)
            tables = own if module.share_att_key else (module.pos_key_proj, module.pos_query_proj)
        bias.keys.data, bias.queries.data = (split(project(vectors)).detach() for project in tables)
        scores = q @ k.mT / q.shape[-1] ** 0.5 + bias.score(q, k, here, here)
        if not same((layer.scale * scores).softmax(-1), out[1]):
            return ["weights"]
    return [] if len(calls) == len(reading.layers) else ["layers"]


FILE = Path(__file__).parents[2] / "book" / "families.csv"
# Every family with a class for causal or masked language models, or for text to text.
EVERY = sorted({family for names in tiny.MODELS[:3] for family in names})
EVERY = sorted({*EVERY, *every_row(), *by_part("refused")} & set(tiny.CONFIG_MAPPING))
TURNING, SILENT = "Queries and keys turn", "No positions: a recurrence beside attention, or alone"
ADDED, BIASED = "A table or sinusoids are added to the input", "A bias is added to the scores"
HEARD = "A sound is heard"
# What families do, by the reader of their rows; of those that a key tells apart, the first of its ways.
KINDS = {
    TURNING: ("rope", "deepseek_v4"),
    SILENT: (),
    ADDED: ("input",),
    BIASED: ("buckets", "deberta", "slopes"),
    "A picture is read": ("picture", "swin"),
    HEARD: ("sound",),
}


def kind_of(family: str) -> str:
    """What a family does with positions."""
    row = every_row()[family]
    if row.get("silent"):
        return SILENT
    first = next(iter(row["ways"].values())) if row["read"] == "by_key" else row
    return next(kind for kind, readers in KINDS.items() if first.get("read", "rope") in readers)


def of_its_text(family: str) -> str:
    """What a family that holds another one for its text reads as."""
    try:
        return f"as its text: {encoding_of(tiny.CONFIG_MAPPING[family](), tokens=12).family}"
    except ValueError as error:
        return f"refused: {str(error).replace(' is refused', '')}"


def verdict(family: str) -> str:
    """Agrees, what differs, or why it is refused; raises nothing."""
    if family in by_part("refused"):
        return f"refused: {by_part('refused')[family]}"
    if family not in every_row():
        return of_its_text(family)
    try:
        wrong = compare(family)
    except Exception as error:  # noqa: BLE001, because whatever it is belongs into the table
        return f"not compared: {type(error).__name__}"
    return f"differs: {', '.join(wrong)}" if wrong else "agrees"


def rows() -> list[list[str]]:
    """What they do with positions, what came out, how many, and which."""
    with one_thread():
        return table({family: verdict(family) for family in EVERY})


def table(verdicts: dict[str, str]) -> list[list[str]]:
    """The rows of `verdicts`, a word for each family."""
    groups: dict[tuple[str, str], list[str]] = {}
    for family, word in verdicts.items():
        kind = kind_of(family) if family in every_row() else "–"
        shown = "as its text" if word.startswith("as its text") else word
        groups.setdefault((kind, shown), []).append(family)
    order = [*KINDS, "–"]
    ranked = sorted(groups.items(), key=lambda group: (order.index(group[0][0]), -len(group[1]), group[0][1]))
    return [[kind, word, str(len(names)), ", ".join(names)] for (kind, word), names in ranked]


def main(*families: str) -> None:
    if families:
        for family in families:
            print(family, verdict(family), flush=True)
        return
    table = rows()
    head = ["Positions", "Reading", "Number", "Families"]
    with FILE.open("w", encoding="utf-8", newline="") as lines:
        csv.writer(lines, lineterminator="\n").writerows([head, *table])


if __name__ == "__main__":
    main(*sys.argv[1:])
