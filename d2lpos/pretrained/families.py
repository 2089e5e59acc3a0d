"""The families of models, by the `model_type` of their configurations: how each is read, as data.

A row holds for all families that its key names. Its field `reads` names the keys that these families read
and that some others refuse.
"""

from functools import partial

from .added import Added, fixed_buckets, windows_in_turn
from .biased import Bucketed, Chosen, Disentangled, Sloped
from .compressed import Compressed
from .layer import Config, by_name
from .own import OWN
from .pictured import PICTURED
from .turning import (
    ATTENTION,
    InBlocks,
    Turning,
    alike,
    blocks_in_turn,
    but_every_fourth_from_the_last,
    by_groups,
    by_letters,
    by_lists,
    chunks_where_it_turns,
    convolutions_between,
    early_windows,
    every,
    every_fourth_from_the_last,
    in_a_period,
    late_windows,
    listed_attention,
    listed_crossings,
    named_attention,
    of_54_layers,
    power_where_nothing_turns,
    steps_by_beta,
    steps_where_nothing_turns,
    third_and_in_a_period,
    where_sparse,
    windows_without_turns,
)
from .windowed import WINDOWED

COMPRESSED = {"deepseek_v4": Compressed()}
FULL, SLIDING = frozenset({"full_attention"}), frozenset({"sliding_attention"})
BETA = frozenset({"llama_4_scaling_beta", "max_position_embeddings"})
SHARED = "index_skip_topk_offset index_topk_freq index_topk_pattern indexer_types"
TYPES, BOTH = "layer_types", "layer_types sliding_window"
layered = partial(Turning, reads=BOTH)
windowed = partial(Turning, window=True, reads="sliding_window")
silent = partial(Turning, nope_layer_types=frozenset(ATTENTION))
encoder = partial(Turning, causal=False)
qwen = partial(
    Turning, types=late_windows, ignored_keys="max_window_layers", reads=f"{BOTH} use_sliding_window"
)
deepseek = partial(Turning, layout="interleaved", rope_is_last=True)


def indexed(layout: str) -> Turning:
    """DeepSeek's sparse attention; the layout is its indexer's."""
    return deepseek(
        indexer=layout,
        ignored_keys=INDEX,
        reads=f"{TYPES} {SHARED} rope_interleave index_head_dim index_topk indexer_rope_interleave",
    )


INDEX = "index_n_heads index_share_for_mtp_iteration"
seen = partial(Turning, mrope_layout="in turn", sections=(24, 20, 20), extra=frozenset({"mrope_interleaved"}))
beside_recurrence = every(4, "linear_attention", key="full_attention_interval")


def half_of_local(config: Config) -> int:
    """ModernBERT's window: half of `local_attention` on each side, and the token itself."""
    return config.first("local_attention") // 2 + 1


def half_without_a_causal_mask(config: Config) -> int | None:
    """Gemma 3's window; without a causal mask half of it on each side, and the token itself."""
    window = config.get("sliding_window")
    return window // 2 + 1 if window and config.get("use_bidirectional_attention") else window


def of_the_decoder(config: Config) -> int | None:
    """The window of ModernBERT's decoder: what its file says, or half of `local_attention`."""
    said, local = config.given.get("sliding_window"), config.get("local_attention")
    config.pass_over(("sliding_window",))
    return local // 2 if said is None and local else said


def attention_window(config: Config) -> int:
    return config["attention_window_size"]


def counted_without_itself(config: Config) -> int | None:
    """MiMo's window, where `sliding_window_size` does not count the token itself."""
    window, before = config.get("sliding_window"), config.get("sliding_window_size")
    return window if before is None else before + 1


