"""A curve is the mean score of real contents put that far apart, each pair rotated one at a time."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from analysis import distance_curves as module
from analysis.distance_curves import Contents, distance_curves
from attention import rotary
from model_runner.capture import Capture
from model_runner.errors import NoRotation, NoSuchPlace
from model_runner.positions import layout_of
from model_runner.request import CaptureRequest
from model_runner.substitution import Substituted
from tests.model_runner.cases import TEXT, case_of, shared_runner

LAYER, QUERY, KEY = 1, 20, 11
DISTANCES = (0, 1, 5, 40, 700)
FAMILIES = ("llama", "llama-yarn", "phi", "glm4", "deepseek-v3", "mistral", "modernbert")


def by_pairs(capture: Capture, pairs: list[tuple[int, int]], head: int, distance: int) -> float:
    """The mean score, query and key put at two positions and rotated there."""
    record, layout = capture.record(LAYER), layout_of(capture, LAYER)
    q = capture.q_unrotated(LAYER).double()[head]
    k = capture.k_unrotated(LAYER).double()[head // record.group]

    def put(x: torch.Tensor, position: int) -> torch.Tensor:
        angles = rotary.angles_at(torch.tensor([position]), layout.theta)
        return rotary.rotate(x[:, None], angles, layout.pairs, factor=layout.factor, source=layout.source)[:, 0]

    queries, keys = put(q, 50 + distance), put(k, 50)
    scores = [record.scale * float(queries[m] @ keys[n]) for m, n in pairs]
    return math.fsum(scores) / len(scores)


def visible(capture: Capture) -> list[tuple[int, int]]:
    n = len(capture.tokens)
    keep = capture.record(LAYER).mask.tile(slice(0, n), slice(0, n), torch.device("cpu"))
    return [(m, k) for m in range(n) for k in range(n) if keep[m, k]]


@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("contents", ["text", "query", "cell"])
def test_a_curve_is_the_mean_over_the_chosen_contents(name: str, contents: Contents) -> None:
    capture = case_of(name).capture
    pairs = {
        "text": visible(capture),
        "query": [pair for pair in visible(capture) if pair[0] == QUERY],
        "cell": [(QUERY, KEY)],
    }[contents]
    found = distance_curves(capture, LAYER, DISTANCES, contents=contents, query=QUERY, key=KEY)
    assert found.n_contents == len(pairs)
    assert found.scores.shape == (len(capture.q(LAYER)), len(DISTANCES))
    for head in (0, 3):
        for i, distance in enumerate(DISTANCES):
            assert found.scores[head, i] == pytest.approx(by_pairs(capture, pairs, head, distance), abs=1e-10)


def test_blocks_of_queries_add_up(monkeypatch: pytest.MonkeyPatch) -> None:
    capture = case_of("llama").capture
    whole = distance_curves(capture, LAYER, DISTANCES)
    monkeypatch.setattr(module, "ROWS", 5)
    np.testing.assert_allclose(distance_curves(capture, LAYER, DISTANCES).scores, whole.scores, atol=1e-12)


def test_a_cells_curve_passes_through_its_captured_score() -> None:
    capture = case_of("llama").capture
    found = distance_curves(capture, LAYER, [QUERY - KEY], contents="cell", query=QUERY, key=KEY)
    for head in range(4):
        assert found.scores[head, 0] == pytest.approx(float(capture.scores(LAYER, head)[QUERY, KEY]), abs=1e-5)


def test_what_is_not_turned_is_the_same_at_every_distance() -> None:
    whole = distance_curves(case_of("llama").capture, LAYER, DISTANCES)
    partial = distance_curves(case_of("phi").capture, LAYER, DISTANCES)
    assert not whole.rest.any()
    assert partial.rest.all()
    q, k = (x.double() for x in (case_of("phi").capture.q(LAYER), case_of("phi").capture.k(LAYER)))
    pairs = visible(case_of("phi").capture)
    expected = math.fsum(float(q[3, m, 4:] @ k[1, n, 4:]) for m, n in pairs) / len(pairs) * 8**-0.5
    assert partial.rest[3] == pytest.approx(expected, abs=1e-6)


def test_the_peak_is_the_distance_of_the_largest_score() -> None:
    found = distance_curves(case_of("llama").capture, LAYER, range(3, 60))
    for head, peak in enumerate(found.peaks):
        assert found.scores[head, int(peak) - 3] == found.scores[head].max()


def test_refusals_come_through() -> None:
    with pytest.raises(NoRotation):
        distance_curves(case_of("gpt2").capture, LAYER, DISTANCES)
    with pytest.raises(NoSuchPlace, match="no position 99"):
        distance_curves(case_of("llama").capture, LAYER, DISTANCES, contents="query", query=99)


def test_a_head_whose_softmax_is_substituted_has_no_curve_and_the_others_keep_theirs() -> None:
    runner = shared_runner("llama")
    plain, changed = (
        distance_curves(runner.capture(CaptureRequest(TEXT, edits=edits)), LAYER, DISTANCES)
        for edits in ((), (Substituted("performer", (), (LAYER,), (2,)),))
    )
    assert np.isnan(changed.scores[2]).all()
    assert np.isnan(changed.rest[2])
    others = [head for head in range(len(plain.scores)) if head != 2]
    np.testing.assert_array_equal(changed.scores[others], plain.scores[others])
