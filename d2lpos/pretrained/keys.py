"""Keys of configurations, for those who read them: which say nothing of positions, and what values can be."""

from collections.abc import Mapping

# Read through, one by one: the keys of the configuration classes of transformers 5.23 for the families that are read,
# what transformers 4 wrote into every file, and what released files have besides. Sizes stand here, too: where one
# counts for positions, its family asks for it by name. A key that is not here, and that no family asks for, is refused,
# because a new one may speak of position by any word.
SILENT = """
__version__ _attn_implementation _attn_implementation_autoset _commit_hash _from_model_config _name_or_path
_num_mtp_layers _remove_final_layer_norm activation activation_dropout activation_function
activation_sparsity_pattern adapter_layer_norm adapter_rank adapter_reduction_factor adapter_reuse_layer_norm
add_bias_linear add_bias_logits add_final_layer_norm add_fpn add_out_norm add_router_probs afn
altup_active_idx altup_coef_clip altup_correct_scale altup_num_inputs apply_layernorm
apply_residual_connection_post_layernorm apply_spec_augment approx_mode architectures asm attention_bias
attention_dropout attention_head_dim attention_heads attention_hidden_size attention_in_multiplier
attention_k_eq_v attention_multiplier attention_out_bias attention_out_multiplier attention_probs_dropout_prob
attention_softmax_in_fp32 attention_value_scale attn_dropout attn_implementation attn_logit_softcapping
attn_output_gate attn_pdrop attn_type_list audio_config audio_encoder_config audio_vocab_size auto_map
autocast_kernel_dtype aux_loss_alpha aux_loss_coef auxiliary_channels auxiliary_concat_input
auxiliary_loss_weight auxiliary_num_convs bad_words_ids batch_prioritized_routing begin_suppress_tokens bias
bias_dropout_fusion block_auto_adjust_ff_dim block_ffn_dim_multiplier block_multiple_of block_per_row
block_size boi_token_index bos_index bos_token_id cache_implementation cca_time0 cca_time1 chunk_size
chunk_size_feed_forward classif_dropout classifier_activation classifier_bias classifier_dropout
classifier_dropout_prob classifier_pooling classifier_proj_size clip_qkv cls_token_id concat_input
conv1d_width conv_L_cache conv_bias conv_kernel conv_kernel_size cross_attention_hidden_size d_ff d_kv d_model
decoder_attention_heads decoder_bias decoder_ffn_dim decoder_layerdrop decoder_layers decoder_sparse_step
decoder_start_token_id decoder_vocab_size default_language dense_act_fn depth_decoder_config
deterministic_flash_attn dff dim dim_model_base directionality diversity_penalty do_layer_norm_before
do_sample down_scale_factor draft_vocab_size drop_path_rate dropout dropout_prob dropout_rate dtype
eagle_config early_stopping emb_dim emb_layer_norm_before emb_pdrop embd_layer embd_layer_norm embd_pdrop
embed_dim embed_dropout embed_init_std embedding_dim embedding_dropout embedding_fraction
embedding_initializer_range embedding_multiplier embedding_size enable_bias enable_moe_block
enable_moe_fp32_combine enable_pronunciation enable_shape encoder_attention_heads encoder_ffn_dim
encoder_layerdrop encoder_layers encoder_no_repeat_ngram_size encoder_sparse_step encoder_stride end_n_top
eod_token_id eoi_token_index eos_index eos_token_id ep_size eps esmfold_config expand expansion_ratio
expert_capacity expert_dtype expert_ffn_hidden_size expert_layer_offset expert_layer_period experts_per_token
exponential_decay_length_penalty extra_pos_embeddings fc_norm feed_forward_proj ffn_config ffn_dim
ffn_hidden_size ffn_proj_factor ffn_round_up_to_multiple_of final_logit_softcapping
final_w_init_variance_scale finetuning_task first_k_dense_replace for_llm_compressor force_dequant
forced_bos_token_id forced_decoder_ids forced_eos_token_id full_attn_alpha_factor full_attn_beta_factor
gap_size gate_soft_cap gated_norm_rank gating gelu_activation gradient_checkpointing hash_code_len hc_eps hc_mult
hc_sinkhorn_iters head_dim head_ratio hidden_act hidden_activation hidden_dim hidden_dropout
hidden_dropout_prob hidden_mamba_act hidden_size hidden_size_per_layer_input id2label image_seq_length
image_token_id image_token_index img_processor inference_runner inference_state_dtype init_config init_device
init_std initial_context_length initial_prior_diagonal_n_blocks initial_prior_first_n_blocks
initializer_cutoff_factor initializer_factor initializer_range inner_group_num input_embedding_size
input_jitter_noise interleave_moe_layer_step intermediate_groups intermediate_multiple_size intermediate_size
intermediate_size_mlp intra_bottleneck_size inv_coeff_init_option is_encoder_decoder is_folding_model
is_gated_act is_llama_config is_moe k_groups kda_lower_bound kda_safe_gate key_bias key_multiplier
key_query_shared_bottleneck kv_channels kv_lora_rank label2id lambda_std_dev lang_id langs language_model_only
languages laurel_rank layer_norm_elementwise_affine layer_norm_eps layer_norm_epsilon layer_scale_init_value
layerdrop layernorm_embedding layerscale_value legacy length_penalty linear_a_log_max linear_a_log_min
linear_allow_neg_eigval linear_attn_alpha_factor linear_attn_beta_factor linear_conv_kernel_dim
linear_dt_init_floor linear_dt_max linear_dt_min linear_head_dim linear_key_head_dim linear_num_heads
linear_num_key_heads linear_num_value_heads linear_value_head_dim lm_head_bias lm_head_multiplier
ln_before_adapter logit_scale logits_scaling logits_soft_cap lru_width lsh_backward mamba_chunk_size
mamba_conv_bias mamba_d_conv mamba_d_head mamba_d_ssm mamba_d_state mamba_dt_rank mamba_expand mamba_head_dim
mamba_headdim mamba_hidden_act mamba_n_groups mamba_n_heads mamba_ngroups mamba_norm_before_gate
mamba_num_heads mamba_proj_bias mamba_rms_norm mamba_ssm_cache_dtype mamba_ssm_dtype mask_feature_length
mask_feature_min_masks mask_feature_prob mask_index mask_time_length mask_time_min_masks mask_time_prob
mask_token_id masked_softmax_fusion max_length max_position_embeddings max_seq_len max_sequence_length
max_source_positions max_target_positions median_filter_width min_length mixer_rms_eps mlp_alpha_factor
mlp_beta_factor mlp_bias mlp_dim mlp_dropout mlp_hidden_act mlp_layer_types mlp_multipliers mlp_only_layers
mlp_ratio mm_tokens_per_image mode model_max_length model_type moe_apply_router_weight_on_input
moe_eval_capacity_token_fraction moe_intermediate_size moe_k moe_latent_size moe_layer_end_index
moe_layer_freq moe_layer_interval moe_layer_start_index moe_layers moe_norm_min moe_num_experts
moe_num_shared_experts moe_renormalize moe_routed_scaling_factor moe_router_dtype moe_router_logit_softcapping
moe_shared_expert_intermediate_size moe_shared_expert_overlap moe_token_dropout moe_topk mtp_layer_types
mtp_layers_block_type mtp_loss_scaling_factor mtp_mlp_layer_types mtp_num_hidden_layers mtp_share_layers
mtp_transformer_layers mtp_use_dedicated_embeddings multi_query mup_enabled n_ctx n_embd n_group n_groups
n_head n_heads n_inner n_langs n_layer n_layers n_mamba_heads n_positions n_routed_experts n_shared_experts
n_special net_structure_type new_decoder_architecture no_bias no_repeat_ngram_size nope_layer_interval
norm_bias norm_eps norm_epsilon norm_output norm_reduction_force_float32 norm_topk_prob norm_type
normalization_type normalize_before normalize_embedding normalize_router_prob_before_dropping
num_attention_heads num_attention_heads_per_layer num_beam_groups num_beams num_blocks num_channels
num_codebooks num_decoder_layers num_dense_layers num_expert_group num_experts num_experts_per_tok
num_experts_per_token num_feedforward_networks num_global_key_value_heads num_groups num_hash num_hash_layers
num_heads num_hidden_groups num_hidden_layers num_image_with_embedding num_key_value_heads num_kv_heads
num_kv_shared_layers num_landmarks num_layers num_ln_in_parallel_attn num_local_experts num_logits_to_keep
num_mel_bins num_mem_blocks num_memory_blocks num_mtp_layers num_mtp_modules num_nextn_predict_layers
num_query_groups num_return_sequences num_shared_experts num_sparse_decoder_layers num_sparse_encoder_layers
o_groups o_lora_rank out_features out_indices output_attentions output_channels output_embedding_size
output_gate_type output_groups output_hidden_states output_logit_soft_cap output_past output_router_logits
output_scores pad_index pad_key_length pad_token_id padding_idx parallel_attn path_norm pool_scales pooler_act
pooler_dropout pooler_fc_size pooler_hidden_act pooler_hidden_size pooler_num_attention_heads
pooler_num_fc_layers pooler_output_size pooler_size_per_head pooler_type pooling post_attention_groups
pre_allocate_kv_cache pre_norm predict_special_tokens prefix pretraining_tp problem_type proj_bias
projection_dim projection_size projectors_bias prompt_length prompt_mid_dim pronunciation_embed_dim
pronunciation_vocab_size pruned_heads q_groups q_lora_rank qa_dropout qk_dim_factor qk_head_dim qk_layernorm
qk_nope_head_dim qk_norm_type qkv_bias quant_mode quantization_config query_bias query_pre_attn_scalar
question_token_id reference_compile remove_invalid_values reorder_and_upcast_attn repad_logits_with_grad
repetition_penalty rescale_every rescale_prenorm_residual reshape_hidden_states resid_dropout resid_pdrop
residual_block_indices residual_dropout residual_in_fp32 residual_multiplier return_dict
return_dict_in_generate return_last_states reward_token_id rms_norm_eps route_scale routed_scaling_factor
router_aux_loss_coef router_bias router_dtype router_hidden_size router_ignore_padding_tokens
router_jitter_noise router_scaling_factor router_z_loss_coef scale_attention_softmax_in_fp32
scale_attn_by_inverse_layer_idx scale_attn_weights scale_decoder_outputs scale_depth scale_emb scale_embedding
scoring_func second_expert_policy segment_means_seq_len semantic_loss_ignore_index sep_token_id seq_aux
seq_classif_dropout seq_length sequence_kernel shape_embed_dim shape_vocab_size
share_encoder_decoder_embeddings shared_expert_intermediate_size shared_intermediate_size
short_conv_kernel_size skip_bias_add skip_bias_add_qkv slow_but_exact sparse_pred_ignore_index
sparse_prediction src_vocab_size ssm_in_multiplier ssm_multipliers ssm_out_multiplier ssm_state_size
stage_names start_n_top state_size step_kernel summary_activation summary_first_dropout summary_last_dropout
summary_proj_to_labels summary_type summary_use_proj suppress_tokens swiglu_alpha swiglu_limit
target_model_type task_specific_params task_type_vocab_size temperature tf_legacy_loss tgt_vocab_size
tie_encoder_decoder tie_weights_ tie_word_embeddings time_step_floor time_step_init_scheme time_step_limit
time_step_max time_step_min time_step_rank time_step_scale token_dropout tokenizer_class
tokenizer_model_max_length tokenizer_name tokenizer_padding_side top_k top_k_experts top_p topk_group
topk_method torch_dtype torchscript transformers.js_config transformers_version trigram_input true_hidden_size
type_vocab_size typical_p unk_index unk_token_id unsloth_fixed unsloth_version use_associative_scan
use_attention_gate use_auxiliary_head use_bfloat16 use_bias use_bottleneck use_bottleneck_attention use_cache
use_conv_bias use_double_wide_mlp use_expectation use_expert_bias use_fast_hash use_flash_attn use_gated_mlp
use_lang_emb use_mamba_kernels use_mambapy use_mask_token use_mean_pooling use_mem_eff_path use_mtp
use_parallel_residual use_post_norm use_prompt use_qk_norm use_qkv_bias use_routing_bias use_sandwich_norm
use_shared_attention_adapter use_swiglu_ffn use_task_id use_weighted_layer_sum v_dim_factor v_groups
v_head_dim validate_runner_input value_bias verbose video_token_id vision_config vision_end_token_id
vision_start_token_id vision_token_id vision_use_head vocab_list vocab_size vocab_size_per_layer_input
w_init_variance_scale weight_mode word_embed_proj_dim z_loss_coefficient zero_expert_num
"""
# Where these are False, they say that something is not there which no model has unless they are True.
NO = """
add_cross_attention alibi attn_temperature_tuning causal is_decoder relative_attention rope_interleaved rotary_value
sinusoidal_embeddings sinusoidal_pos_embds static_position_embeddings use_bidirectional_attention use_long_context
use_mem_rope use_mrope use_rel_pos use_relative_position_bias use_shared_relative_position_bias use_sliding_window
"""
SILENT_KEYS, SAYS_NO = frozenset(SILENT.split()), frozenset(NO.split())
# Whole numbers of at least 1 in every configuration, where they are there and not null.
WHOLE_NUMBERS = """
image_size kv_lora_rank num_key_value_heads num_kv_heads patch_size v_head_dim
attention_chunk_size attention_window_size attn_layer_period d_kv d_model decoder_layers emb_dim
encoder_layers floor_scale full_attention_interval global_attn_every_n_layers global_head_dim head_dim
hidden_size index_block_size index_head_dim index_topk index_topk_blocks kv_channels layer_group_size local_attention
max_position_embeddings
max_source_positions max_target_positions n_embd n_head n_heads n_layer n_layers n_positions
no_rope_layer_interval num_attention_heads num_decoder_layers num_hidden_layers num_layers
original_max_position_embeddings qk_rope_head_dim relative_attention_max_distance
relative_attention_num_buckets rotary_dim seq_length sliding_window
"""
WHOLE = frozenset(WHOLE_NUMBERS.split())
POSITIVE_NUMBERS = """
attention_factor beta_fast beta_slow factor global_rope_theta high_freq_factor local_rope_theta long_mscale
low_freq_factor rope_local_base_freq rope_ratio rope_theta rotary_emb_base short_mscale
"""
POSITIVE = frozenset(POSITIVE_NUMBERS.split())

