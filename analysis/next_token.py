"""The most likely next tokens, exact over the whole vocabulary."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from model_runner.capture import Capture


@dataclass(frozen=True)
class NextToken:
    """Token ids by falling probability, and the probability of all the others together."""

    ids: tuple[int, ...]
    probabilities: tuple[float, ...]
    rest: float


def next_tokens(capture: Capture, position: int = -1, *, count: int = 5) -> NextToken:
    """Softmax of the model's logits in float64. Raises NoLogits for a model without an output layer."""
    probabilities = torch.softmax(capture.logits(position).double(), dim=-1)
    top = probabilities.topk(min(count, len(probabilities)))
    shown = top.values.tolist()
    return NextToken(tuple(top.indices.tolist()), tuple(shown), max(0.0, 1.0 - sum(shown)))
