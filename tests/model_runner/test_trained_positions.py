"""The tables that come with the app are those of trained models: they tell near from far."""

from __future__ import annotations

import torch

from attention import position_biases as biases
from model_runner.trained_positions import trained_positions


def test_the_bias_has_a_row_for_every_bucket_and_differs_between_heads() -> None:
    table = trained_positions().t5_bias
    assert table.shape == (32, 8)
    assert table.isfinite().all()
    assert torch.cdist(table.T, table.T).fill_diagonal_(torch.inf).min() > 0.1


def test_every_head_has_learned_to_prefer_the_previous_token_to_far_ones() -> None:
    bias = biases.t5_bias(torch.arange(128), trained_positions().t5_bias, bidirectional=False)
    assert (bias[:, 1] > bias[:, 16:].amax(dim=1)).all()
    assert (bias[:, 1] - bias[:, 64:].mean(dim=1)).min() > 0.5  # untrained rows differ by about 0.1


def test_learned_positions_are_more_alike_the_nearer_they_are() -> None:
    table = trained_positions().learned
    assert table.shape == (128, 128)
    unit = torch.nn.functional.normalize(table.double(), dim=-1)
    by_distance = biases.mean_by_distance(unit @ unit.T)
    assert by_distance[1] > by_distance[8] > by_distance[40]


def test_the_facts_of_the_runs_are_kept() -> None:
    facts = trained_positions().facts
    assert facts["corpus"] == ["stories", "books"]
    assert facts["tokens"] == facts["steps"] * facts["windows"] * facts["length"] > 1e6
    assert facts["t5_bias loss"] < 5
    assert facts["learned loss"] < 5
