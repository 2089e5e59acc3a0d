"""Tiny models of every family, made from its own configuration class, and what reaches their attention.

An attention function of our own stands in the place of the model's: it writes down the queries and keys that it is
given, and answers with zeros, so that no layer learns of positions from the one before it.
"""

import inspect
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module

import torch
import transformers
from torch import Tensor, nn
from transformers.masking_utils import ALL_MASK_ATTENTION_FUNCTIONS, eager_mask
from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS
from transformers.models.auto import modeling_auto
from transformers.models.auto.configuration_auto import CONFIG_MAPPING

from tests.parity.rows import by_name

WORDS, LAYERS = 64, 8
SIZES = by_name(
    {
        "vocab_size vocab_size_per_layer_input": WORDS,
        "hidden_size d_model n_embd emb_dim embedding_size dim lru_width word_embed_proj_dim": 64,
        "num_hidden_layers n_layers n_layer num_layers": LAYERS,
        "num_attention_heads n_heads n_head num_heads linear_num_heads": 4,
        "encoder_layers decoder_layers encoder_attention_heads decoder_attention_heads": 4,
        "intermediate_size n_inner ffn_dim d_ff ffn_hidden_size hidden_dim intermediate_size_mlp": 32,
        "encoder_ffn_dim decoder_ffn_dim global_head_dim": 32,
        "moe_intermediate_size shared_expert_intermediate_size expert_ffn_hidden_size": 16,
        "num_experts num_local_experts n_routed_experts moe_num_experts": 4,
        "num_experts_per_tok moe_k linear_num_key_heads linear_num_value_heads": 2,
        "n_group topk_group n_shared_experts first_k_dense_replace": 1,
        "num_key_value_heads num_kv_heads num_global_key_value_heads": 2,
        "head_dim d_kv kv_channels attention_head_dim kv_lora_rank q_lora_rank": 16,
        "qk_rope_head_dim qk_nope_head_dim v_head_dim rotary_dim linear_head_dim": 8,
        "linear_key_head_dim linear_value_head_dim hidden_size_per_layer_input": 8,
        "max_position_embeddings n_positions max_seq_len": 512,
        "sliding_window attention_chunk_size window_size": 5,
        "num_mtp_layers num_nextn_predict_layers num_kv_shared_layers": 0,
        "pad_token_id": 1,
        "bos_token_id": 2,
        "eos_token_id": 3,
    }
)
MODELS = [
    getattr(modeling_auto, f"{name}_MAPPING_NAMES")
    for name in ("MODEL_FOR_CAUSAL_LM", "MODEL_FOR_MASKED_LM", "MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM", "MODEL")
]


# Parts of larger models, which have no class of their own in the lists above: module and class.
INSIDE = {
    "clap_audio_model": ("clap.modeling_clap", "ClapAudioModel"),
    "deepseek_ocr2_text": ("deepseek_ocr2.modeling_deepseek_ocr2", "DeepseekOcr2TextModel"),
    "ernie4_5_vl_moe_text": ("ernie4_5_vl_moe.modeling_ernie4_5_vl_moe", "Ernie4_5_VLMoeTextModel"),
    "granite4_vision_text": ("granite4_vision.modeling_granite4_vision", "Granite4VisionTextModel"),
    "granite_docling_text": ("granite_docling.modeling_granite_docling", "GraniteDoclingTextModel"),
    "kosmos_2_5_text_model": ("kosmos2_5.modeling_kosmos2_5", "Kosmos2_5TextModel"),
    "kosmos_2_text_model": ("kosmos2.modeling_kosmos2", "Kosmos2TextModel"),
    "paddleocr_vl_text": ("paddleocr_vl.modeling_paddleocr_vl", "PaddleOCRTextModel"),
    "qwen2_5_omni_text": ("qwen2_5_omni.modeling_qwen2_5_omni", "Qwen2_5OmniThinkerTextModel"),
    "qwen3_omni_moe_text": ("qwen3_omni_moe.modeling_qwen3_omni_moe", "Qwen3OmniMoeThinkerTextModel"),
    "emu3_text_model": ("emu3.modeling_emu3", "Emu3TextModel"),
    "mllama_text_model": ("mllama.modeling_mllama", "MllamaTextModel"),
    "step3p5": ("step3p7.modeling_step3p7", "Step3p7TextModel"),
    "siglip_text_model": ("siglip.modeling_siglip", "SiglipTextModel"),
    "voxtral_realtime_text": ("voxtral_realtime.modeling_voxtral_realtime", "VoxtralRealtimeTextModel"),
}


