"""Elementwise activation functions of feed-forward networks."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional

# Hendrycks & Gimpel 2016, arXiv:1606.08415 (GELU, its approximations, SiLU); So et al. 2021, arXiv:2109.08668 (ReLU²)
ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "ReLU": functional.relu,
    "SiLU": functional.silu,
    "GELU": functional.gelu,
    "GELU (tanh)": lambda x: functional.gelu(x, approximate="tanh"),
    "GELU (sigmoid)": lambda x: x * torch.sigmoid(1.702 * x),
    "ReLU²": lambda x: functional.relu(x).square(),
    "tanh": torch.tanh,
    "sigmoid": torch.sigmoid,
}
