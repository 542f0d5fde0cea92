"""The untrained model and the optimizers that train it."""

from __future__ import annotations

import math

import torch
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from scripts.train.settings import Shape
from scripts.train.tokenizer import special_ids


def new_model(shape: Shape, tokenizer: PreTrainedTokenizerFast) -> LlamaForCausalLM:
    """A Llama with random weights: RoPE, grouped-query attention, SwiGLU, embedding tied with the output."""
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=shape.d_model,
        intermediate_size=shape.d_feed_forward,
        num_hidden_layers=shape.layers,
        num_attention_heads=shape.heads,
        num_key_value_heads=shape.kv_heads,
        max_position_embeddings=shape.longest_text,
        rms_norm_eps=1e-5,
        tie_word_embeddings=True,
        **special_ids(tokenizer),
    )
    model = LlamaForCausalLM(config)
    for name, weight in model.named_parameters():  # smaller residual outputs keep deep sums tame at the start
        if name.endswith(("o_proj.weight", "down_proj.weight")):
            torch.nn.init.normal_(weight, std=0.02 / math.sqrt(2 * shape.layers))
    return model


def make_optimizers(model: torch.nn.Module, *, muon_lr: float, adam_lr: float) -> list[torch.optim.Optimizer]:
    """Muon for the weight matrices inside the layers, AdamW for the embeddings and the norms."""
    tables = {p for part in model.modules() if isinstance(part, torch.nn.Embedding) for p in part.parameters()}
    matrices = [p for p in model.parameters() if p.ndim == 2 and p not in tables]
    rest = [p for p in model.parameters() if p.ndim != 2 or p in tables]
    optimizers: list[torch.optim.Optimizer] = [
        torch.optim.Muon(matrices, lr=muon_lr, weight_decay=0.05, momentum=0.95, adjust_lr_fn="match_rms_adamw"),
        torch.optim.AdamW(rest, lr=adam_lr, betas=(0.9, 0.98), weight_decay=0.0, fused=True),
    ]
    return optimizers


def learning_rate_factor(
    progress: float, *, decay_from: float = 0.0, warmup: float = 0.02, floor: float = 0.01
) -> float:
    """The factor of the learning rates: a warm-up, 1 until ``decay_from``, then a cosine down to ``floor``.

    ``progress`` runs from 0 to 1 over the whole run.
    """
    decay_from = max(decay_from, warmup)
    if progress < warmup:
        return (progress + 1e-3) / (warmup + 1e-3)
    phase = min(1.0, max(0.0, progress - decay_from) / (1 - decay_from))
    return floor + (1 - floor) * 0.5 * (1 + math.cos(math.pi * phase))
