"""AWRSR's rules against loops of Python's own floats, and what must be so of any refined map."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from attention.zoo import awrsr
from tests.attention.zoo.made import PLACES, dot, made, softmax_loops

HEADS = [pytest.param(head, id=name) for name, head in {**PLACES, "sink": replace(made(), sink=0.5)}.items()]
EVERY = (awrsr.simple, awrsr.by_values, awrsr.added, awrsr.stochastic)
Rows = list[list[float]]


def close(found: torch.Tensor, expected: Rows) -> None:
    torch.testing.assert_close(found, torch.tensor(expected, dtype=torch.float64), rtol=1e-10, atol=1e-13)


def own(head) -> Rows:
    return softmax_loops(head.scores.tolist(), head.sink)


def new_weights(head, products: Rows) -> Rows:
    """softmax(mask(products / √n)), a row at a time."""
    n, found = head.n_tokens, []
    for i, row in enumerate(products):
        powers = [math.exp(row[j] / math.sqrt(n)) if head.keep[i, j] else 0.0 for j in range(n)]
        found.append([one / math.fsum(powers) for one in powers])
    return found


def times(rows: Rows, matrix: Rows) -> Rows:
    columns = list(zip(*matrix, strict=True))
    return [[dot(row, list(column)) for column in columns] for row in rows]


def refined(head, turns: list[Rows]) -> Rows:
    rows = own(head)
    queries, keys = (times(rows, turn) for turn in turns[:2])
    return new_weights(head, [[dot(q, k) for k in keys] for q in queries])


def identities(n: int, count: int) -> list[Rows]:
    return [torch.eye(n).tolist()] * count


def drawn(n: int, seed: int, count: int) -> list[Rows]:
    """The matrices of this seed, as the generator gives them: Gram and Schmidt, one column after the other."""
    chance, found = torch.Generator().manual_seed(seed), []
    for _ in range(count):
        noise, columns = torch.randn(n, n, generator=chance, dtype=torch.float64).T.tolist(), []
        for column in noise:
            for _twice in range(2):  # once leaves rounding in
                for done in columns:
                    share = dot(column, done)
                    column = [a - share * b for a, b in zip(column, done, strict=True)]
            length = math.sqrt(dot(column, column))
            columns.append([a / length for a in column])
        found.append([list(row) for row in zip(*columns, strict=True)])
    return found


def inside(head, rows: Rows) -> Rows:
    """What a window hides shared out over the rest of its row."""
    seen = [[x if keep else 0.0 for x, keep in zip(*pair, strict=True)] for pair in zip(rows, head.keep, strict=True)]
    return [[x * math.fsum(row) / math.fsum(rest) for x in rest] for row, rest in zip(rows, seen, strict=True)]


@pytest.mark.parametrize("head", HEADS)
@pytest.mark.parametrize("turned", [0, 1])
def test_every_rule_is_what_its_formula_says(head, turned):
    n, rows = head.n_tokens, own(head)
    turns = drawn(n, 3, 4) if turned else identities(n, 4)
    simple = refined(head, turns)
    close(awrsr.simple(head, turned, 3), simple)
    close(awrsr.by_values(head, turned, 3), inside(head, times(simple, rows)))
    both = [[a + b for a, b in zip(*pair, strict=True)] for pair in zip(rows, simple, strict=True)]
    close(awrsr.added(head, turned, 3), [[one / math.fsum(row) for one in row] for row in both])


@pytest.mark.parametrize("head", HEADS)
@pytest.mark.parametrize("turned", [0, 1])
def test_the_stochastic_rule_is_the_distance_between_two_normal_distributions(head, turned):
    n, rows = head.n_tokens, own(head)
    turns = drawn(n, 5, 4) if turned else identities(n, 4)
    query_means, key_means = (times(rows, turn) for turn in turns[:2])
    query_spreads, key_spreads = (
        [[math.sqrt((x if x > 0 else math.expm1(x)) + 1) for x in row] for row in times(rows, turn)]
        for turn in turns[2:]
    )

    def distance(i: int, j: int) -> float:
        means = [(a - b) ** 2 for a, b in zip(query_means[i], key_means[j], strict=True)]
        return math.fsum(means + [(a - b) ** 2 for a, b in zip(query_spreads[i], key_spreads[j], strict=True)])

    close(
        awrsr.stochastic(head, turned, 5),
        new_weights(head, [[-distance(i, j) for j in range(n)] for i in range(n)]),
    )


@pytest.mark.parametrize("head", HEADS)
@pytest.mark.parametrize("rule", EVERY)
@pytest.mark.parametrize("turned", [0, 1])
def test_rows_are_shares_of_what_the_mask_shows(head, rule, turned):
    found = rule(head, turned, 0)
    assert (found >= 0).all()
    assert (found[~head.keep] == 0).all()
    if head.sink is None or rule is not awrsr.by_values:  # which takes over rows that a sink has a part of
        torch.testing.assert_close(found.sum(-1), torch.ones(head.n_tokens, dtype=torch.float64))


def test_one_hot_rows_refine_to_nearly_the_same_share_for_all_others():
    order = [2, 0, 3, 1]
    scores = torch.full((4, 4), -1e9, dtype=torch.float64)
    scores[torch.arange(4), order] = 0.0
    found = awrsr.simple(replace(made(4, causal=False), scores=scores), 0, 0)  # B is the identity over √4
    self, other = math.exp(0.5) / (math.exp(0.5) + 3), 1 / (math.exp(0.5) + 3)
    expected = torch.full((4, 4), other, dtype=torch.float64).fill_diagonal_(self)
    torch.testing.assert_close(found, expected)
    alike = replace(made(4, causal=False), scores=torch.zeros(4, 4, dtype=torch.float64))
    torch.testing.assert_close(awrsr.simple(alike, 0, 0), torch.full((4, 4), 0.25, dtype=torch.float64))


def test_a_seed_turns_the_rows_in_its_own_way_and_a_turn_of_both_the_same_way_changes_nothing():
    head = made(9)
    assert torch.equal(awrsr.simple(head, 1, 4), awrsr.simple(head, 1, 4))
    assert not torch.allclose(awrsr.simple(head, 1, 4), awrsr.simple(head, 1, 5))
    turn = torch.tensor(drawn(9, 4, 1)[0], dtype=torch.float64)
    torch.testing.assert_close(turn @ turn.T, torch.eye(9, dtype=torch.float64), atol=1e-12, rtol=0)
    same = (head.softmax() @ turn) @ (head.softmax() @ turn).T
    torch.testing.assert_close(same, head.softmax() @ head.softmax().T)


@pytest.mark.parametrize("rule, adds", [
    (awrsr.simple, awrsr.adds_simple), (awrsr.by_values, awrsr.adds_by_values), (awrsr.added, awrsr.adds_simple),
    (awrsr.stochastic, awrsr.adds_stochastic),
])  # fmt: skip  # a pair a rule
@pytest.mark.parametrize("turned", [0, 1])
def test_the_work_is_what_torch_counts(rule, adds, turned):
    head = made(24, 8)
    with FlopCounterMode(display=False) as counted:
        _ = head.q @ head.k.T
        _ = rule(head, turned, 0) @ head.v
    assert adds(24, 8, turned, 0) == counted.get_total_flops() / 2
