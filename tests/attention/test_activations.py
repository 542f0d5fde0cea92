"""Each activation against its formula, written out."""

from __future__ import annotations

import math

import pytest
import torch

from attention.activations import ACTIVATIONS

FORMULAS = {
    "ReLU": lambda x: max(x, 0.0),
    "SiLU": lambda x: x / (1 + math.exp(-x)),
    "GELU": lambda x: x * (1 + math.erf(x / math.sqrt(2))) / 2,
    "GELU (tanh)": lambda x: x * (1 + math.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))) / 2,
    "GELU (sigmoid)": lambda x: x / (1 + math.exp(-1.702 * x)),
    "ReLU²": lambda x: max(x, 0.0) ** 2,
    "tanh": math.tanh,
    "sigmoid": lambda x: 1 / (1 + math.exp(-x)),
}


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_an_activation_is_its_formula(name: str) -> None:
    xs = torch.linspace(-6, 6, 49, dtype=torch.float64)
    wanted = [FORMULAS[name](x) for x in xs.tolist()]
    assert ACTIVATIONS[name](xs).tolist() == pytest.approx(wanted, abs=1e-12)
