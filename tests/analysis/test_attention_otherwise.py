"""Other views of a head: against the captured weights, loops, and torch's SVD of the whole product."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from analysis.added_positions import head_reads
from analysis.attention_otherwise import diagonal_wins, exchanged_scores, look_up, low_rank
from model_runner import CaptureRequest
from model_runner.projection_questions import HeadProjections, LayerMatrices
from tests.analysis.made import embedded

REQUEST = CaptureRequest("The dog chased the squirrel because it")


def test_at_temperature_one_it_is_the_models_own_row_and_the_ends_are_one_key_and_the_mean():
    capture = embedded().capture(REQUEST)
    own, values = capture.weights(6, 4)[5].double().numpy(), capture.v(6)[2].double().numpy()
    found = look_up(capture, 6, 4, 5, 1.0)
    np.testing.assert_allclose(found.weights, own, atol=1e-5)
    np.testing.assert_allclose(found.mixture, own @ values, atol=1e-4)
    hard, mean = (look_up(capture, 6, 4, 5, one) for one in (0.0, math.inf))
    assert hard.weights.tolist() == [float(key == own.argmax()) for key in range(8)]
    np.testing.assert_allclose(hard.mixture, values[own.argmax()])
    np.testing.assert_allclose(mean.weights, [1 / 6] * 6 + [0, 0])
    sharp = [look_up(capture, 6, 4, 5, one).weights[hard.best] for one in (0.1, 0.5, 1.0, 2.0, 8.0)]
    assert sharp == sorted(sharp, reverse=True)


@pytest.mark.parametrize("matrices", ["own", "same", "none"])
def test_equal_matrices_make_the_scores_symmetric_and_own_ones_do_not(matrices):
    found = embedded().submit(HeadProjections(REQUEST, 3, 2, tuple(range(8)))).result()
    reads = head_reads(found, range(8), 0.25)
    scores = exchanged_scores(reads, matrices)
    assert np.allclose(scores, scores.T) == (matrices != "own")
    for i, j in ((0, 5), (4, 4)):
        x, y = reads.x[i], reads.x[j]
        w, u = reads.w_q, reads.w_k if matrices == "own" else reads.w_q
        one = float(x @ y) / 16 if matrices == "none" else 0.25 * float((x @ w) @ (y @ u))
        assert scores[i, j] == pytest.approx(one)
    wins = sum(all(row[i] >= one for one in row) for i, row in enumerate(scores))
    assert diagonal_wins(scores) == wins


def test_the_singular_values_are_those_of_the_whole_product():
    found = embedded().submit(LayerMatrices(REQUEST, 3)).result()
    assert found.q is not None
    assert found.k is not None
    assert found.v is not None
    assert found.o is not None
    shown = low_rank(found, 5, 2)
    for values, product in (
        (shown.qk, found.q[5].double() @ found.k[2].double().T),
        (shown.ov, found.v[2].double() @ found.o[5].double()),
    ):
        whole = torch.linalg.svd(product).S.numpy()
        np.testing.assert_allclose(values, whole[:32], atol=1e-9)
        assert product.shape == (256, 256)
        assert np.abs(whole[32:]).max() < 1e-9
        assert values is not None
        n = shown.needed(values)
        squares = values**2 / (values**2).sum()
        assert squares[:n].sum() >= 0.9 > squares[: n - 1].sum()
