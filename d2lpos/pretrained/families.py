"""The families of models, by the `model_type` of their configurations: how each is read, as data."""

from functools import partial

from .added import Added, mpnet, windows_in_turn
from .biased import Bucketed, Chosen, Disentangled, Sloped
from .layer import Config
from .pictured import PICTURED
from .turning import (
    ATTENTION,
    Turning,
    beam,
    blocks_in_turn,
    chunks_where_it_turns,
    every,
    in_a_period,
    in_groups,
    late_windows,
    listed_attention,
    llama4,
    ministral,
    named,
    named_attention,
    recurrent,
)
from .windowed import WINDOWED

WIDE_AND_GLOBAL = {"full_attention": 160_000.0, "sliding_attention": 10_000.0}
LOCAL_AND_GLOBAL = {"full_attention": 1_000_000.0, "sliding_attention": 10_000.0}
FULL, SLIDING = frozenset({"full_attention"}), frozenset({"sliding_attention"})
DEALT = frozenset({"mrope_interleaved"})  # in turn, whatever it says
BETA = frozenset({"llama_4_scaling_beta", "max_position_embeddings"})
typed = partial(Turning, base=None, types=named)  # what is not named may be any
exaone = partial(Turning, nope_layer_types=FULL, nope_beside_windows=True)
silent = partial(Turning, nope_layer_types=frozenset(ATTENTION))
encoder = partial(Turning, causal=False)
qwen = partial(Turning, types=late_windows, ignored_keys=frozenset({"max_window_layers"}))
deepseek = partial(Turning, layout="interleaved", rope_is_last=True)


def every_third(config: Config, depth: int) -> list[str]:
    """ModernBERT's: every `global_attn_every_n_layers`-th layer, from the first on, sees all."""
    n = config.get("global_attn_every_n_layers") or 3
    return ["sliding_attention" if i % n else "full_attention" for i in range(depth)]


def half_of_local(config: Config) -> int:
    """ModernBERT's window: half of `local_attention` on each side, and the token itself."""
    return config["local_attention"] // 2 + 1


