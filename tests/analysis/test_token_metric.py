"""The strip above a page shows the metric of every token, whatever the length of the text."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from analysis.head_grid import head_grid
from analysis.token_metric import token_metric
from attention.metrics import METRICS, Metric, Rows
from tests.analysis.made import causal_noise, made_capture


@pytest.mark.parametrize("n_tokens", [1, 9, 300])
@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.name)
def test_it_is_the_metric_of_the_whole_matrix_row_by_row(metric: Metric, n_tokens: int) -> None:
    weights = causal_noise(n_tokens, layers=2, heads=2)
    ids = [i % 7 for i in range(n_tokens)]
    found = token_metric(made_capture(weights, ids=ids), 1, 0, metric)
    expected = metric.of(Rows(weights[1, :1], torch.arange(n_tokens), torch.tensor(ids)))[0]
    # The weights come back through a logarithm and an exponential in float64; distances multiply them by up to 300.
    np.testing.assert_allclose(found, expected.numpy(), atol=1e-9, rtol=0, equal_nan=True)


def test_the_value_of_a_head_in_the_grid_is_the_mean_of_its_tokens() -> None:
    capture = made_capture(causal_noise(50, layers=1, heads=2), ids=[i % 7 for i in range(50)])
    grid = head_grid(capture)
    for metric in METRICS:
        mean = np.nanmean(token_metric(capture, 0, 1, metric))
        assert grid.metrics[metric.name][0, 1] == pytest.approx(mean, rel=1e-5)  # the grid adds up in float32
