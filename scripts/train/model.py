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


def make_optimizers(model: LlamaForCausalLM, *, muon_lr: float, adam_lr: float) -> list[torch.optim.Optimizer]:
    """Muon for the weight matrices inside the layers, AdamW for the embedding and the norms."""
    matrices = [p for name, p in model.named_parameters() if p.ndim == 2 and "embed" not in name]
    rest = [p for name, p in model.named_parameters() if p.ndim != 2 or "embed" in name]
    optimizers: list[torch.optim.Optimizer] = [
        torch.optim.Muon(matrices, lr=muon_lr, weight_decay=0.05, momentum=0.95, adjust_lr_fn="match_rms_adamw"),
        torch.optim.AdamW(rest, lr=adam_lr, betas=(0.9, 0.98), weight_decay=0.0, fused=True),
    ]
    return optimizers


def learning_rate_factor(progress: float, *, warmup: float = 0.02, floor: float = 0.01) -> float:
    """What the learning rates are multiplied by: a linear warm-up, then a cosine down to ``floor``.

    ``progress`` runs from 0 to 1 over the whole run.
    """
    if progress < warmup:
        return (progress + 1e-3) / (warmup + 1e-3)
    phase = min(1.0, (progress - warmup) / (1 - warmup))
    return floor + (1 - floor) * 0.5 * (1 + math.cos(math.pi * phase))
