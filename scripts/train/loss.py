"""The loss of a batch, and of held-out windows."""

from __future__ import annotations

import numpy as np
import torch
from transformers import LlamaForCausalLM

from scripts.train.data import Data

WINDOWS_AT_ONCE = 16


def loss_of(model: torch.nn.Module, batch: torch.Tensor) -> torch.Tensor:
    """Mean cross-entropy of the next token in nats; the forward runs in bfloat16, the loss in float32."""
    with torch.autocast(batch.device.type, torch.bfloat16):
        logits = model(input_ids=batch, use_cache=False).logits[:, :-1]
    return torch.nn.functional.cross_entropy(logits.flatten(0, 1).float(), batch[:, 1:].flatten())


@torch.no_grad()
def validate(model: LlamaForCausalLM, data: Data, *, windows: int, length: int) -> dict[str, float]:
    """Mean loss per part on the same held-out windows at every call, and ``mix``, weighted by the mix."""
    losses: dict[str, float] = {}
    for name, part in data.valid.items():
        rng = np.random.default_rng(0)
        values: list[float] = []
        for _ in range(max(1, windows // WINDOWS_AT_ONCE)):
            batch = np.stack([part.window(rng, length, data.bos_id) for _ in range(WINDOWS_AT_ONCE)])
            values.append(loss_of(model, torch.from_numpy(batch).to(model.device)).item())
        losses[name] = round(float(np.mean(values)), 4)
    losses["mix"] = round(sum(share * losses[name] for name, share in data.mix.items()), 4)
    return losses
