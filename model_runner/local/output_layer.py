"""Runs the model's output layer by itself, with its soft-caps, scales and biases, and no family-specific code."""

from __future__ import annotations

from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from model_runner.local.recording.model_inspection import Backbone
from model_runner.local.recording.residual_stream import standing_in


def output_logits(
    model: Any, backbone: Backbone, hidden: Float[Tensor, "batch tokens d_model"], **more: Any
) -> Float[Tensor, "batch tokens vocab"]:
    """Run the model's forward without its backbone, in float32; ``hidden`` replaces what the backbone would return.

    ``more`` holds further arguments of the forward.
    """
    said = backbone.output(last_hidden_state=hidden)
    with torch.no_grad(), standing_in([backbone.module], lambda *_: lambda *_, **__: said):
        tokens = torch.zeros(hidden.shape[:2], dtype=torch.long, device=hidden.device)
        return model(input_ids=tokens, use_cache=False, return_dict=True, **more).logits.float()
