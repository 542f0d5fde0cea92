"""Tiny models whose layers multiply the residual stream by their own number, like Gemma 4."""

from __future__ import annotations

import types
from typing import Any

from transformers import PreTrainedModel

from tests.model_runner.tiny import tiny

SCALES = (0.5, 0.8, 1.5)  # of each layer: what leaves it is so many times entering + attention + FFN


def scaled_gemma4() -> PreTrainedModel:
    """Norms stand between its parts and the sum; the number is a buffer of its checkpoint, 1 in a new model."""
    model: Any = tiny(
        "gemma4_text", head_dim=16, global_head_dim=16, num_key_value_heads=2, hidden_size_per_layer_input=0,
        num_kv_shared_layers=0, layer_types=["sliding_attention", "full_attention", "full_attention"],
    )()  # fmt: skip  # its sizes in two lines
    for layer, scale in zip(model.model.layers, SCALES, strict=True):
        layer.layer_scalar.fill_(scale)
    return model


def scaled_llama() -> PreTrainedModel:
    """The same of a family whose parts are added as they are, so that each can be followed to the logits."""
    model: Any = tiny("llama", num_key_value_heads=2)()
    for layer, scale in zip(model.model.layers, SCALES, strict=True):
        layer.forward = types.MethodType(_times(scale, type(layer).forward), layer)
    return model


def _times(scale: float, forward: Any) -> Any:
    return lambda layer, *args, **kwargs: scale * forward(layer, *args, **kwargs)
