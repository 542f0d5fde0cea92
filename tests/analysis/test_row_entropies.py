"""Entropies of a head's rows, and the spread of lengths and angles, against loops over the capture's own numbers."""

from __future__ import annotations

import math

import pytest

from analysis import similarities
from analysis.row_entropies import row_entropies
from analysis.similarities import head_vectors, spread
from tests.analysis.test_cell import captured

LAYER, HEAD = 1, 2


@pytest.mark.parametrize("family", ["llama", "gemma2", "opt"])
def test_every_row_has_its_keys_and_its_bits(family):
    capture = captured(family)
    seen, bits = row_entropies(capture, LAYER, HEAD)
    weights = capture.weights(LAYER, HEAD).double()
    expected = []
    for row in weights.tolist():
        kept = [weight for weight in row if weight > 0]
        if len(kept) > 1:
            expected.append((len(kept), -sum(weight * math.log2(weight) for weight in kept)))
    expected.sort(key=lambda pair: pair[0])
    assert seen.tolist() == [n for n, _ in expected]
    assert bits.tolist() == pytest.approx([h for _, h in expected], abs=1e-6)


@pytest.mark.parametrize("block", [5, similarities.ROWS])
@pytest.mark.parametrize("family", ["llama", "mistral"])
def test_the_spread_is_over_every_cell_that_is_seen(monkeypatch, family, block):
    monkeypatch.setattr(similarities, "ROWS", block)
    capture = captured(family)
    found, record = spread(capture, LAYER, HEAD), capture.record(LAYER)
    q, k = record.q[HEAD].double().tolist(), record.k[HEAD // record.group].double().tolist()
    cosines = []
    for i, row in enumerate(capture.scores(LAYER, HEAD).tolist()):
        for j, score in enumerate(row):
            if score > -math.inf:
                product = sum(a * b for a, b in zip(q[i], k[j], strict=True))
                cosines.append(product / math.hypot(*q[i]) / math.hypot(*k[j]))
    assert found.cells == len(cosines)
    assert found.cosine == pytest.approx((min(cosines), max(cosines)))
    lengths = [math.hypot(*one) for one in q]
    assert found.q_norm == pytest.approx((min(lengths), max(lengths)))
    lengths = [math.hypot(*one) for one in k]  # every key is seen by its own query
    assert found.k_norm == pytest.approx((min(lengths), max(lengths)))


def test_the_vectors_are_those_that_attention_saw():
    capture = captured("llama")
    found = head_vectors(capture, LAYER, HEAD, 20)
    products = found.q @ found.k.T * capture.record(LAYER).scale
    scores = capture.scores(LAYER, HEAD)[list(found.window.queries)][:, list(found.window.keys)]
    for mine, its in zip(products.flatten().tolist(), scores.flatten().tolist(), strict=True):
        assert its == -math.inf or mine == pytest.approx(its, abs=2e-5)
