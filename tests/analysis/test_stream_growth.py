"""Lengths of the residual stream and of additions to it, against plain loops."""

from __future__ import annotations

import math

import numpy as np
import pytest

from analysis.stream_growth import cosines, growth
from model_runner import CaptureRequest
from model_runner.block_questions import StreamAdditions
from tests.model_runner.cases import TEXT, shared_runner


@pytest.mark.parametrize("name", ["llama", "bert", "jamba", "gptj"])
@pytest.mark.parametrize("position", [4, None])
def test_lengths_are_those_of_the_captured_stream(name: str, position: int | None) -> None:
    runner, request = shared_runner(name), CaptureRequest(TEXT)
    capture = runner.capture(request)
    found = growth(runner.submit(StreamAdditions(request, 4)).result(), position)
    rows = range(len(capture.tokens)) if position is None else [position]
    for layer, stream in enumerate(capture.residuals):
        lengths = [math.sqrt(sum(x * x for x in stream[row].tolist())) for row in rows]
        assert found.streams[layer] == pytest.approx(sum(lengths) / len(lengths), rel=1e-5)
    mixers = {"jamba": {"attention", "mixer", "ffn"}, "bert": {"attention", "ffn", "norm"}}
    assert set(found.added) == mixers.get(name, {"attention", "ffn"})
    if name == "jamba":
        assert np.isnan(found.added["attention"]).tolist() == [True, False, True]


def test_the_cosine_is_with_the_sum_of_all_before() -> None:
    vectors = np.array([[1.0, 0], [0, 2], [1, 2], [-3, -12], [0, 0]])
    found = cosines(vectors, range(5))
    assert np.isnan(found[[0, 4]]).all()
    assert found[1] == 0
    assert found[2] == pytest.approx(1.0)
    assert found[3] == pytest.approx(-(2 * 3 + 4 * 12) / math.sqrt(20 * 153))