@dataclass
class Call:
    """What one layer gave to attention; q and k are (batch, head, sequence, feature)."""

    q: Tensor
    k: Tensor
    visible: Tensor | None  # (query, key), True where a query looks
    scale: float | None
    sinks: bool

    @property
    def scores(self) -> Tensor:
        """(batch, head, query, key), scaled."""
        keys = self.k.repeat_interleave(self.q.shape[1] // self.k.shape[1], dim=1)
        return self.q @ keys.mT * (self.q.shape[-1] ** -0.5 if self.scale is None else self.scale)


CALLS: list[Call] = []
# What a model needs besides words: the time, or a picture of one cell.
MORE = {
    "VoxtralRealtimeTextModel": {"t_cond": torch.zeros(1, 64)},
    "IdeficsModel": {
        "image_encoder_embeddings": torch.zeros(1, 1, 1, 768),
        "image_attention_mask": torch.ones(1, 12, 1),
    },
}


def listen(module, q, k, v, mask=None, scaling=None, **rest):
    visible = None if mask is None else mask[0, 0, :, : k.shape[-2]] == 0
    CALLS.append(Call(q, k, visible, scaling, rest.get("s_aux") is not None))
    return q.new_zeros(q.shape[0], q.shape[2], q.shape[1], v.shape[-1]), None


ALL_ATTENTION_FUNCTIONS.register("listen", listen)
ALL_MASK_ATTENTION_FUNCTIONS.register("listen", eager_mask)


def configuration(family: str, **more: object) -> transformers.PretrainedConfig:
    """Of a tiny model; more replaces sizes and what they say of position."""
    kind = CONFIG_MAPPING[family]
    keys = set(kind().to_dict()) | set(inspect.signature(kind).parameters)
    sizes = {key: size for key, size in SIZES.items() if key in keys}
    if "qk_rope_head_dim" in keys:  # what a head has then follows
        sizes.pop("head_dim", None)
        sizes["num_key_value_heads"] = 4
    return kind(**sizes | more)


def data(config: transformers.PretrainedConfig) -> dict[str, object]:
    """What its file would hold."""
    return json.loads(json.dumps(config.to_dict(), default=str))


def model_class(family: str, two_parts: bool = False) -> type[nn.Module]:
    """The class of its model, for text to text where it has two parts."""
    if family in INSIDE:
        return getattr(import_module(f"transformers.models.{INSIDE[family][0]}"), INSIDE[family][1])
    name = next(names[family] for names in (reversed(MODELS) if two_parts else MODELS) if family in names)
    return getattr(transformers, name if isinstance(name, str) else name[0])


def model(family: str, config: transformers.PretrainedConfig) -> nn.Module:
    """Its model with random weights, in evaluation."""
    kind = model_class(family, config.is_encoder_decoder)
    torch.manual_seed(0)
    try:
        made = kind._from_config(config, attn_implementation="listen")
    except KeyError:  # it chooses a class of attention by this name
        made = kind._from_config(config, attn_implementation="eager")
    made = made.float().eval()
    sinusoids = {id(p) for m in made.modules() if "Sinusoidal" in type(m).__name__ for p in m.parameters()}
    for parameter in made.parameters():
        if parameter.dim() > 1 and parameter.requires_grad and id(parameter) not in sinusoids:
            nn.init.normal_(parameter, std=0.2)
    for norm in made.modules():  # whose weights are no turn's business
        if "Norm" in type(norm).__name__ and getattr(norm, "weight", None) is not None:
            nn.init.uniform_(norm.weight, 0.5, 1.5)
    return made


ROTARY = re.compile("RotaryEmbedding|RopePositionEmbedding")


@contextmanager
def still(made: nn.Module, late: re.Pattern | None = None) -> Iterator[None]:
    """Nothing turns: cosines are 1 and sines 0, or complex numbers 1; and Llama 4 does not count its tokens.

    Modules with a name that `late` finds, which norm what has turned, give what they get.
    """

    def flat(module, arguments, output):
        if isinstance(output, Tensor):
            return torch.ones_like(output)
        cos, sin = output
        return torch.ones_like(cos), torch.zeros_like(sin)

    hooks = [m.register_forward_hook(flat) for m in made.modules() if ROTARY.search(type(m).__name__)]
    hooks += [
        m.register_forward_hook(lambda module, arguments, output: arguments[0])
        for name, m in made.named_modules()
        if late and late.search(name)
    ]
    counting = [m for m in made.modules() if getattr(m, "attn_temperature_tuning", False)]
    for module in counting:
        module.attn_temperature_tuning = False
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()
        for module in counting:
            module.attn_temperature_tuning = True


def calls(made: nn.Module, positions: Tensor) -> list[Call]:
    """What each layer that attends gives to attention, for the same words at these positions.

    They are (sequence,), or (sequence, axes) for a model whose words have several.
    """
    CALLS.clear()
    ids = positions[None] if positions.dim() == 1 else positions.T[:, None]
    words = 4 + torch.arange(len(positions))[None] % (WORDS - 4)
    more = MORE.get(type(made).__name__, {})
    with torch.no_grad():
        made(**more, input_ids=words, position_ids=ids, use_cache=False)
    return [call for call in CALLS if call.k.shape[-2] > 1]  # not those that look at the picture
