"""Maps made of a softmax map against loops: passed on, added, by the length of values, drawn."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from attention.zoo import reweighted
from tests.attention.zoo.made import PLACES, dot, made, softmax_loops

HEADS = [pytest.param(head, id=name) for name, head in {**PLACES, "sink": replace(made(), sink=0.5)}.items()]


def close(found: torch.Tensor, expected: list[list[float]]) -> None:
    torch.testing.assert_close(found, torch.tensor(expected, dtype=torch.float64), rtol=1e-10, atol=1e-13)


def own(head) -> list[list[float]]:
    return softmax_loops(head.scores.tolist(), head.sink)


def shared_as(rows: list[list[float]], sums: list[float]) -> list[list[float]]:
    return [[x * wanted / math.fsum(row) for x in row] for row, wanted in zip(rows, sums, strict=True)]


def once_more(rows: list[list[float]], head) -> list[list[float]]:
    """Each row mixed of the rows that it looks at, what the mask hides left out, brought to the sum of its own."""
    own_rows, keep = own(head), head.keep.tolist()
    n = len(rows)
    mixed = [
        [math.fsum(rows[i][m] * own_rows[m][j] for m in range(n)) if keep[i][j] else 0.0 for j in range(n)]
        for i in range(n)
    ]
    return shared_as(mixed, [math.fsum(row) for row in own_rows])


@pytest.mark.parametrize("head", HEADS)
@pytest.mark.parametrize("rounds", [0, 1, 3])
def test_passing_on_is_the_rows_of_those_that_are_looked_at(head, rounds):
    rows = own(head)
    for _ in range(rounds):
        rows = once_more(rows, head)
    close(reweighted.passed_on(head, rounds), rows)


@pytest.mark.parametrize("head", HEADS)
def test_adding_goes_from_softmax_to_one_round(head):
    rows, further = own(head), once_more(own(head), head)
    for share in (0.0, 0.3, 1.0):
        close(
            reweighted.added(head, share),
            [
                [(1 - share) * a + share * b for a, b in zip(*pair, strict=True)]
                for pair in zip(rows, further, strict=True)
            ],
        )


@pytest.mark.parametrize("head", HEADS)
@pytest.mark.parametrize("power", [0.0, 1.0, 2.5])
def test_a_weight_counts_by_the_length_of_its_value(head, power):
    lengths = [math.sqrt(dot(v, v)) for v in head.v.tolist()]
    rows = [[w * length**power for w, length in zip(row, lengths, strict=True)] for row in own(head)]
    close(reweighted.by_values(head, power), shared_as(rows, [math.fsum(row) for row in own(head)]))


def test_a_row_whose_values_are_all_nothing_stays():
    head = made(5)
    head.v[:3] = 0
    found = reweighted.by_values(head, 1.0)
    torch.testing.assert_close(found[:3], head.softmax()[:3])
    assert (found[3:, :3] == 0).all()


@pytest.mark.parametrize("head", HEADS)
def test_what_is_drawn_is_a_key_of_the_row_and_softmax_on_average(head):
    """The mean of many seeds is off by √(w (1 − w) / (draws · seeds)): five times that."""
    draws, seeds = 500, 200
    every = torch.stack([reweighted.drawn(head, draws, seed) for seed in range(seeds)])
    assert ((every * draws).round() / draws - every).abs().max() < 1e-12
    assert (every[:, ~head.keep] == 0).all()
    weights = torch.tensor(own(head), dtype=torch.float64)
    off = (weights * (1 - weights) / (draws * seeds)).sqrt()
    assert ((every.mean(0) - weights).abs() <= 5 * off + 1e-12).all()
    spread = every.var(0)
    expected = weights * (1 - weights) / draws
    assert float(spread.sum()) == pytest.approx(float(expected.sum()), rel=0.1)
    if head.sink is None:
        torch.testing.assert_close(every.sum(-1), torch.ones_like(every[..., 0]))


def test_the_same_seed_draws_the_same_keys_and_another_one_others():
    head = made(30)
    assert torch.equal(reweighted.drawn(head, 5, 3), reweighted.drawn(head, 5, 3))
    assert not torch.equal(reweighted.drawn(head, 5, 3), reweighted.drawn(head, 5, 4))


@pytest.mark.parametrize("rounds", [0, 2])
def test_the_work_of_passing_on_is_what_torch_counts(rounds):
    head = made(24, 8)
    with FlopCounterMode(display=False) as counted:
        _ = head.q @ head.k.T
        _ = reweighted.passed_on(head, rounds) @ head.v
    assert reweighted.adds_passed_on(24, 8, rounds) == counted.get_total_flops() / 2
