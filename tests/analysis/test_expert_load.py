"""The drawing of experts, computed by hand: two layers, three tokens, four experts and two."""

from __future__ import annotations

import numpy as np
import torch

from analysis.expert_load import Held, imbalance, loads, parameters, weight_grid
from model_runner.expert_questions import DenseModule, Routed, Routing

NAN = np.nan
FIRST = Routed(
    1, "mlp.experts", 4, torch.tensor([[2, 0], [2, 3], [0, 2]]), torch.tensor([[0.7, 0.3], [0.6, 0.4], [0.5, 0.5]]),
    10, (DenseModule("gate", "Router", 5), DenseModule("shared", "MLP", 20)),
)  # fmt: skip  # its fields in two lines
SECOND = Routed(2, "mlp.experts", 2, torch.tensor([[1], [1], [0]]), torch.ones(3, 1), 30, ())
ROUTING = Routing((FIRST, SECOND), 1000)


def test_a_weight_stands_at_its_expert_and_token_and_nowhere_else() -> None:
    wanted = [[0.3, NAN, 0.5], [NAN, NAN, NAN], [0.7, 0.6, 0.5], [NAN, 0.4, NAN]]
    np.testing.assert_allclose(weight_grid(FIRST), wanted, atol=1e-7)


def test_loads_are_shares_of_the_picks() -> None:
    found = loads(ROUTING)
    np.testing.assert_allclose(found, [[2 / 6, 0, 3 / 6, 1 / 6], [1 / 3, 2 / 3, NAN, NAN]])
    assert [round(imbalance(row), 6) for row in found] == [2.0, round(4 / 3, 6)]


def test_what_is_not_picked_is_held_and_not_used() -> None:
    assert parameters(ROUTING, 0) == (
        Held("experts", 40, 20, 4), Held("gate", 5, 5), Held("shared", 20, 20), Held("ffn", 65, 45),
        Held("model", 1000, 1000 - 20 - 30),
    )  # fmt: skip  # by rows of the table
