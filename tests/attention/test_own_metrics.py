"""Registered metrics, next to the built-in ones."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch

from attention import own_metrics
from attention.metrics import METRICS
from attention.own_metrics import Offset, all_metrics, register_metric
from tests.attention.test_metrics import N, noise, rows


@pytest.fixture(autouse=True)
def forgotten() -> Iterator[None]:
    yield
    own_metrics._own.clear()


def test_an_offset_is_the_weight_so_many_tokens_back_and_not_defined_before():
    weights = noise()
    for back in (1, 3, N - 1):
        values = Offset(back)(rows(weights))
        assert values[:, :back].isnan().all()
        for head in range(2):
            for query in range(back, N):
                assert values[head, query] == weights[head, query, query - back]
    previous = next(metric for metric in METRICS if metric.name == "previous")
    assert torch.equal(Offset(1)(rows(weights)).nan_to_num(-1), previous.of(rows(weights)).nan_to_num(-1))


def test_a_registered_metric_stands_after_the_built_in_ones_and_is_replaced_by_its_name():
    first = register_metric("offset 8", Offset(8))
    assert all_metrics() == (*METRICS, first)
    second = register_metric("offset 8", Offset(2), label="two back")
    assert all_metrics() == (*METRICS, second)
    assert (first.label, second.label, second.unit) == ("offset 8", "two back", "share")


def test_what_is_no_metric_is_refused_in_one_sentence():
    with pytest.raises(ValueError, match="'entropy' is the name of a built-in metric"):
        register_metric("entropy", Offset(8))
    with pytest.raises(ValueError, match="needs a name"):
        register_metric("", Offset(8))
    with pytest.raises(ValueError, match="no unit 'nats'; choose from share, bits, tokens"):
        register_metric("mine", Offset(8), unit="nats")
    mine = register_metric("mine", lambda block: block.weights.sum(-1).sum(-1))
    with pytest.raises(ValueError, match=r"'mine' returned \(2,\); it must return \[heads, queries\], here \(2, \d+\)"):
        mine.of(rows(noise()))
    mine = register_metric("mine", lambda _block: 1.0)
    with pytest.raises(ValueError, match="'mine' returned float.* Mend it and register it again by the same name"):
        mine.of(rows(noise()))


def test_what_a_metric_raises_says_whose_it_is():
    mine = register_metric("mine", lambda _block: {}["no such thing"])
    with pytest.raises(KeyError) as raised:
        mine.of(rows(noise()))
    assert raised.value.__notes__ == [
        "This was raised by the metric 'mine'. Mend it and register it again by the same name."
    ]
