"""Builds a random model of any type that transformers knows, as small as its configuration allows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from transformers import AutoConfig
from transformers.models.auto import modeling_auto as auto

from model_runner.errors import NotCapturable
from model_runner.local.loading.class_of_family import LISTENS, class_of
from model_runner.local.loading.known_families import NEEDS
from scripts.families.own_sizes import HEADS, LAYERS, LONGEST, OWN, VOCAB, WIDTH

LARGEST = 30e6  # the most parameters of a model that is tried
SIZES: dict[str, int] = {
    **dict.fromkeys(("hidden_size", "d_model", "n_embd", "dim", "embed_dim", "word_embed_proj_dim"), WIDTH),
    **dict.fromkeys(("emb_dim", "entity_emb_size"), WIDTH),
    **dict.fromkeys(("embedding_size", "d_inner", "encoder_hidden_size", "cross_attention_hidden_size"), WIDTH),
    **dict.fromkeys(("intermediate_size", "ffn_dim", "encoder_ffn_dim", "decoder_ffn_dim", "d_ff", "n_inner"), 48),
    **dict.fromkeys(("ffn_hidden_size", "hidden_dim", "dense_intermediate_size", "intermediate_size_mlp"), 48),
    **dict.fromkeys(("num_hidden_layers", "n_layer", "n_layers", "num_layers", "num_decoder_layers"), LAYERS),
    **dict.fromkeys(("encoder_layers", "decoder_layers", "num_encoder_layers"), LAYERS),
    **dict.fromkeys(("num_attention_heads", "n_head", "n_heads", "num_heads", "encoder_attention_heads"), HEADS),
    **dict.fromkeys(("decoder_attention_heads", "num_encoder_attention_heads", "num_decoder_attention_heads"), HEADS),
    **dict.fromkeys(("num_key_value_heads", "num_kv_heads", "multi_query_group_num"), 2),
    **dict.fromkeys(("head_dim", "d_kv", "attention_head_size", "kv_channels", "global_head_dim"), WIDTH // HEADS),
    **dict.fromkeys(("num_local_experts", "num_experts", "n_routed_experts", "moe_num_experts"), 4),
    **dict.fromkeys(("num_experts_per_tok", "moe_k", "top_k_experts", "moe_topk"), 2),
    **dict.fromkeys(("moe_intermediate_size", "shared_expert_intermediate_size", "expert_ffn_hidden_size"), 16),
    **dict.fromkeys(("q_lora_rank", "kv_lora_rank", "index_head_dim"), 16),
    **dict.fromkeys(("qk_rope_head_dim", "qk_nope_head_dim"), 4),
    **dict.fromkeys(("n_group", "topk_group", "n_shared_experts", "num_shared_experts"), 1),
    **dict.fromkeys(
        ("vocab_size", "decoder_vocab_size", "vocab_size_per_layer_input", "n_words", "entity_vocab_size"), VOCAB
    ),
    **dict.fromkeys(("max_position_embeddings", "n_positions", "max_seq_len", "max_sequence_length"), LONGEST),
    "qk_head_dim": 8,
    "v_head_dim": 8,
    "sliding_window": 8,
    "index_n_heads": 2,
    "index_topk": 8,
    "hidden_size_per_layer_input": 8,
    "num_kv_shared_layers": 0,
    "image_size": 16,
    "patch_size": 8,
}
TOKENS = {"bos_token_id": 256, "eos_token_id": 257, "pad_token_id": 258, "decoder_start_token_id": 256}
MAPPINGS: dict[str, tuple[Any, Any]] = {
    "causal": (auto.AutoModelForCausalLM, auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES),
    "masked": (auto.AutoModelForMaskedLM, auto.MODEL_FOR_MASKED_LM_MAPPING_NAMES),
    "sequence-to-sequence": (auto.AutoModelForSeq2SeqLM, auto.MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES),
    "sound-to-text": (auto.AutoModelForSpeechSeq2Seq, LISTENS),
}


def families() -> list[tuple[str, str]]:
    """(mapping, model type) of all language models that transformers maps, each type once, loaded as in the app.

    A type that the app refuses by its name is under the last mapping that has it.
    """
    types = {family: mapping for mapping in MAPPINGS for family in MAPPINGS[mapping][1]}
    return sorted((_read_as(family) or mapping, family) for family, mapping in types.items())


def _read_as(family: str) -> str | None:
    try:
        chosen = class_of(family, {"model_type": family})
    except NotCapturable:
        return None
    return next(mapping for mapping, (auto_class, _) in MAPPINGS.items() if auto_class is chosen)


def small_model(mapping: str, family: str, own: Mapping[str, Any] | None = None, **options: Any) -> Any:
    """The model in evaluation mode, with the same weights at every call.

    ``own`` are further settings, ``options`` transformers' own. Raises whatever the family's own code does.
    """
    sizes = _merged(_sizes(AutoConfig.for_model(family)), OWN.get(family, {}))
    config: Any = AutoConfig.for_model(family, **_merged(sizes, own or {}))
    if mapping in ("sequence-to-sequence", "sound-to-text"):
        config.decoder_start_token_id = TOKENS["bos_token_id"]
    with torch.device("meta"):
        count = sum(parameter.numel() for parameter in MAPPINGS[mapping][0].from_config(config).parameters())
    if count > LARGEST and family not in NEEDS:
        raise NotImplementedError(f"its smallest model of these sizes has {count / 1e6:.0f} million parameters")
    torch.manual_seed(0)
    model: Any = MAPPINGS[mapping][0].from_config(config, dtype=torch.float32, **options)
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        # transformers' own initialization gives nearly uniform attention
        for name, parameter in model.named_parameters():
            noise = torch.randn(parameter.shape, generator=generator)
            if parameter.dim() < 2 or "norm" in name.lower():
                parameter.add_(0.2 * noise)
            else:
                parameter.copy_(1.3 * noise * WIDTH**-0.5)
    model.tie_weights()
    return model.eval()


def _merged(sizes: dict[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    """Merge settings, of nested configurations too; the family's ``own`` take precedence."""
    inner = {name: value for name, value in own.items() if isinstance(value, dict) and name in sizes}
    return {**sizes, **own, **{name: _merged(sizes[name], value) for name, value in inner.items()}}


def _sizes(config: Any) -> dict[str, Any]:
    """The sizes that this configuration has, made smaller, including those of a nested configuration."""
    found: dict[str, Any] = {}
    for name, value in config.to_dict().items():
        inner = vars(config).get(name)
        if hasattr(inner, "to_dict"):
            found[name] = _sizes(inner)
        elif name in TOKENS:
            found[name] = TOKENS[name]
        elif name in SIZES and isinstance(value, int) and not isinstance(value, bool):
            found[name] = min(SIZES[name], value) if value > 0 else value
    if "kv_lora_rank" in found and "num_key_value_heads" in found:  # latent attention does not share heads
        found |= {"num_key_value_heads": HEADS, "head_dim": found["qk_rope_head_dim"]}
    return found
