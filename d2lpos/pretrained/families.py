"""The families of models, by the `model_type` of their configurations: how each is read, as data.

A row holds for all families that its key names. Its field `reads` names the keys that these families read
and that some others refuse.
"""

from functools import partial

from .added import Added, mpnet, windows_in_turn
from .biased import Bucketed, Chosen, Disentangled, Sloped
from .layer import Config, by_name
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
BETA = frozenset({"llama_4_scaling_beta", "max_position_embeddings"})
TYPES, BOTH = "layer_types", "layer_types sliding_window"
layered = partial(Turning, reads=BOTH)
typed = partial(layered, base=None, types=named)  # what is not named may be any
windowed = partial(Turning, window=True, reads="sliding_window")
silent = partial(Turning, nope_layer_types=frozenset(ATTENTION))
encoder = partial(Turning, causal=False)
qwen = partial(Turning, types=late_windows, ignored_keys="max_window_layers", reads=f"{BOTH} use_sliding_window")
deepseek = partial(Turning, layout="interleaved", rope_is_last=True)
seen = partial(Turning, mrope_layout="in turn")


def every_third(config: Config, depth: int) -> list[str]:
    """ModernBERT's: every `global_attn_every_n_layers`-th layer, from the first on, sees all."""
    n = config.get("global_attn_every_n_layers") or 3
    return ["sliding_attention" if i % n else "full_attention" for i in range(depth)]


def half_of_local(config: Config) -> int:
    """ModernBERT's window: half of `local_attention` on each side, and the token itself."""
    return config["local_attention"] // 2 + 1