CONVOLUTIONS = """block_dim block_ff_dim block_mlp_init_scale block_norm_eps block_out_init_scale block_use_swiglu
block_use_xavier_init conv_dim conv_dim_out conv_use_xavier_init use_pos_enc"""
OF_WINDOWS = """attention_chunk_size add_full_attention_sink_bias add_swa_attention_sink_bias layernorm_epsilon swa_head_dim
swa_num_attention_heads swa_num_key_value_heads swa_rope_theta swa_v_head_dim"""
PERCEIVER = """additional_vocab_size alpha_initializer alpha_type alphas_initializer_range cross_layer_interval
freeze_lm_head freeze_text_layers freeze_text_module_exceptions freeze_vision_layers freeze_vision_module_exceptions
perceiver_config qk_layer_norms use_resampler"""
PROTEINS = """aligner_attention_probs_dropout_prob aligner_enable_bias aligner_ffn_mult aligner_num_add_layers
protein_encoder_config resampler_depth resampler_dim_head resampler_ff_mult resampler_heads resampler_num_latents"""
GPTJ = {"dim": (), "hidden": ("n_embd",), "heads": ("n_head",), "depth": ("n_layer",)}
# Queries and keys turn.
TURNING = by_name(
    {
        """arcee aria_text bitnet diffllama emu3_text_model falcon_h1 flex_olmo gemma glm4_moe gpt_neox
        gpt_neox_japanese granite granite4_vision_text granite_docling_text granitemoe granitemoeshared hy_v3 hyperclovax
        internlm3 iquestcoder jais2 llama nemotron olmo olmo2 olmoe persimmon seed_oss solar_open stablelm""": Turning(),
        "lfm2_moe": Turning(reads=TYPES),
        "smollm3": Turning(
            types=windows_without_turns,
            reads=f"{BOTH} no_rope_layer_interval no_rope_layers use_sliding_window",
        ),
        "minimax_m2": Turning(reads="rotary_dim"),
        "minimax_m3_vl_text": InBlocks(
            indexer="half",
            types=where_sparse,
            # Of what turns its code reads the share alone.
            ignored_keys="""attention_output_gate dense_intermediate_size index_local_blocks index_n_heads rotary_dim
            swiglu_beta use_gemma_norm""",
            reads=f"{TYPES} index_block_size index_head_dim index_topk_blocks sparse_attention_config",
        ),
        "apertus": Turning(ignored_keys="post_norm qk_norm"),
        "chameleon": Turning(ignored_keys="model_parallel_size swin_norm vocabulary_map vq_config"),
        "deepseek_ocr2_text": Turning(dim=()),
        "evolla": Turning(ignored_keys=PROTEINS),
        "idefics": Turning(ignored_keys=PERCEIVER),
        "molmo2_text": Turning(ignored_keys="additional_vocab_size norm_after", reads="rope_scaling_layers"),
        "phi": Turning(ignored_keys="rotary_dim"),  # a released file has it beside the share
        "jetmoe": Turning(dim=("kv_channels",)),
        "hunyuan_v1_dense hunyuan_v1_moe": Turning(normed="rms_norm_eps"),
        "mllama_text_model": Turning(types=listed_crossings),
        "nanochat": Turning(negate=True),
        "cohere ernie4_5 ernie4_5_moe glm glm4 helium": Turning("interleaved"),
        "codegen gptj": Turning(
            "interleaved", ignored_keys="rotary", reads="rotary_dim", **GPTJ
        ),  # which their code does not read
        # pictures and text beside each other
        "qwen2_5_omni_text qwen2_5_vl_text qwen2_vl_text": qwen(mrope_layout="blocks", sections=(16, 24, 24)),
        "cosmos3_edge_text qwen3_omni_moe_text qwen3_vl_moe_text qwen3_vl_text": seen(),
        "ernie4_5_vl_moe_text": Turning(
            "interleaved", mrope_layout="rows and columns", sections=(22, 22, 20)
        ),
        "glm4v_text glm_ocr_text": Turning("interleaved", mrope_layout="blocks", sections=(8, 12, 12)),
        "glm4v_moe_text": Turning(mrope_layout="blocks", sections=(8, 12, 12)),
        "paddleocr_vl_text": Turning(mrope_layout="blocks", sections=(16, 24, 24)),
        "qwen3_5_text qwen3_5_moe_text": seen(sections=(11, 11, 10), types=beside_recurrence, reads=TYPES),
        # in a part of a head's features
        "deepseek_v2": deepseek(),
        "axk1 deepseek_v3 glm4_moe_lite kimi_k2 youtu": deepseek(reads="rope_interleave"),
        "axk2 deepseek_v32": indexed("half"),
        "glm_moe_dsa": indexed("interleaved"),
        "mistral4": deepseek(temperature=steps_by_beta, extra=BETA, reads="rope_interleave"),
        "bailing_hybrid": deepseek(types=every(6, "linear_attention", key="layer_group_size"), reads=TYPES),
        "longcat_flash": deepseek(
            depth=("num_layers",),
            two_attentions=True,
            ignored_keys="attention_method mla_scale_kv_lora mla_scale_q_lora zero_expert_type",
        ),
        "minicpm3": deepseek(layout="half"),
        # both directions
        "esmc eurobert gte jina_embeddings_v3 nomic_bert": encoder(),
        "roformer": encoder("interleaved"),
        "modernbert": encoder(
            types=every(3, at=0, key="global_attn_every_n_layers"), width=half_of_local, reads=TYPES
        ),
        # one window for all layers; which keys Doge keeps hangs on the text, and Moshi's code uses no window
        "mistral mixtral voxtral_realtime_text": windowed(),
        "starcoder2": windowed(ignored_keys="mlp_type"),
        "phimoe": windowed(
            extra=frozenset({"long_mscale", "short_mscale"}),
            reads="original_max_position_embeddings sliding_window",
        ),
        "ministral3": windowed(temperature=steps_by_beta, extra=BETA),
        "phi3 phi3_v phi4_multimodal": windowed(
            reads="original_max_position_embeddings sliding_window", ignored_keys="full_attn_mod interpolate_factor"
        ),
        "qwen3_moe": windowed(ignored_keys="max_window_layers", reads="sliding_window use_sliding_window"),
        "doge": Turning(ignored_keys="keep_window_size", reads="sliding_window"),
        "moshi": Turning(ignored_keys="sliding_window", reads="sliding_window"),
        # layers that differ
        "qwen2 qwen3": qwen(),
        "qwen2_moe": qwen(types=early_windows),
        "dots1": qwen(reads=BOTH),
        "ministral": layered(types=alike("sliding_attention")),
        "gemma2": layered(types=every(2), ignored_keys="sliding_window_size"),
        "gemma3_text": layered(
            types=every(6, key="sliding_window_pattern"),
            width=half_without_a_causal_mask,
            reads=f"{BOTH} use_bidirectional_attention",
        ),
        "gemma3n_text": layered(types=every(5)),
        "gemma4_text gemma4_unified_text": layered(
            types=every(6, ends=(-1,)),
            full_dim=("global_head_dim", 512),
            reads=f"{BOTH} global_head_dim per_layer_config",
        ),
        "modernbert-decoder": layered(
            types=every(3, at=0, key="global_attn_every_n_layers"), width=of_the_decoder
        ),
        "olmo3": layered(types=every(4)),
        "olmo_hybrid": Turning(types=every(4, "linear_attention"), baseless=True, reads=TYPES),
        "afmoe": layered(nope_layer_types=FULL, types=every(4, key="global_attn_every_n_layers")),
        "cohere2": layered(
            "interleaved", nope_layer_types=FULL, types=every(4, key="sliding_window_pattern")
        ),
        "exaone4 exaone_moe": layered(
            nope_layer_types=FULL,
            nope_beside_windows=True,
            types=every(4, key="sliding_window_pattern"),
            ignored_keys="is_moe_layer",
        ),
        "kolibri1": layered(nope_layer_types=FULL, nope_beside_windows=True, types=every(5)),
        "muse_glimmer_text muse_spark_text": layered(
            types=every_fourth_from_the_last,
            turns=but_every_fourth_from_the_last,
            ignored_keys="moe_hidden_size output_multiplier post_norm_eps qk_scale_factor residual_gate_temperature",
            reads=f"{BOTH} layer_rope_theta",
        ),
        "cwm": layered(types=every(4, at=0)),
        "minimax": layered(types=every(2, "linear_attention", at=0), windowed_types=FULL),
        "vaultgemma": layered(types=every(2)),
        "flint": layered(nope_layer_types=FULL, types=every(4, at=1, ends=(0, -1)), sinks=FULL | SLIDING),
        "granite_swa granitemoe_swa": layered(
            types=every(4, at=0), sinks=FULL | SLIDING, reads=f"{BOTH} layer_rope_theta"
        ),
        "cohere_compass_text laguna mellum": layered(),
        "zaya": layered(types=alike("hybrid")),
        "lfm3": layered(types=convolutions_between),
        "mimo_v2_flash": layered(
            types=every(6, ends=(0,)),
            sinks=SLIDING,
            width=counted_without_itself,
            ignored_keys=OF_WINDOWS,
            reads=f"{BOTH} attention_chunk_size",
        ),
        "gpt_oss": layered(types=every(2), sinks=FULL | SLIDING),
        "step3p5": layered(
            types=alike("full_attention"),
            rope=by_lists,
            ignored_keys="moe_router_scaling_factor num_sliding_attention_heads share_expert_dim use_moe_router_bias yarn_only_types",
        ),
        "beam": layered(temperature=power_where_nothing_turns, types=every(6, ends=(-1,))),
        "llama4_text": Turning(
            "interleaved",
            types=chunks_where_it_turns,
            temperature=steps_where_nothing_turns,
            counts=True,
            reads=f"{TYPES} attention_chunk_size no_rope_layer_interval no_rope_layers",
        ),
        # a recurrence or a convolution in some layers
        "bamba": Turning(types=listed_attention),
        "granitemoehybrid": Turning(
            types=alike("linear_attention"), gate=("position_embedding_type", "rope"), reads=TYPES
        ),
        "lfm2": Turning(types=named_attention, ignored_keys=CONVOLUTIONS, reads=TYPES),
        "qwen3_next": Turning(types=beside_recurrence, reads=TYPES),
        "recurrent_gemma": Turning(
            types=blocks_in_turn, width=attention_window
        ),
        "zamba2": Turning(
            types=of_54_layers,
            dim=("attention_head_dim",),
            wide=2,
            gate=("use_mem_rope", True),
            reads="layers_block_type",
        ),
    }
)
# Attention has no positions; the layers between have a recurrence.
SILENT = by_name(
    {
        "falcon_mamba mamba mamba2": silent(types=alike("recurrent")),
        "rwkv": silent(types=alike("recurrent"), ignored_keys="context_length"),
        "xlstm": silent(types=alike("recurrent"), ignored_keys="chunkwise_kernel max_inference_chunksize"),
        "jamba": silent(types=in_a_period),
        "kimi_linear": silent(  # it does not turn, nor does Kimi K3, whose text it is: vllm/models/kimi_k3, 0.33
            types=by_groups,
            reads=TYPES,
            ignored_keys="""activation_situ_beta activation_situ_linear_beta attn_res_block_size latent_moe_use_norm
            mla_use_nope mla_use_output_gate moe_router_activation_func qk_rope_head_dim routed_expert_hidden_size
            use_grouped_topk""",
        ),
        "nemotron_h": silent(
            types=by_letters,
            listed=True,
            ignored_keys="sliding_window",
            reads="layers_block_type sliding_window",
        ),
        "zamba": silent(
            types=third_and_in_a_period, ignored_keys="attn_layer_period attn_layer_offset", reads="layers_block_type"
        ),
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
        "mpnet": roberta(bias=fixed_buckets),
        "clip_text_model git": gpt(),
        "biogpt opt": gpt(before=2),
        "ctrl": gpt(clocks=HALVES, **GPT2),
        "gpt-sw3 gpt2 gpt_bigcode imagegpt openai-gpt": gpt(**GPT2),
        "gpt_neo": gpt(depth=("num_layers",), windows=windows_in_turn, ignored_keys="attention_layers"),
        "xglm": gpt(before=2, clocks=ENDS, dim=("d_model",), depth=("num_layers",)),
        "bart mbart mvp plbart": two(before=2, encoder=one(before=2)),
        "blenderbot blenderbot-small": two(encoder=one()),
        "fsmt": two(padded=True, clocks=ENDS, encoder=one(padded=True, clocks=ENDS)),
        "kosmos_2_5_text_model kosmos_2_text_model": gpt(
            padded=True, clocks=ENDS, dim=("embed_dim",), depth=("layers",)
        ),
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
FALCON = Sloped(heads=("num_attention_heads",), depth=("num_hidden_layers",), divided=True)
BIASED = by_name(
    {
        "bloom": Sloped(heads=("n_head",), depth=("n_layer",), ignored_keys="offset_alibi"),
        "deberta": Disentangled(),
        "deberta-v2": Disentangled(logarithms=True),
        "falcon": Chosen(
            "alibi",
            {True: FALCON, False: Turning()},
            default=False,
            ignored_keys="rope_parameters rope_scaling rope_theta",
        ),
        "mpt": Sloped(
            heads=("n_heads",), depth=("n_layers",), within="attn_config", ignored_keys="learned_pos_emb"
        ),
        "mt5 switch_transformers t5": Bucketed(),
        "umt5": Bucketed(shared=False),
    }
)
FAMILIES = {**OWN, **COMPRESSED, **TURNING, **SILENT, **ADDED, **BIASED, **PICTURED, **WINDOWED}
READ_BY_SOME = frozenset(key for row in FAMILIES.values() for key in row.reads.split())
# Known, and refused: what they do is more than a layer of ours says.
REFUSED = by_name(
    {
        "inkling_text inkling2_text": "its bias is computed from the text",
        "glm5_next_text qwen4_exp_text": "an index of keys that are pooled chooses",
        "hunyuan_vl_text": "the two features of a pair may turn by two coordinates",
        "mistral_large4_text": "each head learns how its queries grow",
        "unlimited_ocr_text": "tokens see the whole prompt besides their window",
        "dots3_note_text hy_v4": "an index with positions of its own chooses the keys",
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
        "fnet": "it has no attention, and its transform has no positions",
        "gemma4_assistant": "it reads the keys of another model",
        "hrm_text": "its layers are run over and over",
        "neomme": "its tokens have positions on two axes",
        "deepseek_vl_v2": "its text stands in language_config, with or without latent keys",
        "perceiver": "its queries are learned",
        "phi3small": "in half of its layers a token sees blocks of keys, near ones and some of those before",
        "prophetnet": "it predicts several tokens at once, each with buckets of its own",
        "reformer": "its table is a product of two, and its keys are chosen by a hash",
        "vjepa2": "its map of queries and keys is no rotation",
        "yuan": "filters mix a token with those before it, and its queries and keys are made of that",
    }
)
