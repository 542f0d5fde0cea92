"""Log-n scaling: scores grow with the logarithm of the number of visible keys, so that long texts do not blur them.

score · ln n / ln m (Chiang & Cholak 2022, arXiv:2202.12172; Su 2021); for n = m nothing changes.
"""

from __future__ import annotations

import math

import torch
from jaxtyping import Float
from torch import Tensor

from attention.zoo.head import Head, softmax_rows


def weights(head: Head, length: int) -> Float[Tensor, "tokens tokens"]:
    """``length`` is m: the number of keys for which a row is unchanged."""
    seen = head.keep.sum(-1, keepdim=True).clamp(min=1).to(head.scores)
    factor = seen.log() / math.log(length)
    scores = torch.where(head.keep, head.scores, 0.0) * factor  # 0 · −∞ is NaN
    return softmax_rows(scores.masked_fill(~head.keep, -torch.inf), head.sink)