GPTJ = {"dim": (), "hidden": ("n_embd",), "heads": ("n_head",), "depth": ("n_layer",)}
# Queries and keys turn.
TURNING = by_name(
    {
        """arcee aria_text diffllama falcon_h1 gemma granite granitemoe granitemoeshared hyperclovax internlm3
        iquestcoder jais2 llama olmo olmo2 olmoe seed_oss""": Turning(),
        "bitnet flex_olmo": Turning(base=500_000.0),
        "emu3_text_model solar_open": Turning(base=1_000_000.0),
        "lfm2_moe": Turning(base=1_000_000.0, reads=TYPES),
        "smollm3": Turning(
            base=2_000_000.0, reads=f"{BOTH} no_rope_layer_interval no_rope_layers use_sliding_window"
        ),
        "minimax_m2": Turning(base=5_000_000.0, reads="rotary_dim"),
        "hy_v3": Turning(base=11_158_840.0),
        "apertus": Turning(base=12_000_000.0),
        "stablelm": Turning(share=0.25),
        "gpt_neox": Turning(share=0.25, reads="rotary_emb_base rotary_pct"),
        "gpt_neox_japanese": Turning(reads="rotary_emb_base rotary_pct"),
        "glm4_moe nemotron persimmon phi": Turning(share=0.5),
        "jetmoe": Turning(dim=("kv_channels",)),
        "hunyuan_v1_dense hunyuan_v1_moe": Turning(normed="rms_norm_eps"),
        "nanochat": Turning(negate=True),
        "helium": Turning("interleaved", base=100_000.0),
        "cohere ernie4_5 ernie4_5_moe": Turning("interleaved", base=500_000.0),
        "glm glm4": Turning("interleaved", share=0.5),
        "codegen gptj": Turning("interleaved", ignored_keys="rotary", reads="rotary_dim", **GPTJ),  # which their code does not read
        # pictures and text beside each other
        "qwen2_5_vl_text qwen2_vl_text": qwen(mrope_layout="blocks", base=1_000_000.0),
        "qwen3_vl_moe_text qwen3_vl_text": seen(base=500_000.0, extra=frozenset({"mrope_interleaved"})),
        "qwen3_5_text qwen3_5_moe_text": seen(share=0.25, types=named, reads=TYPES),
        # in a part of a head's features
        "deepseek_v2": deepseek(),
        "axk1 deepseek_v3 glm4_moe_lite youtu": deepseek(reads="rope_interleave"),
        "mistral4": deepseek(temperature=ministral, extra=BETA, reads="rope_interleave"),
        "bailing_hybrid": deepseek(base=6_000_000.0, types=in_groups, reads=TYPES),
        "longcat_flash": deepseek(base=10_000_000.0, depth=("num_layers",), two_attentions=True),
        "minicpm3": deepseek(layout="half"),
        # both directions
        "esmc eurobert": encoder(),
        "nomic_bert": encoder(base=1000.0),
        "jina_embeddings_v3": encoder(base=20_000.0),
        "gte": encoder(base=160_000.0),
        "roformer": encoder("interleaved"),
        "modernbert": encoder(base=WIDE_AND_GLOBAL, types=every_third, width=half_of_local, reads=TYPES),
        # one window for all layers; which keys Doge keeps hangs on the text, and Moshi's code uses no window
        "mistral starcoder2 voxtral_realtime_text": windowed(),
        "mixtral phimoe": windowed(base=1_000_000.0),
        "ministral3": windowed(base=1_000_000.0, temperature=ministral, extra=BETA),
        "phi3 phi4_multimodal": windowed(reads="original_max_position_embeddings sliding_window"),
        "qwen3_moe": windowed(reads="sliding_window use_sliding_window"),
        "doge": Turning(ignored_keys="keep_window_size", reads="sliding_window"),
        "moshi": Turning(ignored_keys="sliding_window", reads="sliding_window"),
        # layers that differ
        "qwen2 qwen2_moe qwen3": qwen(),
        "dots1": qwen(reads=BOTH),
        "ministral": layered(types=lambda config, depth: ["sliding_attention"] * depth),
        "gemma2": layered(types=every(2)),
        "gemma3_text": layered(base=LOCAL_AND_GLOBAL, types=every(6)),
        "gemma3n_text": layered(base=LOCAL_AND_GLOBAL, types=every(5)),
        "gemma4_text gemma4_unified_text": typed(reads=f"{BOTH} per_layer_config"),
        "modernbert-decoder": layered(base=WIDE_AND_GLOBAL, types=every_third, ignored_keys="local_attention"),
        "olmo3": layered(base=500_000.0, types=every(4)),
        "olmo_hybrid": typed(baseless=True, reads=TYPES),
        "afmoe": layered(nope_layer_types=FULL, types=every(4)),
        "cohere2": layered("interleaved", nope_layer_types=FULL, types=every(4)),
        "exaone4 exaone_moe": layered(nope_layer_types=FULL, nope_beside_windows=True, types=every(4)),
        "kolibri1": layered(nope_layer_types=FULL, nope_beside_windows=True, types=every(5)),
        "cwm": layered(base=1_000_000.0, types=named),
        "minimax": layered(base=1_000_000.0, types=named, windowed_types=FULL),
        "vaultgemma": layered(types=named),
        "flint": layered(nope_layer_types=FULL, types=named, sinks=FULL | SLIDING),
        "granite_swa granitemoe_swa": layered(
            types=named, sinks=FULL | SLIDING, reads=f"{BOTH} layer_rope_theta"
        ),
        "cohere_compass_text laguna mellum zaya": typed(types=None),
        "lfm3": typed(),
        "mimo_v2_flash": typed(sinks=SLIDING),
        "gpt_oss": typed(types=every(2), sinks=FULL | SLIDING),
        "beam": typed(temperature=beam, types=every(6)),
        "llama4_text": Turning(
            "interleaved",
            base=500_000.0,
            types=chunks_where_it_turns,
            temperature=llama4,
            counts=True,
            reads=f"{TYPES} attention_chunk_size no_rope_layer_interval no_rope_layers",
        ),
        # a recurrence or a convolution in some layers
        "bamba": Turning(share=0.5, types=listed_attention),
        "granitemoehybrid": Turning(types=named, gate=("position_embedding_type", "rope"), reads=TYPES),
        "lfm2": Turning(base=1_000_000.0, types=named_attention, reads=TYPES),
        "qwen3_next": Turning(share=0.25, types=named, reads=TYPES),
        "recurrent_gemma": Turning(
            share=0.5, types=blocks_in_turn, width=lambda config: config["attention_window_size"]
        ),
        "zamba2": Turning(
            types=named, dim=("attention_head_dim",), gate=("use_mem_rope", True), reads="layers_block_type"
        ),
    }
)
# Attention has no positions; the layers between have a recurrence.
SILENT = by_name(
    {
        "falcon_mamba mamba mamba2": silent(types=recurrent),
        "rwkv": silent(types=recurrent, ignored_keys="context_length"),
        "xlstm": silent(types=recurrent, ignored_keys="chunkwise_kernel max_inference_chunksize"),
        "jamba": silent(types=in_a_period),
        "kimi_linear": silent(types=named, ignored_keys="qk_rope_head_dim", reads=TYPES),  # it does not turn
        "nemotron_h": silent(types=named, ignored_keys="sliding_window", reads="layers_block_type sliding_window"),
        "zamba": silent(types=named, ignored_keys="attn_layer_period attn_layer_offset", reads="layers_block_type"),
    }
)
# A table or sinusoids are added to the input.
gpt, roberta = partial(Added, causal=True), partial(Added, padded=True)
two = partial(Added, causal=True, dim=("d_model",), depth=("decoder_layers",))
one = partial(Added, dim=("d_model",), depth=("encoder_layers",))
HALVES, ENDS = ("concatenated", False), ("concatenated", True)
XLM = {"dim": ("emb_dim",), "depth": ("n_layers",), "ignored_keys": "is_encoder"}
GPT2 = {"length": ("n_positions",), "dim": ("n_embd",), "depth": ("n_layer",)}
TROCR = {"dim": ("d_model", "hidden_size"), "depth": ("decoder_layers", "num_hidden_layers")}
ADDED = by_name(
    {
        """bert bert-generation ernie megatron-bert mobilebert roc_bert siglip_text_model splinter
        squeezebert""": Added(),
        "mra nystromformer yoso": Added(before=2),
        "albert convbert electra": Added(dim=("embedding_size",)),
        "rembert": Added(dim=("input_embedding_size",)),
        "distilbert": Added(flag="sinusoidal_pos_embds", dim=("dim",), depth=("n_layers",)),
        "flaubert xlm": Added(flag="sinusoidal_embeddings", **XLM),
        """camembert data2vec-text ibert roberta roberta-prelayernorm xlm-roberta xlm-roberta-xl
        xmod""": roberta(),
        "mpnet": roberta(bias=mpnet),
        "clip_text_model git": gpt(),
        "biogpt opt": gpt(before=2),
        "ctrl": gpt(clocks=HALVES, **GPT2),
        "gpt-sw3 gpt2 gpt_bigcode imagegpt openai-gpt": gpt(**GPT2),
        "gpt_neo": gpt(depth=("num_layers",), windows=windows_in_turn, ignored_keys="attention_types"),
        "xglm": gpt(before=2, clocks=ENDS, dim=("d_model",), depth=("num_layers",)),
        "bart mbart mvp plbart": two(before=2, encoder=one(before=2)),
        "blenderbot blenderbot-small": two(encoder=one()),
        "fsmt": two(padded=True, clocks=ENDS, encoder=one(padded=True, clocks=ENDS)),
        "m2m_100 nllb-moe": two(before=2, clocks=ENDS, encoder=one(before=2, clocks=ENDS)),
        "marian pegasus": two(clocks=HALVES, encoder=one(clocks=HALVES)),
        "whisper": two(
            length=("max_target_positions",), encoder=one(length=("max_source_positions",), clocks=ENDS)
        ),
        "esm": Chosen(
            "position_embedding_type",
            {"absolute": roberta(), "rotary": encoder()},
            default="absolute",
            ignored_keys="rope_theta rope_parameters",
        ),
        "trocr": Chosen(
            "use_learned_position_embeddings",
            {True: gpt(before=2, **TROCR), False: gpt(padded=True, clocks=ENDS, **TROCR)},
            default=True,
        ),
    }
)
# A bias is added to the scores.
FALCON = Sloped(heads=("num_attention_heads",), depth=("num_hidden_layers",))
BIASED = by_name(
    {
        "bloom": Sloped(heads=("n_head",), depth=("n_layer",), ignored_keys="offset_alibi"),
        "deberta": Disentangled(),
        "deberta-v2": Disentangled(logarithms=True),
        "falcon": Chosen("alibi", {True: FALCON, False: Turning()}, default=False),
        "mpt": Sloped(heads=("n_heads",), depth=("n_layers",), within="attn_config", ignored_keys="learned_pos_emb"),
        "mt5 switch_transformers t5": Bucketed(),
        "umt5": Bucketed(shared=False),
    }
)
FAMILIES = {**TURNING, **SILENT, **ADDED, **BIASED, **PICTURED, **WINDOWED}
READ_BY_SOME = frozenset(key for row in FAMILIES.values() for key in row.reads.split())
# Known, and refused: what they do is more than a layer of ours says.
REFUSED = by_name(
    {
        "inkling_text inkling2_text": "its bias is computed from the text",
        """axk2 deepseek_v32 dots3_note_text glm_moe_dsa hy_v4 minimax_m3_vl_text
        qwen4_exp_text""": "an index with positions of its own chooses the keys",
        "big_bird bigbird_pegasus pegasus_x": "its attention goes by blocks",
        "led longformer luke longt5": "some tokens see all, the others a window",
        "xlnet funnel": "its terms of offsets hold the whole block together",
        "layoutlm tapas ultrabert": "a token has several positions",
        "seamless_m4t seamless_m4t_v2": "it has four parts",
        """t5gemma t5gemma2 encoder-decoder musicgen musicgen_melody
        blt""": "its parts have configurations of their own",
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
)
