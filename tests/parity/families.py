"""Every family of transformers beside what `encoding_of` reads from its configuration.

    python -m tests.parity.families          # measure, and write book/parity/families.csv
    python -m tests.parity.families llama    # print some

A tiny model is built from the family's own configuration class, with random weights. The scores that its queries and
keys make, at shifted and stretched positions, are compared with those that ours make of the same queries and keys
before they turned; and which keys a query sees, with our window and chunk.
"""

import sys

import torch
from torch import Tensor

from d2lpos import Encoding
from d2lpos.pretrained import Layer, encoding_of
from d2lpos.rope import convert
from d2lpos.temperature import multiply
from d2lpos.threads import one_thread
from tests.parity import tiny

PLACES = {
    "as they are": torch.arange(12),
    "shifted": 300 + torch.arange(12),
    "stretched": torch.tensor([0, 1, 5, 6, 20, 21, 50, 90, 91, 200, 317, 400]),
}
# What a family's tiny model needs besides the usual sizes.
FITTED = {
    "bamba": {"attn_layer_indices": [1, 3], "mamba_n_heads": 4, "mamba_d_head": 32},
    "bailing_hybrid": {"num_hidden_layers": 12},
    "cohere_compass_text": {
        "layer_types": ["sliding_attention", "full_attention"] * 4,
        "rope_parameters": {
            "sliding_attention": {"rope_type": "default", "rope_theta": 100.0},
            "full_attention": None,
        },
    },
    "granitemoehybrid": {
        "layer_types": ["linear_attention", "full_attention"] * 4,
        "position_embedding_type": "rope",
        "mamba_n_heads": 4,
        "mamba_d_head": 32,
    },
    "modernbert": {"local_attention": 8},
    "recurrent_gemma": {"attention_window_size": 5},
    "zamba2": {
        "num_hidden_layers": 8,
        "use_mem_rope": True,
        "layers_block_type": ["linear_attention", "hybrid"] * 4,
    },
    "gemma3n_text": {"num_hidden_layers": 10, "num_kv_shared_layers": 2},
    "lfm2_moe": {"layer_types": ["conv", "full_attention"] * 4},
    "llama4_text": {"floor_scale": 4},
    "longcat_flash": {"num_layers": 4, "head_dim": 8},
    "mimo_v2_flash": {"head_dim": 48},
    "ministral3": {
        "rope_parameters": {
            "rope_type": "yarn",
            "rope_theta": 1e4,
            "factor": 16.0,
            "original_max_position_embeddings": 32,
            "llama_4_scaling_beta": 0.1,
            "mscale": 1.0,
            "mscale_all_dim": 1.0,
            "beta_fast": 32.0,
            "beta_slow": 1.0,
        }
    },
    "zaya": {"num_experts_per_tok": 1},
}
# Those that hand attention their interleaved pairs sorted in halves, turned or not.
SORTED = {"axk1", "deepseek_v3", "glm4_moe_lite", "youtu", "bailing_hybrid", "longcat_flash"}
TOLERANCE = 1e-3  # of the largest score: their frequencies are rounded to float32, and positions reach 400


def ours(layer: Layer, q: Tensor, k: Tensor, positions: Tensor) -> tuple[Tensor, Tensor]:
    """Queries and keys (batch, head, sequence, feature) as this layer turns them."""
    encoding = layer.encoding or Encoding()
    start, stop = layer.features or (0, q.shape[-1])
    places = positions if encoding.axes == 1 else positions[:, None].expand(-1, encoding.axes)
    turned = [
        torch.cat([x[..., :start], part, x[..., stop:]], dim=-1)
        for x, part in zip(
            (q, k), encoding.rotate(q[..., start:stop], k[..., start:stop], places, places), strict=True
        )
    ]
    return multiply(turned[0], positions, layer.temperature) if layer.temperature else turned[0], turned[1]


def unsorted(x: Tensor, layer: Layer) -> Tensor:
    start, stop = layer.features
    return torch.cat([x[..., :start], convert(x[..., start:stop], "interleaved"), x[..., stop:]], dim=-1)


def looks(layer: Layer, positions: Tensor, causal: bool) -> Tensor:
    """(query, key), True where a query may look."""
    ahead = positions[None] - positions[:, None]
    seen = ahead <= 0 if causal else torch.ones_like(ahead, dtype=torch.bool)
    if layer.window is not None:
        seen &= ahead.abs() < layer.window
    if layer.chunk is not None:
        seen &= positions[None] // layer.chunk == positions[:, None] // layer.chunk
    return seen


def compare(family: str, **more: object) -> list[str]:
    """How the reading differs from the model: a word for each difference, none where they agree."""
    config = tiny.configuration(family, **FITTED.get(family, {}) | more)
    reading = encoding_of(config, tokens=len(PLACES["as they are"]))
    made = tiny.model(family, config)
    wrong = set()
    for where, positions in PLACES.items():
        theirs = tiny.calls(made, positions)
        with tiny.still(made):
            before = tiny.calls(made, positions)
        attending = [layer for layer in reading.layers if layer.attends]
        if len(theirs) != len(attending):
            return [f"{len(theirs)} layers attend, and not {len(attending)}"]
        for number, (call, plain, layer) in enumerate(zip(theirs, before, attending, strict=True)):
            if layer.features and abs(call.scale / layer.scale * call.q.shape[-1] ** 0.5 - 1) > TOLERANCE:
                wrong.add("scale")
            heat = layer.temperature
            plain.q, plain.k = (unsorted(x, layer) if family in SORTED else x for x in (plain.q, plain.k))
            q = plain.q if heat is None else multiply(plain.q, positions, lambda p, heat=heat: 1 / heat(p))
            mine = tiny.Call(*ours(layer, q, plain.k, positions), None, call.scale, False)
            gap = (mine.scores - call.scores).abs().max() / call.scores.abs().max()
            if gap > TOLERANCE:
                wrong.add(f"scores {where} ({gap:.1g}, layer {number})")
            if call.sinks != layer.sinks:
                wrong.add("sinks")
            if where == "as they are" and call.seen is not None:
                if not torch.equal(call.seen, looks(layer, positions, reading.causal)):
                    wrong.add(f"mask (layer {number})")
    return sorted(wrong)


if __name__ == "__main__":
    from d2lpos.pretrained.families import FAMILIES

    with one_thread():
        for name in sys.argv[1:] or FAMILIES:
            try:
                print(name, compare(name) or "agrees", flush=True)
            except Exception as error:
                print(name, f"ERROR {type(error).__name__}: {str(error)[:200]}", flush=True)