GPTJ = {"dim": (), "hidden": ("n_embd",), "heads": ("n_head",), "depth": ("n_layer",)}
ROPE = frozenset({"rope_theta", "rope_parameters"})
ROTARY = frozenset({"rotary"})  # which their code does not read
# Queries and keys turn.
TURNING = {
    "afmoe": Turning(nope_layer_types=FULL, types=every(4)),
    "apertus": Turning(base=12_000_000.0),
    "arcee": Turning(),
    "aria_text": Turning(),
    "axk1": deepseek(),
    "bailing_hybrid": deepseek(base=6_000_000.0, types=in_groups),
    "bamba": Turning(share=0.5, types=listed_attention),
    "beam": typed(temperature=beam, types=every(6)),
    "bitnet": Turning(base=500_000.0),
    "cohere": Turning("interleaved", base=500_000.0),
    "cohere2": Turning("interleaved", nope_layer_types=FULL, types=every(4)),
    "codegen": Turning("interleaved", ignored_keys=ROTARY, **GPTJ),
    "cohere_compass_text": typed(types=None),
    "cwm": Turning(base=1_000_000.0, types=named),
    "deepseek_v2": deepseek(),
    "deepseek_v3": deepseek(),
    "diffllama": Turning(),
    "doge": Turning(ignored_keys=frozenset({"keep_window_size"})),  # which keys are kept hangs on the text
    "dots1": qwen(),
    "emu3_text_model": Turning(base=1_000_000.0),
    "ernie4_5": Turning("interleaved", base=500_000.0),
    "ernie4_5_moe": Turning("interleaved", base=500_000.0),
    "esmc": encoder(),
    "eurobert": encoder(),
    "exaone4": exaone(types=every(4)),
    "exaone_moe": exaone(types=every(4)),
    "falcon_h1": Turning(),
    "flex_olmo": Turning(base=500_000.0),
    "flint": Turning(nope_layer_types=FULL, types=named, sinks=FULL | SLIDING),
    "gemma": Turning(),
    "gemma2": Turning(types=every(2)),
    "gemma3_text": Turning(base=LOCAL_AND_GLOBAL, types=every(6)),
    "gemma3n_text": Turning(base=LOCAL_AND_GLOBAL, types=every(5)),
    "gemma4_text": typed(),
    "gemma4_unified_text": typed(),
    "glm": Turning("interleaved", share=0.5),
    "glm4": Turning("interleaved", share=0.5),
    "glm4_moe": Turning(share=0.5),
    "glm4_moe_lite": deepseek(),
    "gpt_neox": Turning(share=0.25),
    "gpt_neox_japanese": Turning(),
    "gpt_oss": typed(types=every(2), sinks=FULL | SLIDING),
    "gptj": Turning("interleaved", ignored_keys=ROTARY, **GPTJ),
    "granite": Turning(),
    "granite_swa": Turning(types=named, sinks=FULL | SLIDING),
    "granitemoe": Turning(),
    "granitemoe_swa": Turning(types=named, sinks=FULL | SLIDING),
    "granitemoeshared": Turning(),
    "granitemoehybrid": Turning(types=named, gate=("position_embedding_type", "rope")),
    "gte": encoder(base=160_000.0),
    "helium": Turning("interleaved", base=100_000.0),
    "hunyuan_v1_dense": Turning(normed="rms_norm_eps"),
    "hunyuan_v1_moe": Turning(normed="rms_norm_eps"),
    "hy_v3": Turning(base=11_158_840.0),
    "hyperclovax": Turning(),
    "internlm3": Turning(),
    "iquestcoder": Turning(),
    "jais2": Turning(),
    "jina_embeddings_v3": encoder(base=20_000.0),
    "jetmoe": Turning(dim=("kv_channels",)),
    "kolibri1": exaone(types=every(5)),
    "laguna": typed(types=None),
    "lfm2": Turning(base=1_000_000.0, types=named_attention),
    "lfm2_moe": Turning(base=1_000_000.0),
    "lfm3": typed(),
    "llama": Turning(),
    "llama4_text": Turning(
        "interleaved", base=500_000.0, types=chunks_where_it_turns, temperature=llama4, counts=True
    ),
    "longcat_flash": deepseek(base=10_000_000.0, depth=("num_layers",), two_attentions=True),
    "mellum": typed(types=None),
    "mimo_v2_flash": typed(sinks=SLIDING),
    "minicpm3": deepseek(layout="half"),
    "minimax": Turning(base=1_000_000.0, types=named, windowed_types=FULL),
    "minimax_m2": Turning(base=5_000_000.0),
    "ministral": Turning(types=lambda config, depth: ["sliding_attention"] * depth),
    "ministral3": Turning(base=1_000_000.0, window=True, temperature=ministral, extra=BETA),
    "mistral": Turning(window=True),
    "mistral4": deepseek(temperature=ministral, extra=BETA),
    "mixtral": Turning(base=1_000_000.0, window=True),
    "modernbert": encoder(base=WIDE_AND_GLOBAL, types=every_third, width=half_of_local),
    "modernbert-decoder": Turning(
        base=WIDE_AND_GLOBAL, types=every_third, ignored_keys=frozenset({"local_attention"})
    ),
    "moshi": Turning(ignored_keys=frozenset({"sliding_window"})),  # which its code does not use
    "nanochat": Turning(negate=True),
    "nemotron": Turning(share=0.5),
    "nomic_bert": encoder(base=1000.0),
    "olmo": Turning(),
    "olmo2": Turning(),
    "olmo3": Turning(base=500_000.0, types=every(4)),
    "olmo_hybrid": typed(baseless=True),
    "olmoe": Turning(),
    "persimmon": Turning(share=0.5),
    "phi": Turning(share=0.5),
    "phi3": Turning(window=True),
    "phi4_multimodal": Turning(window=True),
    "phimoe": Turning(base=1_000_000.0, window=True),
    "qwen2": qwen(),
    "qwen2_5_vl_text": qwen(mrope_layout="blocks", base=1_000_000.0),
    "qwen2_vl_text": qwen(mrope_layout="blocks", base=1_000_000.0),
    "qwen2_moe": qwen(),
    "qwen3": qwen(),
    "qwen3_vl_moe_text": Turning(mrope_layout="in turn", base=500_000.0, extra=DEALT),
    "qwen3_vl_text": Turning(mrope_layout="in turn", base=500_000.0, extra=DEALT),
    "qwen3_moe": Turning(window=True),
    "qwen3_5_text": Turning(share=0.25, types=named, mrope_layout="in turn"),
    "qwen3_5_moe_text": Turning(share=0.25, types=named, mrope_layout="in turn"),
    "qwen3_next": Turning(share=0.25, types=named),
    "recurrent_gemma": Turning(
        share=0.5, types=blocks_in_turn, width=lambda config: config["attention_window_size"]
    ),
    "roformer": encoder("interleaved"),
    "seed_oss": Turning(),
    "smollm3": Turning(base=2_000_000.0),
    "solar_open": Turning(base=1_000_000.0),
    "stablelm": Turning(share=0.25),
    "starcoder2": Turning(window=True),
    "vaultgemma": Turning(types=named),
    "voxtral_realtime_text": Turning(window=True),
    "youtu": deepseek(),
    "zamba2": Turning(types=named, dim=("attention_head_dim",), gate=("use_mem_rope", True)),
    "zaya": typed(types=None),
}
# Attention has no positions; the layers between have a recurrence.
SILENT = {
    "falcon_mamba": silent(types=recurrent),
    "jamba": silent(types=in_a_period),
    "kimi_linear": silent(
        types=named, ignored_keys=frozenset({"qk_rope_head_dim"})
    ),  # a side channel that does not turn
    "mamba": silent(types=recurrent),
    "mamba2": silent(types=recurrent),
    "nemotron_h": silent(types=named, ignored_keys=frozenset({"sliding_window"})),
    "rwkv": silent(types=recurrent, ignored_keys=frozenset({"context_length"})),
    "xlstm": silent(types=recurrent, ignored_keys=frozenset({"chunkwise_kernel", "max_inference_chunksize"})),
    "zamba": silent(types=named, ignored_keys=frozenset({"attn_layer_period", "attn_layer_offset"})),
}
# Keys that some families read and others do not, which refuse them.
READ_BY = {
    "attention_chunk_size": {"llama4_text"},
    "layer_rope_theta": {"granite_swa", "granitemoe_swa"},
    "layers_block_type": {"nemotron_h", "zamba", "zamba2"},
    "no_rope_layer_interval": {"llama4_text", "smollm3"},
    "no_rope_layers": {"llama4_text", "smollm3"},
    "original_max_position_embeddings": {"phi3", "phi4_multimodal"},
    "per_layer_config": {"gemma4_text", "gemma4_unified_text"},
    "rope_interleave": {"axk1", "deepseek_v3", "glm4_moe_lite", "mistral4", "youtu"},
    "rotary_dim": {"codegen", "gptj", "minimax_m2"},
    "rotary_emb_base": {"gpt_neox", "gpt_neox_japanese"},
    "rotary_pct": {"gpt_neox", "gpt_neox_japanese"},
    "use_sliding_window": {
        "qwen2",
        "qwen2_5_vl_text",
        "qwen2_moe",
        "qwen2_vl_text",
        "qwen3",
        "qwen3_moe",
        "smollm3",
    },
}
WITH_TYPES = """afmoe bailing_hybrid beam cohere2 cohere_compass_text cwm dots1 exaone4 exaone_moe flint gemma2 gemma3_text
gemma3n_text gemma4_text gemma4_unified_text gpt_oss granite_swa granitemoe_swa granitemoehybrid kimi_linear kolibri1
laguna lfm2 lfm2_moe lfm3 llama4_text mellum mimo_v2_flash minimax ministral modernbert modernbert-decoder olmo3
olmo_hybrid qwen2 qwen2_5_vl_text qwen2_moe qwen2_vl_text qwen3 qwen3_5_moe_text qwen3_5_text qwen3_next smollm3 vaultgemma zaya"""
WITH_WINDOW = """afmoe beam cohere2 cohere_compass_text cwm doge dots1 exaone4 exaone_moe flint gemma2 gemma3_text
gemma3n_text gemma4_text gemma4_unified_text gpt_oss granite_swa granitemoe_swa kolibri1 laguna lfm3 mellum
mimo_v2_flash minimax ministral ministral3 mistral mixtral modernbert-decoder moshi nemotron_h olmo3 phi3
phi4_multimodal phimoe qwen2 qwen2_5_vl_text qwen2_moe qwen2_vl_text qwen3 qwen3_moe smollm3 starcoder2 vaultgemma voxtral_realtime_text zaya"""
READ_BY |= {"layer_types": set(WITH_TYPES.split()), "sliding_window": set(WITH_WINDOW.split())}
# A table or sinusoids are added to the input.
bert, gpt = Added, partial(Added, causal=True)
roberta = partial(Added, padded=True)
two = partial(Added, causal=True, dim=("d_model",), depth=("decoder_layers",))
one = partial(Added, dim=("d_model",), depth=("encoder_layers",))
HALVES, ENDS = ("concatenated", False), ("concatenated", True)
XLM = {"dim": ("emb_dim",), "depth": ("n_layers",), "ignored_keys": frozenset({"is_encoder"})}
GPT2 = {"length": ("n_positions",), "dim": ("n_embd",), "depth": ("n_layer",)}
TROCR = {"dim": ("d_model", "hidden_size"), "depth": ("decoder_layers", "num_hidden_layers")}
ADDED = {
    "albert": bert(dim=("embedding_size",)),
    "bart": two(before=2, encoder=one(before=2)),
    "bert": bert(),
    "bert-generation": bert(),
    "biogpt": gpt(before=2),
    "blenderbot": two(encoder=one()),
    "blenderbot-small": two(encoder=one()),
    "camembert": roberta(),
    "clip_text_model": gpt(),
    "convbert": bert(dim=("embedding_size",)),
    "ctrl": gpt(clocks=HALVES, **GPT2),
    "data2vec-text": roberta(),
    "distilbert": bert(flag="sinusoidal_pos_embds", dim=("dim",), depth=("n_layers",)),
    "electra": bert(dim=("embedding_size",)),
    "ernie": bert(),
    "esm": Chosen(
        "position_embedding_type",
        {"absolute": roberta(), "rotary": encoder()},
        default="absolute",
        ignored_keys=ROPE,
    ),
    "flaubert": bert(flag="sinusoidal_embeddings", **XLM),
    "fsmt": two(padded=True, clocks=ENDS, encoder=one(padded=True, clocks=ENDS)),
    "git": gpt(),
    "gpt-sw3": gpt(**GPT2),
    "gpt2": gpt(**GPT2),
    "gpt_bigcode": gpt(**GPT2),
    "gpt_neo": gpt(depth=("num_layers",), windows=windows_in_turn, ignored_keys=frozenset({"attention_types"})),
    "ibert": roberta(),
    "imagegpt": gpt(**GPT2),
    "m2m_100": two(before=2, clocks=ENDS, encoder=one(before=2, clocks=ENDS)),
    "marian": two(clocks=HALVES, encoder=one(clocks=HALVES)),
    "mbart": two(before=2, encoder=one(before=2)),
    "megatron-bert": bert(),
    "mobilebert": bert(),
    "mpnet": roberta(bias=mpnet),
    "mra": bert(before=2),
    "mvp": two(before=2, encoder=one(before=2)),
    "nllb-moe": two(before=2, clocks=ENDS, encoder=one(before=2, clocks=ENDS)),
    "nystromformer": bert(before=2),
    "openai-gpt": gpt(**GPT2),
    "opt": gpt(before=2),
    "pegasus": two(clocks=HALVES, encoder=one(clocks=HALVES)),
    "plbart": two(before=2, encoder=one(before=2)),
    "rembert": bert(dim=("input_embedding_size",)),
    "roberta": roberta(),
    "roberta-prelayernorm": roberta(),
    "roc_bert": bert(),
    "siglip_text_model": bert(),
    "splinter": bert(),
    "squeezebert": bert(),
    "trocr": Chosen(
        "use_learned_position_embeddings",
        {True: gpt(before=2, **TROCR), False: gpt(padded=True, clocks=ENDS, **TROCR)},
        default=True,
    ),
    "whisper": two(
        length=("max_target_positions",),
        encoder=one(length=("max_source_positions",), clocks=ENDS),
    ),
    "xglm": gpt(before=2, clocks=ENDS, dim=("d_model",), depth=("num_layers",)),
    "xlm-roberta": roberta(),
    "xlm-roberta-xl": roberta(),
    "xmod": roberta(),
    "xlm": bert(flag="sinusoidal_embeddings", **XLM),
    "yoso": bert(before=2),
}
# A bias is added to the scores.
BIASED = {
    "bloom": Sloped(heads=("n_head",), depth=("n_layer",), ignored_keys=frozenset({"offset_alibi"})),
    "deberta": Disentangled(),
    "deberta-v2": Disentangled(logarithms=True),
    "falcon": Chosen(
        "alibi",
        {True: Sloped(heads=("num_attention_heads",), depth=("num_hidden_layers",)), False: Turning()},
        default=False,
    ),
    "mpt": Sloped(
        heads=("n_heads",), depth=("n_layers",), within="attn_config", ignored_keys=frozenset({"learned_pos_emb"})
    ),
    "mt5": Bucketed(),
    "switch_transformers": Bucketed(),
    "t5": Bucketed(),
    "umt5": Bucketed(shared=False),
}
FAMILIES = {**TURNING, **SILENT, **ADDED, **BIASED, **PICTURED, **WINDOWED}
# Known, and refused: what they do is more than a layer of ours says.
REFUSED = {
    **dict.fromkeys(("inkling_text", "inkling2_text"), "its bias is computed from the text"),
    **dict.fromkeys(
        (
            "axk2",
            "deepseek_v32",
            "dots3_note_text",
            "glm_moe_dsa",
            "hy_v4",
            "minimax_m3_vl_text",
            "qwen4_exp_text",
        ),
        "an index with positions of its own chooses the keys",
    ),
    **dict.fromkeys(("big_bird", "bigbird_pegasus", "pegasus_x"), "its attention goes by blocks"),
    **dict.fromkeys(("led", "longformer", "luke", "longt5"), "some tokens see all, the others a window"),
    **dict.fromkeys(("xlnet", "funnel"), "its terms of offsets hold the whole block together"),
    **dict.fromkeys(("layoutlm", "tapas", "ultrabert"), "a token has several positions"),
    **dict.fromkeys(("seamless_m4t", "seamless_m4t_v2"), "it has four parts"),
    **dict.fromkeys(("t5gemma", "t5gemma2", "encoder-decoder"), "its parts have configurations of their own"),
    **dict.fromkeys(("musicgen", "musicgen_melody", "blt"), "its parts have configurations of their own"),
    "cohere2_moe": "which layers turn hangs on what follows attention",
    "cpmant": "its buckets count segments, too",
    "dbrx": "its base stands in two places that need not agree",
    "deepseek_v4": "values turn, too, and compressed keys have positions of their own",
    "fnet": "it has no attention, and its transform has no positions",
    "gemma4_assistant": "it reads the keys of another model",
    "hrm_text": "its layers are run over and over",
    "neomme": "its tokens have positions on two axes",
    "perceiver": "its queries are learned",
    "prophetnet": "it predicts several tokens at once, each with buckets of its own",
    "reformer": "its table is a product of two, and its keys are chosen by a hash",
    "vjepa2": "its map of queries and keys is no rotation",
}
