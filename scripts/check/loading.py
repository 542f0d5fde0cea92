"""Loads a trained model folder for measurements: eager attention in float32, without network access."""

from __future__ import annotations

from pathlib import Path

import torch
from transformers import AutoTokenizer, LlamaForCausalLM, PreTrainedTokenizerFast


def load(folder: Path) -> tuple[LlamaForCausalLM, PreTrainedTokenizerFast]:
    """The model in evaluation mode and its tokenizer."""
    model = LlamaForCausalLM.from_pretrained(
        folder, local_files_only=True, attn_implementation="eager", dtype=torch.float32
    )
    return model.eval(), AutoTokenizer.from_pretrained(folder, local_files_only=True)
