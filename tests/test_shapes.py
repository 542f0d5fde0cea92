"""Annotated tensor shapes are checked where the mathematics is tested: see the Makefile."""

from __future__ import annotations

import pytest
import torch
from jaxtyping import TypeCheckError

from attention import softmax


def test_shapes_are_checked_while_testing():
    q, k = torch.zeros(2, 3, 8), torch.zeros(2, 3, 4)  # d_head must be one number
    with pytest.raises(TypeCheckError, match="d_head"):
        softmax.scores(q, k, scale=1.0)
