"""Tiny random classifiers of many families, and the tokenizer that ends every text as BART and T5 expect it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tokenizers.processors import TemplateProcessing
from transformers import AutoModelForSequenceClassification, PreTrainedModel, PreTrainedTokenizerFast

from tests.model_runner.tiny import EOS, N_HEADS, PAD, byte_tokenizer, tiny

BART = {
    "encoder_layers": 2,
    "decoder_layers": 2,
    "encoder_attention_heads": 4,
    "decoder_attention_heads": 4,
    "d_model": 32,
    "encoder_ffn_dim": 48,
    "decoder_ffn_dim": 48,
    "decoder_start_token_id": EOS,
}
T5 = {"d_kv": 8, "d_ff": 48, "num_layers": 2, "num_heads": 4, "d_model": 32, "decoder_start_token_id": PAD}
LLAMA = {"num_key_value_heads": 2}
QWEN = {"num_key_value_heads": N_HEADS}

ONE_STACK: dict[str, dict[str, Any]] = {
    "bert": {},  # its head reads what a pooler inside the backbone made
    "roberta": {},  # a head of two matrices on the first token
    "distilbert": {},
    "electra": {},
    "modernbert": {"cls_token_id": None, "sep_token_id": None},
    "mpnet": {},
    "gpt2": {},  # one matrix on the last token
    "llama": LLAMA,
    "qwen2": QWEN,
    "gemma2": {"head_dim": 8, "num_key_value_heads": 2},
    "opt": {},
    "gpt_neox": {},
    "bloom": {},
}
TWO_STACKS: dict[str, dict[str, Any]] = {"bart": BART, "mbart": BART, "plbart": BART, "mvp": BART, "t5": T5}


def classifier(family: str, **config: Any) -> Callable[[], PreTrainedModel]:
    """A builder of a random classifier of three classes, the same at every call."""
    own = (ONE_STACK | TWO_STACKS)[family]
    return tiny(family, AutoModelForSequenceClassification, **({"num_labels": 3} | own | config))


def ending_tokenizer() -> PreTrainedTokenizerFast:
    """Bytes, with the end token behind every text."""
    tokenizer = byte_tokenizer()
    tokenizer.backend_tokenizer.post_processor = TemplateProcessing(
        single="$A <eos>", pair="$A <eos> $B <eos>", special_tokens=[("<eos>", EOS)]
    )
    return tokenizer
