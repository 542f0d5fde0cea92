"""Settings that a family needs besides :data:`scripts.families.small.SIZES`, so that its sizes fit together.

Most are sizes without a default, or sizes that must divide, or follow from, another one; for a hybrid, they tell which
layers attend.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

WIDTH, HEADS, LAYERS, VOCAB, LONGEST = 32, 4, 4, 264, 512
SHORT, LONG = "The quick brown fox", "The quick brown fox jumps over the lazy dog, and then it sleeps."
MAMBA = {"mamba_n_heads": 8, "mamba_d_head": 8, "mamba_expand": 2}
HYBRID = {"layer_types": ["linear_attention", "full_attention"] * (LAYERS // 2)}
EXPERTS = {"n_routed_experts": 4, "n_shared_experts": 1, "num_experts_per_tok": 2}
SLIDING = {"layer_types": ["sliding_attention", "full_attention"] * (LAYERS // 2)}
TURNED = {kind: {"rope_type": "default", "rope_theta": 1e4} for kind in ("sliding_attention", "full_attention")}
LINEAR = {"linear_head_dim": 8, "linear_num_heads": 4}
INDEXER = {
    "indexer_n_heads": 2,
    "indexer_kv_heads": 1,
    "indexer_head_dim": 8,
    "indexer_budget": 8,
    "indexer_compress_ratio": 2,
    "hc_lowrank": 8,
    "linear_key_head_dim": 8,
    "linear_value_head_dim": 8,
    "linear_num_key_heads": 4,
    "linear_num_value_heads": 4,
}
HASHED = {"patch_size": 4, "encoder_hash_byte_group_vocab": 50, "encoder_hash_byte_group_size": [3]}
LATENT = {"d_latents": WIDTH, "num_latents": 16, "num_self_attends_per_block": LAYERS}
SOUND = {"num_filters": 2, "downsampling_ratios": [2, 2], "depths": [1, 1, 1], "hidden_size": 8}
PICTURES = {
    "adapter_in_dim": WIDTH,
    "adapter_out_dim": WIDTH,
    "mlp_layer_types": ["dense"] * LAYERS,
    "per_layer_config": None,
}
NOTED = {
    "layer_types": ["indexed_attention", "sliding_attention"] * (LAYERS // 2),
    "shared_experts_intermediate_size": 16,
    "mlp_layer_types": ["dense"] + ["sparse"] * (LAYERS - 1),
    "swa_num_attention_heads": HEADS,
    "swa_num_key_value_heads": HEADS,
    "swa_q_lora_rank": 16,
    "swa_kv_lora_rank": 16,
    "swa_head_dim": 8,
    "swa_qk_nope_head_dim": 4,
    "swa_v_head_dim": 8,
}
LOOKS_ACROSS = {"is_decoder": True, "add_cross_attention": True}
BLOCKS = {"compressed_sparse": 4, "heavily_compressed": 8}  # tokens of a compressed key, fewer than a text has
OWN: dict[str, dict[str, Any]] = {
    **{family: {"head_dim": WIDTH // HEADS} for family in ("hunyuan_v1_dense", "hunyuan_v1_moe", "ministral")},
    "granitemoehybrid": {**MAMBA, **HYBRID},
    "bamba": {**MAMBA, "attn_layer_indices": [1]},
    "nemotron": {"num_key_value_heads": 2},
    "esm": {"vocab_size": VOCAB, "mask_token_id": 5, "pad_token_id": 258},
    "esmc": {"num_key_value_heads": HEADS},
    "gpt_neo": {"attention_types": [[["global", "local"], LAYERS // 2]]},
    **{family: {"rotary_dim": 4} for family in ("gptj", "codegen")},
    **{family: {"attention_window": [8] * LAYERS} for family in ("longformer", "led")},
    "jamba": {"attn_layer_period": 2, "attn_layer_offset": 1, "mamba_dt_rank": 4},
    "mamba2": {"num_heads": 8, "head_dim": 8, "expand": 2},
    "deepseek_v2": {**EXPERTS, "topk_method": "greedy"},
    "deepseek_v4": {
        "compress_rates": {"compressed_sparse_attention": 4, "heavily_compressed_attention": 8},
        "index_topk": 2,
    },
    "dots1": EXPERTS,
    "dbrx": {"attn_config": {"kv_n_heads": 2, "rope_theta": 1e4, "clip_qkv": 8}},
    "lfm2_moe": {"layer_types": ["conv", "full_attention"] * (LAYERS // 2)},
    "qwen4_exp_text": INDEXER,
    "qwen4_exp": {"text_config": INDEXER},
    "cohere_compass_text": {**SLIDING, "rope_parameters": TURNED},
    "dots3_note_text": NOTED,
    "dots3_note": {
        "text_config": NOTED,
        "vision_config": PICTURES,
        "audio_config": {"adapter_input_size": WIDTH, "adapter_out_dim": WIDTH, "downsample_hidden_size": 8},
    },
    "neomme": {"head_dim": 16, "num_key_value_heads": 2, **SLIDING},
    "kimi_linear": {**HYBRID, **LINEAR, "num_experts_per_token": 2},
    "bailing_hybrid": {**HYBRID, **LINEAR, "num_experts_per_token": 2, "num_expert_group": 2, "topk_group": 1},
    "blt": {**HASHED, **{f"{part}_config": {"hidden_size_global": WIDTH} for part in ("encoder", "decoder")}},
    "musicflamingo": {"audio_config": {"model_type": "audioflamingo3_encoder"}},
    "nemo_speechlm": {
        "audio_config": {"diarization_config": {"head_config": {"audio_hidden_size": WIDTH}}},
        "word_timestamp_config": {"blank_token_id": VOCAB - 1},
    },
    "perceiver": LATENT,
    "vibevoice_asr": {
        "semantic_tokenizer_encoder_config": SOUND,
        "acoustic_tokenizer_encoder_config": SOUND,
    },
    "zamba": {"layers_block_type": ["mamba", "hybrid"] * (LAYERS // 2), "attention_head_dim": 16},
    "zamba2": {"layers_block_type": ["mamba", "hybrid"] * (LAYERS // 2), "mamba_ngroups": 1},
    "reformer": {"axial_pos_embds_dim": [16, 16], "axial_pos_shape": [16, 32]},
    "xmod": {"default_language": "en_XX"},
    "encoder-decoder": {"decoder": LOOKS_ACROSS},
    "t5gemma2": {"encoder": {"text_config": SLIDING}, "decoder": SLIDING},
}


@dataclass(frozen=True)
class Form:
    """A form of a family that behaves differently from its row, with these settings and this text."""

    name: str
    family: str
    own: dict[str, Any]
    text: str = SHORT
    # the settings of a configuration for which this holds
    where: dict[str, Any] = field(default_factory=dict[str, Any])
    mapping: str = ""  # the mapping that loads it; empty: that of its row


RELATIVE: dict[str, Any] = {"relative_attention": True, "pos_att_type": ["c2p", "p2c"]}
PUBLISHED = {"relative_attention": True}
HASHED_TEXT: dict[str, Any] = {
    "lsh_attn_chunk_length": 4,
    "local_attn_chunk_length": 4,
    "num_buckets": 8,
    "hash_seed": 0,
}
GLOBAL = {"encoder_attention_type": "transient-global"}
FORMS = (
    Form("deberta with relative attention, as it is published", "deberta", RELATIVE, where=PUBLISHED),
    Form("deberta-v2 with relative attention, as it is published", "deberta-v2", RELATIVE, where=PUBLISHED),
    *(
        Form(f"{family}, a text long enough for its blocks", family, {"block_size": 4, "num_random_blocks": 1}, LONG)
        for family in ("big_bird", "bigbird_pegasus")
    ),
    Form("pegasus_x, a text of several blocks", "pegasus_x", {"block_size": 8, "num_global_tokens": 3}, LONG),
    Form("reformer, a text long enough to be hashed", "reformer", HASHED_TEXT, LONG),
    Form("longt5, a text longer than what its tokens see", "longt5", {"local_radius": 5}, LONG),
    Form("longt5 with transient global tokens", "longt5", GLOBAL, where=GLOBAL),
    Form("whisper, its decoder alone", "whisper", {}, mapping="causal"),
    Form(
        "encoder-decoder of BERT and a wider GPT-2",
        "encoder-decoder",
        {"decoder": {**LOOKS_ACROSS, "model_type": "gpt2", "n_embd": 48, "n_head": 6, "n_layer": 2}},
    ),
    Form("albert without shared layers", "albert", {"num_hidden_groups": LAYERS}),
    Form("dots3_note_text without its choice of keys", "dots3_note_text", {"use_dsa": False}),
)
OTHERWISE: dict[str, dict[str, Any]] = {  # settings with which a refused family might not be refused
    "doge": {"keep_window_size": 4},
    "funnel": {"block_sizes": [LAYERS]},
    "mra": {"block_per_row": 2},
    "prophetnet": {"ngram": 1},
    "xlnet": {"attn_type": "uni"},
    "yoso": {"use_expectation": True},
}
