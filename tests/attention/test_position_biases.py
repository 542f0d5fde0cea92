"""Position terms equal their formulas written as loops, and transformers' implementations."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor
from transformers.models.bloom.modeling_bloom import build_alibi_tensor
from transformers.models.t5.modeling_t5 import T5Attention

from attention import position_biases as biases
from attention import rotary

EXACT = 1e-12
D_MODEL = 16


def noise(*shape: int) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(0), dtype=torch.float64)


def test_the_grid_counts_from_the_key_to_the_query() -> None:
    assert biases.distance_grid(3).tolist() == [[0, -1, -2], [1, 0, -1], [2, 1, 0]]


def test_sinusoidal_positions_are_those_of_the_formula() -> None:
    found = biases.sinusoidal(torch.arange(40), D_MODEL)
    for position in (0, 1, 39):
        for i in range(D_MODEL // 2):
            angle = position / 10000 ** (2 * i / D_MODEL)
            assert float(found[position, 2 * i]) == pytest.approx(math.sin(angle), abs=EXACT)
            assert float(found[position, 2 * i + 1]) == pytest.approx(math.cos(angle), abs=EXACT)


@pytest.mark.parametrize("by", [1, 5, -2, 300, 0.5])
def test_a_shift_of_sinusoidal_positions_is_one_rotation_for_all(by: float) -> None:
    matrix = biases.sinusoidal_shift(by, D_MODEL)
    here, there = biases.sinusoidal(torch.arange(50), D_MODEL), biases.sinusoidal(torch.arange(50) + by, D_MODEL)
    torch.testing.assert_close(here @ matrix.T, there, atol=1e-11, rtol=0)
    torch.testing.assert_close(matrix @ matrix.T, torch.eye(D_MODEL, dtype=torch.float64), atol=EXACT, rtol=0)
    assert float(torch.linalg.det(matrix)) == pytest.approx(1, abs=EXACT)


def test_the_sinusoidal_term_is_the_product_of_two_positions() -> None:
    vectors = biases.sinusoidal(torch.arange(30), D_MODEL)
    found = biases.sinusoidal_term(biases.distance_grid(30), D_MODEL)
    torch.testing.assert_close(found, vectors @ vectors.T, atol=EXACT, rtol=0)


def test_the_learned_term_is_the_product_of_two_rows_and_its_mean_runs_along_diagonals() -> None:
    table = noise(5, 3)
    term = biases.learned_term(table)
    assert float(term[3, 1]) == pytest.approx(math.fsum(float(a * b) for a, b in zip(table[3], table[1], strict=True)))
    means = biases.mean_by_distance(term)
    for distance in range(5):
        expected = [float(term[m, m - distance]) for m in range(distance, 5)]
        assert float(means[distance]) == pytest.approx(math.fsum(expected) / len(expected), abs=EXACT)


@pytest.mark.parametrize("n_buckets, max_distance", [(32, 128), (16, 64), (8, 100)])
@pytest.mark.parametrize("bidirectional", [True, False])
def test_buckets_are_those_of_transformers_t5(bidirectional: bool, n_buckets: int, max_distance: int) -> None:
    distances = torch.arange(-600, 601)
    theirs = T5Attention._relative_position_bucket(
        -distances, bidirectional=bidirectional, num_buckets=n_buckets, max_distance=max_distance
    )
    found = biases.t5_buckets(distances, bidirectional=bidirectional, n_buckets=n_buckets, max_distance=max_distance)
    assert torch.equal(found, theirs)


def test_buckets_grow_with_the_distance_and_use_every_number() -> None:
    causal = biases.t5_buckets(torch.arange(0, 500), bidirectional=False)
    assert (causal.diff() >= 0).all()
    assert causal.unique().tolist() == list(range(32))
    assert biases.t5_buckets(torch.tensor([-1, -100]), bidirectional=False).tolist() == [0, 0]
    both = biases.t5_buckets(torch.arange(-500, 501), bidirectional=True)
    assert both.unique().tolist() == [*range(16), *range(17, 32)]  # distance 0 is no key after the query: 16 stays free


def test_a_bias_is_the_tables_number_of_the_bucket_for_every_head() -> None:
    table = noise(32, 4)
    grid = biases.distance_grid(150)
    found = biases.t5_bias(grid, table, bidirectional=False)
    assert found.shape == (4, 150, 150)
    for query, key in ((0, 0), (3, 1), (149, 0), (0, 149)):
        bucket = int(biases.t5_buckets(torch.tensor([query - key]), bidirectional=False))
        assert torch.equal(found[:, query, key], table[bucket])


@pytest.mark.parametrize("n_heads", [1, 2, 3, 6, 8, 12, 16, 20, 71])
def test_slopes_are_those_of_bloom(n_heads: int) -> None:
    theirs = build_alibi_tensor(torch.ones(1, 7), n_heads, torch.float32)[:, 0]  # slope × position of the key
    found = biases.alibi_slopes(n_heads)
    torch.testing.assert_close(found[:, None] * torch.arange(7), theirs.double(), atol=0, rtol=1e-5)


def test_slopes_of_eight_heads_halve_from_head_to_head() -> None:
    assert biases.alibi_slopes(8).tolist() == [2.0**-h for h in range(1, 9)]


def test_alibi_lowers_a_score_by_the_slope_for_every_token_between() -> None:
    slopes = biases.alibi_slopes(4)
    matrix = biases.alibi(biases.distance_grid(6), slopes)
    assert matrix.shape == (4, 6, 6)
    for head in range(4):
        for query in range(6):
            for key in range(query + 1):
                assert float(matrix[head, query, key]) == -float(slopes[head]) * (query - key)
    rows = matrix - build_alibi_tensor(torch.ones(1, 6), 4, torch.float32).double()  # theirs differs by row only
    torch.testing.assert_close(rows, rows[..., :1].expand(-1, -1, 6), atol=1e-6, rtol=0)


def test_no_heads_have_no_slopes() -> None:
    with pytest.raises(ValueError, match="0 heads have no slopes"):
        biases.alibi_slopes(0)


def test_the_rotary_term_is_the_product_of_equal_contents() -> None:
    theta, pairs = rotary.frequencies(1e4, 8), rotary.pairs_of(8, "half")
    content = torch.zeros(1, 6, 8, dtype=torch.float64)
    content[..., :4] = 0.5  # length 1, spread evenly over the four pairs
    turned = rotary.rotate(content, rotary.angles_at(torch.arange(6), theta), pairs)[0]
    found = biases.rotary_term(biases.distance_grid(6), theta)
    torch.testing.assert_close(found, turned @ turned.T, atol=EXACT, rtol=0)


def test_the_table_names_each_scheme_once_with_its_paper() -> None:
    names = [scheme.name for scheme in biases.POSITIONS]
    assert names == ["sinusoidal", "learned", "t5", "alibi", "rotary"]
    for scheme in biases.POSITIONS:
        assert "arXiv:" in scheme.paper
        assert all([scheme.label, scheme.enters, scheme.stores, scheme.depends, scheme.extrapolates])
