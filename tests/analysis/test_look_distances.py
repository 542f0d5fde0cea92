"""How far back a head attends, against sums over its weights, and the band in weights made for it."""

from __future__ import annotations

import numpy as np
import pytest

from analysis.look_distances import SMOOTH, band_of, look_distances
from model_runner import CaptureRequest
from tests.analysis.made import embedded

TEXT = "Alice was beginning to get very tired of sitting by her sister on the bank. " * 6
N, LEAST = 256, 32


def test_the_shares_are_those_of_the_weights_and_add_up_to_all() -> None:
    capture = embedded().capture(CaptureRequest(TEXT))
    found = look_distances(capture, 6, 6, least=16)
    assert found is not None
    rows = capture.weights(6, 6).double().tolist()
    near = sum(weight for query, row in enumerate(rows) for weight in row[max(1, query - 15) : query + 1])
    assert found.near == pytest.approx(near / len(rows), abs=1e-6)
    assert found.first == pytest.approx(sum(row[0] for row in rows) / len(rows), abs=1e-6)
    assert found.first + found.near + found.far == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize("distance", [60, 120])
def test_a_band_has_its_distance_and_ends_where_it_is_faint(distance: int) -> None:
    """Five keys wide, which the mean over a thirty-second of the text widens to both sides."""
    means = np.zeros(N)
    means[:8] = 0.1
    means[distance - 2 : distance + 3] = 0.12
    found = band_of(means * np.arange(N, 0, -1), LEAST)
    assert found is not None
    peak, end = found
    width = N // SMOOTH
    assert abs(peak - distance) <= width // 2
    assert distance + 2 < end <= distance + 3 + width // 2


def test_attention_that_only_falls_with_distance_has_no_band() -> None:
    assert band_of(np.exp(-np.arange(N) / 40) * np.arange(N, 0, -1), LEAST) is None


def test_a_distance_counts_by_what_a_query_has_there_not_by_how_many_queries_have_one() -> None:
    means = np.full(N, 1e-4)
    means[58:63], means[178:183] = 0.12, 0.2
    found = band_of(means * np.arange(N, 0, -1), LEAST)
    assert found is not None
    assert abs(found[0] - 180) <= N // SMOOTH // 2


def test_few_queries_that_look_far_are_no_band() -> None:
    """The last four of 256 tokens."""
    sums = np.exp(-np.arange(N) / 40) * np.arange(N, 0, -1)
    sums[-4:] = 4.0
    assert band_of(sums, LEAST) is None


def test_a_text_too_short_for_bands_has_none() -> None:
    assert look_distances(embedded().capture(CaptureRequest("The dog.")), 6, 6, least=1) is None
