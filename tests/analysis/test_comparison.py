"""Before and after: distances of rows and of next tokens, against loops and by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from analysis.comparison import drift_of_head, head_drift, next_token_change
from model_runner import CaptureRequest
from model_runner.edits import Blocked
from model_runner.errors import CapturesDiffer
from tests.analysis.made import embedded, made_capture

N = 5


def rows(seed: int) -> torch.Tensor:
    """Causal weights of 2 layers × 3 heads that sum to 1 by row."""
    scores = torch.randn(2, 3, N, N, generator=torch.Generator().manual_seed(seed))
    return scores.masked_fill(~torch.ones(N, N, dtype=torch.bool).tril(), -torch.inf).softmax(-1)


def test_drift_is_half_the_summed_difference_of_each_row_on_average():
    before, after = rows(0), rows(1)
    first, second = made_capture(before), made_capture(after)
    found = head_drift(first, second)
    for layer in range(2):
        for head in range(3):
            total = 0.0
            for query in range(N):
                total += sum(abs(float(before[layer, head, query, k] - after[layer, head, query, k])) for k in range(N))
            assert found[layer, head] == pytest.approx(total / 2 / N, abs=1e-6)
            assert drift_of_head(first, second, layer, head) == pytest.approx(total / 2 / N, abs=1e-6)


def test_drift_is_nothing_for_the_same_and_all_for_rows_that_share_no_key():
    first = torch.zeros(1, 1, N, N)
    first[..., 0] = 1.0
    itself = torch.eye(N)[None, None].clone()
    assert head_drift(made_capture(first), made_capture(first)) == pytest.approx(0.0, abs=1e-6)
    assert head_drift(made_capture(first), made_capture(itself)) == pytest.approx((N - 1) / N, abs=1e-6)


def test_a_layer_without_attention_has_no_drift():
    found = head_drift(made_capture(rows(0), without=[1]), made_capture(rows(1), without=[1]))
    assert np.isfinite(found[0]).all()
    assert np.isnan(found[1]).all()


def test_kl_and_probabilities_are_those_of_the_softmaxes_and_new_favourites_are_listed():
    old, new = torch.tensor([2.0, 1.0, 0.0, -1.0]), torch.tensor([0.0, 1.0, 0.0, 3.0])
    found = next_token_change(made_capture(rows(0), logits=old), made_capture(rows(0), logits=new), count=2)
    p = [math.exp(x) / sum(map(math.exp, old.tolist())) for x in old.tolist()]
    q = [math.exp(x) / sum(map(math.exp, new.tolist())) for x in new.tolist()]
    assert found.ids == (0, 1, 3)
    assert found.before == pytest.approx([p[0], p[1], p[3]])
    assert found.after == pytest.approx([q[0], q[1], q[3]])
    assert found.kl == pytest.approx(sum(a * math.log2(a / b) for a, b in zip(p, q, strict=True)))


def test_kl_of_the_same_distribution_is_zero_and_an_impossible_token_adds_nothing():
    logits = torch.tensor([1.0, -torch.inf, 0.5])
    capture = made_capture(rows(0), logits=logits)
    assert next_token_change(capture, capture).kl == 0.0


def test_captures_of_other_tokens_are_not_compared():
    first, second = made_capture(rows(0)), made_capture(rows(0), ids=[5, 4, 3, 2, 1])
    with pytest.raises(CapturesDiffer, match="different tokens"):
        head_drift(first, second)
    with pytest.raises(CapturesDiffer, match="different tokens"):
        next_token_change(first, second)


def test_a_query_that_is_left_with_nothing_has_moved_all_it_had():
    text = "The dog chased the squirrel because it"
    before = embedded().capture(CaptureRequest(text=text))
    last = len(before.tokens) - 1

    def drift(*keys: int) -> float:
        hidden = Blocked(tuple((last, key) for key in keys), (3,), (1,))
        after = embedded().capture(CaptureRequest(text=text, edits=(hidden,)))
        alone = drift_of_head(before, after, 3, 1)
        assert alone == pytest.approx(float(head_drift(before, after)[3, 1]), abs=1e-6)
        return alone

    row = before.weights(3, 1)[last]
    for key in (0, int(row.argmax())):
        assert drift(key) == pytest.approx(float(row[key]) / (last + 1), abs=1e-6)
    assert drift(*range(last + 1)) == pytest.approx(1 / (last + 1), abs=1e-6)
