"""Sentences about a model's own mask: how many keys a query of a head reads."""

from __future__ import annotations

from analysis.own_mask import keys_read
from model_runner.request import CaptureRequest
from tests.model_runner.cases import shared_runner

TEXT = "abcdefghijklmnopqrst"


def test_as_many_keys_are_read_as_have_a_weight_of_those_before_the_query():
    capture = shared_runner("doge").capture(CaptureRequest(TEXT))
    for query in range(5, len(TEXT)):
        row = capture.weights(1, 3)[query]
        assert keys_read(capture, 1, 3, query) == (int((row > 0).sum()), query + 1) == (5, query + 1)


def test_nothing_is_said_where_a_query_reads_all_that_it_may():
    capture = shared_runner("doge").capture(CaptureRequest(TEXT))
    assert keys_read(capture, 1, 3, 4) is None
    assert keys_read(shared_runner("doge-wide").capture(CaptureRequest(TEXT)), 1, 3, 12) is None
    assert keys_read(shared_runner("mistral").capture(CaptureRequest(TEXT)), 1, 3, 12) is None
