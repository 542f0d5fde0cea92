"""The model's own output layer by itself: soft-caps, scales and biases included, without a line of code of a family."""

from __future__ import annotations

from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from model_runner.local.anatomy import Trunk


def output_logits(
    model: Any, trunk: Trunk, hidden: Float[Tensor, "batch tokens d_model"], **more: Any
) -> Float[Tensor, "batch tokens vocab"]:
    """The model's forward without its trunk, float32: ``hidden`` stands in for what the trunk would return.

    ``more`` is what else the forward is given.
    """
    trunk.module.forward = lambda *_, **__: trunk.output(last_hidden_state=hidden)
    try:
        with torch.no_grad():
            tokens = torch.zeros(hidden.shape[:2], dtype=torch.long, device=hidden.device)
            return model(input_ids=tokens, use_cache=False, return_dict=True, **more).logits.float()
    finally:
        del trunk.module.forward  # the class's own forward again
