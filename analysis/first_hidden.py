"""A head's weights with the first token masked: what remains if it takes nearly all attention."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor

from attention import softmax
from model_runner.capture import Capture


def weights_without_first(
    capture: Capture, layer: int, head: int, *, queries: slice, keys: slice
) -> Float[Tensor, "queries keys"]:
    """Each row renormalized over the other keys; 0 at the first key, and in a row that has no other.

    Computed from the scores, since dividing by the remainder would only amplify rounding if the first key takes nearly
    all. Raises NoWeights, NoSuchPlace.
    """
    record = capture.record(layer)
    scores = capture.scores(layer, head, queries=queries)
    scores[:, 0] = -torch.inf
    lse = softmax.log_sum_exp(scores[None], record.sinks_at(slice(head, head + 1), queries))
    return softmax.weights(scores[None, :, keys], lse)[0]
