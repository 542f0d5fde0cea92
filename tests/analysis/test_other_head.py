"""The head that the open one is compared with by default."""

import pytest
import torch

from analysis.head_grid import head_grid
from analysis.other_head import other_head
from tests.analysis.made import causal_noise, made_capture

N = 5


def looking(offset: int) -> torch.Tensor:
    """Weights of a head whose every query looks so many tokens back, or at the first one."""
    weights = torch.zeros(N, N, dtype=torch.float64)
    for query in range(N):
        weights[query, max(0, query - offset)] = 1
    return weights


def made() -> torch.Tensor:
    noise = causal_noise(N, layers=2, heads=2)
    noise[1, 0], noise[0, 1] = looking(1), looking(N)
    return noise


def test_it_is_the_one_that_looks_at_the_token_before():
    grid = head_grid(made_capture(made()))
    assert other_head(grid, (0, 0)) == other_head(grid, (0, 1)) == (1, 0)


def test_for_that_one_it_is_the_one_that_looks_at_the_first_token():
    assert other_head(head_grid(made_capture(made())), (1, 0)) == (0, 1)


@pytest.mark.parametrize("weights", [causal_noise(1, heads=3), causal_noise(4)])
def test_where_nothing_tells_or_there_is_no_other_it_is_the_head_itself(weights):
    assert other_head(head_grid(made_capture(weights)), (0, 0)) == (0, 0)
