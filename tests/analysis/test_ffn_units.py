"""Curves and counts of the feed-forward view."""

from __future__ import annotations

import math

import numpy as np
import pytest

from analysis.ffn_units import activation_curves, spread


def test_curves_are_the_functions_and_the_models_own_is_among_them() -> None:
    found = activation_curves("GELU (tanh)")
    assert list(found.curves) == ["ReLU", "GELU", "SiLU", "GELU (tanh)", "SwiGLU"]
    for x, relu, swiglu in zip(found.x, found.curves["ReLU"], found.curves["SwiGLU"], strict=True):
        assert relu == max(0.0, x)
        assert swiglu == pytest.approx(x * x / (1 + math.exp(-x)), abs=1e-12)
    assert list(activation_curves("SiLU").curves) == ["ReLU", "GELU", "SiLU", "SwiGLU"]


def test_every_unit_is_in_one_bin() -> None:
    before = np.array([-1.0, -0.9, 0.0, 2.0, 2.0])
    shares, middles = spread(before, bins=3)
    assert shares.tolist() == pytest.approx([0.4, 0.2, 0.4])
    assert middles.tolist() == pytest.approx([-0.5, 0.5, 1.5])
