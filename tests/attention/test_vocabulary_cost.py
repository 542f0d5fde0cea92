"""Costs by formula are those that are counted, on torch's own module and on a whole tree."""

from __future__ import annotations

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from attention.vocabulary_cost import (
    CUTOFFS,
    DIVISOR,
    VOCABULARIES,
    adaptive_cost,
    adaptive_parts,
    balanced_depths,
    counted_adaptive,
    counted_full,
    counted_tree,
    full_cost,
    mean_depth,
    tree_cost,
    zipf,
)  # fmt: skip


@pytest.mark.parametrize("n", [1, 2, 3, 5, 64, 100, *VOCABULARIES])
def test_the_mean_depth_is_that_of_every_leaf(n):
    depths = balanced_depths(n)
    assert len(depths) == n
    assert sum(2.0**-depth for depth in depths) == pytest.approx(1)  # Kraft: the tree is whole
    assert mean_depth(n) == pytest.approx(sum(depths) / n, rel=1e-12)


@pytest.mark.parametrize("n", VOCABULARIES)
def test_the_adaptive_parts_are_the_products_of_torchs_module(n):
    d, cutoffs = 64, [cutoff for cutoff in CUTOFFS if cutoff < n]
    with torch.device("meta"):
        module = torch.nn.AdaptiveLogSoftmaxWithLoss(d, n, cutoffs, div_value=DIVISOR)
    head, clusters = adaptive_parts(n, d)
    assert head == module.head.weight.numel()
    assert clusters == [sum(weight.numel() for weight in tail.parameters()) for tail in module.tail]


@pytest.mark.parametrize("n", [1, 5, 1_999, *VOCABULARIES])
@pytest.mark.parametrize("d", [16, 64])
def test_every_formula_gives_what_is_counted(n, d):
    assert full_cost(n, d) == counted_full(n, d)
    assert tree_cost(n, d) == pytest.approx(counted_tree(n, d), rel=1e-12)
    assert adaptive_cost(n, d) == pytest.approx(counted_adaptive(n, d), rel=1e-9)


def test_a_full_softmax_multiplies_every_number_of_the_vector_once_for_every_token():
    n, d = 7, 3
    weights, vector, made = [[1.0] * d for _ in range(n)], [2.0] * d, 0
    for row in weights:
        for weight, number in zip(row, vector, strict=True):
            _ = weight * number
            made += 1
    assert full_cost(n, d) == counted_full(n, d) == made


@pytest.mark.parametrize("n", VOCABULARIES)
def test_torchs_own_forward_opens_the_head_and_the_cluster_of_the_token_alone(n):
    d, edges = 16, [0, *(cutoff for cutoff in CUTOFFS if cutoff < n)]
    module = torch.nn.AdaptiveLogSoftmaxWithLoss(d, n, edges[1:], div_value=DIVISOR)
    head, clusters = adaptive_parts(n, d)
    for edge, cluster in zip(edges, [0, *clusters], strict=True):
        for token in (edge, edge + 7):
            with FlopCounterMode(display=False) as counted, torch.no_grad():
                module(torch.ones(1, d), torch.tensor([token]))
            assert counted.get_total_flops() == 2 * (head + cluster)


def test_the_mean_is_over_tokens_by_their_frequency():
    n, d = 12_000, 32
    head, clusters = adaptive_parts(n, d)
    shares = zipf(n)
    assert sum(shares) == pytest.approx(1)
    assert shares[0] == pytest.approx(10 * shares[9])
    expected = sum(
        share * (head + (0 if rank < 2_000 else clusters[0] if rank < 10_000 else clusters[1]))
        for rank, share in enumerate(shares)
    )
    assert adaptive_cost(n, d) == pytest.approx(expected, rel=1e-9)
    assert tree_cost(n, d) < adaptive_cost(n, d) < full_cost(n, d) == n * d
