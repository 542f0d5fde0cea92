"""Norms against torch's own, and what each keeps."""

from __future__ import annotations

import pytest
import torch
from torch.nn import functional

from attention.norms import EPSILON, batch_norm, layer_norm, rms_norm

X = torch.randn(7, 33, generator=torch.Generator().manual_seed(0), dtype=torch.float64) * 3 + 1.5


def test_each_is_torchs_own() -> None:
    torch.testing.assert_close(layer_norm(X), functional.layer_norm(X, (33,), eps=EPSILON))
    torch.testing.assert_close(rms_norm(X), functional.rms_norm(X, (33,), eps=EPSILON))
    torch.testing.assert_close(batch_norm(X), functional.batch_norm(X, None, None, training=True, eps=EPSILON))


def test_only_batch_norm_lets_one_row_change_another() -> None:
    other = X.clone()
    other[0] *= 10
    for norm in (layer_norm, rms_norm):
        torch.testing.assert_close(norm(other)[1:], norm(X)[1:])
    assert (batch_norm(other)[1:] - batch_norm(X)[1:]).abs().max() > 0.1


@pytest.mark.parametrize("factor", [0.5, 20.0])
def test_the_size_of_a_row_goes_and_only_layer_norm_takes_its_mean(factor: float) -> None:
    torch.testing.assert_close(rms_norm(factor * X), rms_norm(X), rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(layer_norm(X + factor), layer_norm(X), rtol=1e-5, atol=1e-5)
    assert (rms_norm(X + factor) - rms_norm(X)).abs().max() > 0.05
