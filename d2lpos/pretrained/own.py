"""Families that come with code of their own, and not with transformers, as that code reads their configurations.

`SOURCES` says where that code stands, as it was read: in vLLM 0.33, in SGLang 0.5.23, or in a repository of its makers or
a copy of one. What a configuration leaves out, `DEFAULTS` holds as that code has it.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from .biased import Sloped
from .layer import Config, Family, Reading, by_name
from .turning import Turning, late_windows

SOURCES = {
    "baichuan": "sglang/srt/models/baichuan.py",
    "bailing_moe": "vllm/model_executor/models/bailing_moe.py",
    "chatglm": "vllm/model_executor/models/chatglm.py",
    "deepseek": "vllm/model_executor/models/deepseek_v2.py",
    "exaone": "vllm/model_executor/models/exaone.py",
    "internlm2": "vllm/model_executor/models/internlm2.py",
    # The layers and the configuration are Qwen 2's.
    "mimo": "https://github.com/XiaomiMiMo/MiMo/blob/main/registry/register_mimo_in_vllm.py",
    "minicpm": "vllm/model_executor/models/minicpm.py",
    "nemotron-nas": "vllm/model_executor/models/nemotron_nas.py",
    "orion": "vllm/model_executor/models/orion.py",
    # With configuration_qwen.py beside it. Copied from https://huggingface.co/Qwen/Qwen-7B.
    "qwen": "https://github.com/zhangningboo/Qwen-7B/blob/e7a368b0774370edec29674e7c51f52fc7663f59/modeling_qwen.py",
    # With transformers_utils/configs/step3_vl.py beside it.
    "step3_text": "vllm/model_executor/models/step3_text.py",
    "xverse": "sglang/srt/models/xverse.py",
}


@dataclass(frozen=True)
class BySize(Family):
    """Baichuan: the small model turns, the large one has slopes; its code looks at the hidden size."""

    def read(self, family: str, config: Config, tokens: int | None) -> Reading:
        small = config.first("hidden_size") == 4096
        row = Turning() if small else Sloped(("num_attention_heads",), ("num_hidden_layers",))
        return row.read(family, config, tokens)


@dataclass(frozen=True)
class HalfOfAHead(Family):
    """ChatGLM 2 to 4: half of a head's features turn, in halves where `original_rope` is false."""

    def read(self, family: str, config: Config, tokens: int | None) -> Reading:
        if config.get("position_encoding_2d"):
            raise ValueError(
                f"position_encoding_2d of {family} must be false: two positions a token are not read"
            )
        layout = "interleaved" if config.get("original_rope", True) else "half"
        row = Turning(layout, dim=("kv_channels",), depth=("num_layers",), rope=by_ratio)
        return row.read(family, config, tokens)


def by_ratio(config: Config, types: list[str]) -> dict[None, dict]:
    """ChatGLM's parameters: 10,000 times `rope_ratio` for a base."""
    base = 10_000.0 * config.first("rope_ratio", default=1.0)
    return {None: {"rope_theta": base, "partial_rotary_factor": 0.5}}


@dataclass(frozen=True)
class UpToItsLength(Turning):
    """Qwen 1: within `seq_length` it turns plainly; past it two rules begin that are not read, in every layer.

    `use_dynamic_ntk`: the base grows with the length of the whole text, in steps. `use_logn_attn`: a query at
    position p ≥ `seq_length` is multiplied by ln(p + 1) / ln(`seq_length`).
    """

    def read(self, family: str, config: Config, tokens: int | None) -> Reading:
        length, ntk, logn = (
            config.first("seq_length"),
            config.get("use_dynamic_ntk"),
            config.get("use_logn_attn"),
        )
        grows = ntk or logn
        if grows and tokens is None:
            raise ValueError(
                f"tokens must say how long the text is, because {family} changes past {length:,}; got None"
            )
        if grows and tokens > length:
            raise ValueError(f"tokens must be at most seq_length = {length} for {family}; got {tokens}")
        return super().read(family, config, tokens)


def puzzled(config: Config, depth: int) -> list[str]:
    """Nemotron-NAS's: `block_configs` says which layers kept their attention."""
    kinds = []
    for block in config["block_configs"]:
        if not isinstance(block, Mapping) or not isinstance(block.get("attention"), Mapping):
            raise ValueError(f"block_configs must have a dictionary `attention` in each block; got {block!r}")  # noqa: TRY004
        said = {key: value for key, value in block["attention"].items() if value not in (None, False)}
        strange = sorted(set(said) - {"n_heads_in_group", "no_op", "replace_with_linear"})
        if strange:
            raise ValueError(f"block_configs has keys that are not understood: {', '.join(strange)}")
        kinds.append("mlp" if "no_op" in said or "replace_with_linear" in said else "full_attention")
    return kinds


OWN = by_name(
    {
        "baichuan": BySize(ignored_keys="model_max_length z_loss_weight"),
        "chatglm": HalfOfAHead(
            ignored_keys="""add_qkv_bias apply_query_key_layer_scaling fp32_residual_connection layernorm_epsilon
            multi_query_attention multi_query_group_num padded_vocab_size post_layer_norm rmsnorm"""
        ),
        "exaone": Turning(depth=("num_layers",)),
        "internlm2": Turning(),
        # Their code divides the hidden size, whatever head_dim says.
        "deepseek orion": Turning(dim=()),
        "minicpm": Turning(dim=(), ignored_keys="dim_model_base mup_denominator scale_depth scale_emb"),
        "bailing_moe": Turning(
            reads="rotary_dim",
            ignored_keys="""max_window_layers moe_router_enable_expert_bias moe_router_topk_scaling_factor norm_head
            norm_softmax output_dropout score_function use_rmsnorm""",
        ),
        "step3_text": Turning(
            ignored_keys="""max_position_embedding max_seq_len moe_layers_enum moe_top_k norm_expert_weight
            num_attention_groups share_expert_dim share_q_dim"""
        ),
        "xverse": Turning(ignored_keys="max_tokenizer_truncation"),
        "mimo": Turning(types=late_windows, reads="layer_types sliding_window use_sliding_window"),
        "nemotron-nas": Turning(types=puzzled, ignored_keys="block_configs"),
        "qwen": UpToItsLength(
            dim=("kv_channels",),
            reads="rotary_emb_base rotary_pct",
            ignored_keys="""attn_dropout_prob bf16 emb_dropout_prob fp16 fp32 no_bias onnx_safe padded_vocab_size
            params_dtype pos_emb seq_length tokenizer_type""",
        ),
    }
)
DEFAULTS = by_name(
    {"baichuan bailing_moe deepseek exaone internlm2 minicpm nemotron-nas orion xverse": {"rope_theta": 10_000.0}}
) | {
    "mimo": {
        "hidden_size": 4096, "max_position_embeddings": 32_768, "max_window_layers": 28, "num_attention_heads": 32,
        "num_hidden_layers": 32, "num_key_value_heads": 32, "rope_theta": 10_000.0, "sliding_window": 4096,
        "use_sliding_window": False,
    },
    "qwen": {
        "hidden_size": 4096, "kv_channels": 128, "max_position_embeddings": 8192, "num_attention_heads": 32,
        "num_hidden_layers": 32, "rope_theta": 10_000.0, "use_dynamic_ntk": True, "use_logn_attn": True,
    },
    "step3_text": {
        "head_dim": 256, "hidden_size": 7168, "num_attention_heads": 64, "num_hidden_layers": 61, "num_key_value_heads": 1,
        "rope_theta": 500_000.0,
    },
}  # fmt: skip
