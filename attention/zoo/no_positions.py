"""No positions (NoPE, Kazemnejad et al. 2023, arXiv:2305.19466): queries and keys before the rotation.

A causal model trained this way infers positions from the mask; one that was trained with RoPE does not. In a layer
without rotation this is softmax.
"""

from __future__ import annotations

from jaxtyping import Float
from torch import Tensor

from attention.zoo.head import Head, softmax_rows


def weights(head: Head) -> Float[Tensor, "tokens tokens"]:
    if head.layer is None:
        raise ValueError("attention without positions needs the layer's rotation")
    scores = head.layer.turn_back(head.q) @ head.layer.k[head.kv_head].T * head.scale
    return softmax_rows(scores.masked_fill(~head.keep, -float("inf")), head.sink)
