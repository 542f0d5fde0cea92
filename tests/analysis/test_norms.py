"""Norms of the model's own vectors, and the growth of random nets, against theory."""

from __future__ import annotations

import math

import numpy as np
import pytest

from analysis.norms import normed, random_growth
from model_runner import CaptureRequest
from tests.model_runner.cases import TEXT, shared_runner


def test_norms_are_of_the_models_own_stream() -> None:
    capture = shared_runner("llama").capture(CaptureRequest(TEXT))
    found = normed(capture, 2, 4)
    x = capture.residual(2)[4].double().tolist()
    mean, size = sum(x) / len(x), math.sqrt(sum(v * v for v in x) / len(x))
    deviation = math.sqrt(sum((v - mean) ** 2 for v in x) / len(x))
    np.testing.assert_allclose(found.before, x)
    np.testing.assert_allclose(found.after["RMSNorm"], [v / size for v in x], rtol=1e-4)
    np.testing.assert_allclose(found.after["LayerNorm"], [(v - mean) / deviation for v in x], rtol=1e-4)
    column = capture.residual(2)[:, 3].double().numpy()
    assert found.after["BatchNorm"][3] == pytest.approx((x[3] - column.mean()) / column.std(), rel=1e-4)
    assert found.means[""][4] == pytest.approx(mean)
    assert found.sizes["RMSNorm"] == pytest.approx(1, rel=1e-4)
    assert found.means["LayerNorm"] == pytest.approx(0, abs=1e-9)


def test_pre_norm_grows_as_the_root_post_norm_not_at_all_and_none_by_powers() -> None:
    found = random_growth(24)
    assert found["post"] == pytest.approx(1, rel=1e-3)
    assert found["pre"] == pytest.approx(np.sqrt(1 + np.arange(25)), rel=0.15)
    assert found["none"] == pytest.approx(2 ** (np.arange(25) / 2), rel=0.5)