LISTED = """attn_layer_indices block_configs block_types compress_ratios cross_attention_layers full_attn_idxs
indexer_types layer_types layers_block_type long_factor mrope_section no_rope_layers short_factor"""
LISTS, DICTIONARIES = frozenset(LISTED.split()), frozenset({"attn_config", "compress_rates", "linear_attn_config", "per_layer_config", "sparse_attention_config"})


BY_STAGE = ("image_size", "num_attention_heads", "patch_size")  # or one for each stage or side


def check_values(values: Mapping[str, object]) -> dict[str, object]:
    """The values with whole numbers as such, 128.0 as 128; a ValueError that names one that cannot be."""
    found = dict(values)
    for key, value in values.items():
        unused = key == "sliding_window" and value == 0 and values.get("use_sliding_window") is False
        if key in WHOLE and isinstance(value, float) and value.is_integer():
            found[key] = value = int(value)
        if (
            key in WHOLE
            and not unused
            and not (value is None or type(value) is int and value >= 1 or key in BY_STAGE and isinstance(value, list | tuple))
        ):
            raise ValueError(f"{key} must be a whole number of at least 1; got {value!r}")
        number = type(value) in (int, float) and 0 < value < float("inf")
        if key in POSITIVE and not number and not isinstance(value, list | Mapping | None):
            raise ValueError(f"{key} must be a positive number; got {value!r}")
        for keys, kind in (LISTS, list | tuple), (DICTIONARIES, Mapping):
            if key in keys and not isinstance(value, kind | None):
                raise ValueError(f"{key} must be a {'list' if keys is LISTS else 'dictionary'}; got {value!r}")
        if key == "max_window_layers" and not (value is None or type(value) is int and value >= 0):
            raise ValueError(f"{key} must be a whole number of at least 0; got {value!r}")
        if key == "no_rope_layers" and value and not set(map(type, value)) <= {int, bool}:
            raise ValueError(f"{key} must be a list of 0 and 1; got {value!r}")
        if key == "partial_rotary_factor" and value is not None and not (type(value) in (int, float) and 0 <= value <= 1):
            raise ValueError(f"{key} must be a number from 0 to 1; got {value!r}")
        if key in ("rope_scaling", "rope_parameters") and isinstance(value, Mapping):
            found[key] = {
                name: check_values(one) if isinstance(one, Mapping) else one
                for name, one in check_values(value).items()
            }
    return found
