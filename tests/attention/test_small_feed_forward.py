"""The small feed-forward part against sums written out, one number at a time."""

from __future__ import annotations

import math

import pytest

from attention.small_feed_forward import small_feed_forward, usual_feed_forward

CURVES = {
    "ReLU": lambda x: max(0.0, x),
    "SiLU": lambda x: x / (1 + math.exp(-x)),
    "GELU": lambda x: x * (1 + math.erf(x / math.sqrt(2))) / 2,
}


@pytest.mark.parametrize("gated", [False, True])
@pytest.mark.parametrize("activation", CURVES)
def test_every_number_is_its_sum(activation: str, gated: bool) -> None:
    numbers, act = usual_feed_forward(), CURVES[activation]
    found = small_feed_forward(numbers, activation, gated=gated)
    for token, x in enumerate(numbers.x.tolist()):
        units = range(numbers.w_1.shape[1])
        hidden = [
            math.fsum(a * float(numbers.w_1[i, u]) for i, a in enumerate(x)) + float(numbers.b_1[0, u]) for u in units
        ]
        gate = [math.fsum(a * float(numbers.w_gate[i, u]) for i, a in enumerate(x)) for u in units]
        values = [act(g) * h for g, h in zip(gate, hidden, strict=True)] if gated else [act(h) for h in hidden]
        assert found.values[token].tolist() == pytest.approx(values, abs=1e-12)
        for place in range(len(x)):
            total = math.fsum(values[u] * float(numbers.w_2[u, place]) for u in units) + float(numbers.b_2[0, place])
            assert float(found.added[token, place]) == pytest.approx(total, abs=1e-12)


def test_what_it_begins_with_shows_units_above_and_below_zero() -> None:
    found = small_feed_forward(usual_feed_forward(), "ReLU", gated=False)
    assert (found.hidden > 0).any()
    assert (found.hidden < 0).any()
    assert found.added.abs().max() > 0
