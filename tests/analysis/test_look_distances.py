"""How far back a head looks, against sums over its weights."""

from __future__ import annotations

import pytest

from analysis.look_distances import look_distances
from model_runner import CaptureRequest
from tests.analysis.made import embedded

TEXT = "Alice was beginning to get very tired of sitting by her sister on the bank. " * 6


def test_the_shares_are_those_of_the_weights_and_add_up_to_all() -> None:
    capture = embedded().capture(CaptureRequest(TEXT))
    found = look_distances(capture, 6, 6, least=16)
    assert found is not None
    rows = capture.weights(6, 6).double().tolist()
    near = sum(weight for query, row in enumerate(rows) for weight in row[max(1, query - 15) : query + 1])
    assert found.near == pytest.approx(near / len(rows), abs=1e-6)
    assert found.first == pytest.approx(sum(row[0] for row in rows) / len(rows), abs=1e-6)
    assert found.first + found.near + found.far == pytest.approx(1, abs=1e-5)
    assert 16 <= found.peak <= found.outer < len(rows)


def test_a_text_too_short_for_bands_has_none() -> None:
    assert look_distances(embedded().capture(CaptureRequest("The dog.")), 6, 6, least=1) is None
