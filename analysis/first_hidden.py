"""The weights of a head, had the first token been masked: what is left where it takes nearly all."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor

from attention import softmax
from model_runner.capture import Capture


def weights_without_first(
    capture: Capture, layer: int, head: int, *, queries: slice, keys: slice
) -> Float[Tensor, "queries keys"]:
    """Each row renormalised over the other keys; 0 at the first, and in a row that saw nothing else.

    Not the weights divided by what the first one leaves: where it takes nearly all, nothing but rounding is left.
    Raises NoWeights, NoSuchPlace.
    """
    record = capture.record(layer)
    scores = capture.scores(layer, head, queries=queries)
    scores[:, 0] = -torch.inf
    lse = softmax.log_sum_exp(scores[None], record.sinks_at(slice(head, head + 1), queries))
    return softmax.weights(scores[None, :, keys], lse)[0]
