"""Differential attention (Ye et al. 2024, arXiv:2410.05258, eq. 1): one softmax map minus λ times another.

In the paper the two maps are learned halves of a head's queries and keys; here the second is that of the adjacent head.
The paper's norm that follows is left out.
"""

from __future__ import annotations

from jaxtyping import Float
from torch import Tensor

from attention.zoo.head import Head, softmax_rows


def weights(head: Head, share: float) -> Float[Tensor, "tokens tokens"]:
    """Rows sum to 1 − λ; ``share`` is λ."""
    if head.beside is None:
        raise ValueError("differential attention needs a second head")
    return softmax_rows(head.scores) - share * softmax_rows(head.beside)
