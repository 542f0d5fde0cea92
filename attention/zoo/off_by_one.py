"""A sink in the softmax: an additional term in a row's sum, which allows a head to attend to nothing.

exp(score) / (exp(sink) + Σ exp(score)). With a sink of 0 it is "softmax off by one" (Miller 2023); gpt-oss learns one
for each head (arXiv:2508.10925, section 2).
"""

from __future__ import annotations

from jaxtyping import Float
from torch import Tensor

from attention.zoo.head import Head, softmax_rows


def weights(head: Head, sink: float) -> Float[Tensor, "tokens tokens"]:
    """Rows sum to less than 1; a learned sink of the model is replaced."""
    return softmax_rows(head.scores, sink)
