"""Kernels against loops in Python's floats: the sum over visible keys, and the state read from left to right."""

from __future__ import annotations

import math

import pytest
import torch

from attention.zoo import cosformer, kernel, linear, performer, polaformer, relu, transnormer
from tests.attention.zoo.made import by_kernel, dot, made, windowed

HEADS = [
    pytest.param(head, id=name)
    for name, head in {
        "causal": made(),
        "around": made(causal=False),
        "past a tile": made(70, 3),
        "window": windowed(made(), 3),
    }.items()
]


def elu_plus_one(x: list[float]) -> list[float]:
    return [one + 1 if one > 0 else math.exp(one) for one in x]


def positive(x: list[float]) -> list[float]:
    return [max(one, 0.0) for one in x]


def close(found: torch.Tensor, expected: list[list[float]]) -> None:
    torch.testing.assert_close(found, torch.tensor(expected, dtype=torch.float64), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("head", HEADS)
def test_linear_attention_is_the_sum_by_loops(head):
    close(linear.output(head), by_kernel(head, lambda q, k, i, j: dot(elu_plus_one(q), elu_plus_one(k))))


@pytest.mark.parametrize("head", HEADS)
def test_relu_attention_is_the_sum_by_loops(head):
    close(relu.output(head), by_kernel(head, lambda q, k, i, j: dot(positive(q), positive(k))))


@pytest.mark.parametrize("head", HEADS)
def test_cosformer_weighs_by_the_cosine_of_the_distance(head):
    n = head.n_tokens

    def similar(q, k, i, j):
        return dot(positive(q), positive(k)) * math.cos(math.pi / 2 * (i - j) / n)

    close(cosformer.output(head), by_kernel(head, similar))


def recurrence(phi_q, phi_k, v):
    """Katharopoulos et al. 2020, eq. 18 to 20: a state, and a sum of keys, grown by one token at a time."""
    features, width = len(phi_k[0]), len(v[0])
    state, total = [[0.0] * width for _ in range(features)], [0.0] * features
    rows = []
    for q, k, value in zip(phi_q, phi_k, v, strict=True):
        for f in range(features):
            total[f] += k[f]
            for c in range(width):
                state[f][c] += k[f] * value[c]
        below = dot(q, total)
        rows.append([sum(q[f] * state[f][c] for f in range(features)) / below for c in range(width)])
    return rows


@pytest.mark.parametrize("n", [1, 7, 64, 65, 130])
def test_tiles_the_masked_matrix_and_the_recurrence_agree(n):
    head = made(n, 4)
    q, k = linear.features(head.q), linear.features(head.k)
    matrix = kernel.weights(q, k, head.keep) @ head.v
    torch.testing.assert_close(kernel.mix(q, k, head.v, head), matrix, rtol=1e-12, atol=1e-14)
    close(matrix, recurrence(q.tolist(), k.tolist(), head.v.tolist()))


@pytest.mark.parametrize("tile", [1, 3, 16, 100])
def test_the_size_of_a_tile_changes_nothing(tile):
    head = made(37, 5)
    q, k = linear.features(head.q), linear.features(head.k)
    expected = (q @ k.T).tril() @ head.v
    torch.testing.assert_close(kernel.causal_sums(q, k, head.v, tile), expected, rtol=1e-12, atol=1e-12)


# -- Performer --------------------------------------------------------------------------------------------------------


def estimates(x, y, features, draws, *, orthogonal):
    """exp(x·y) as so many draws of random features estimate it: all of them made at once, and taken apart."""
    omega = performer.directions(features * draws, x.shape[1], 3, orthogonal=orthogonal)
    both = performer.positive_features(x, omega) + performer.positive_features(y, omega)
    return draws * both.exp().view(draws, features).sum(1)


def pair():
    return 0.3 * torch.randn(2, 1, 8, generator=torch.Generator().manual_seed(3), dtype=torch.float64)


@pytest.mark.parametrize("features", [16, 64, 256])
def test_the_error_of_random_features_is_the_one_of_lemma_2(features):
    """m · MSE = exp(‖x + y‖²) · SM² · (1 − exp(−‖x + y‖²)), with SM = exp(x·y), over many draws of directions."""
    x, y = pair()
    exact = math.exp(float((x * y).sum()))
    both = float((x + y).square().sum())
    expected = math.exp(both) * exact**2 * (1 - math.exp(-both))
    errors = (estimates(x, y, features, 4000, orthogonal=False) - exact) ** 2
    # the mean of 4000 squared errors is off by some 1/√(2000) of itself, more with heavy tails: three times that
    assert features * float(errors.mean()) == pytest.approx(expected, rel=0.12)


def test_orthogonal_directions_err_less_and_are_orthogonal():
    omega = performer.directions(8, 8, 1)
    off = omega @ omega.T
    assert (off - torch.diag(off.diagonal())).abs().max() < 1e-12
    x, y = pair()
    exact = math.exp(float((x * y).sum()))
    errors = {one: float(((estimates(x, y, 8, 3000, orthogonal=one) - exact) ** 2).sum()) for one in (True, False)}
    assert errors[True] < 0.95 * errors[False]


def test_a_seed_draws_its_own_directions_and_the_same_ones_each_time():
    one, other = performer.directions(10, 6, 1), performer.directions(10, 6, 2)
    assert not torch.allclose(one, other)
    performer.directions.cache_clear()  # drawn anew
    assert torch.equal(one, performer.directions(10, 6, 1))


def test_orthogonal_features_are_right_on_average():
    x, y = torch.full((1, 8), 0.2, dtype=torch.float64), torch.tensor([[0.3, -0.1] * 4], dtype=torch.float64)
    found = float(estimates(x, y, 8, 3000, orthogonal=True).mean())
    assert found == pytest.approx(math.exp(float((x * y).sum())), rel=0.02)


def test_performer_divides_what_its_features_say_by_loops():
    head = made(6, 4)
    omega = performer.directions(10, 4, 5).tolist()

    def phi(x):
        x = [one * head.scale**0.5 for one in x]
        return [math.exp(dot(w, x) - dot(x, x) / 2) / math.sqrt(10) for w in omega]

    expected = by_kernel(head, lambda q, k, i, j: dot(phi(q), phi(k)))
    close(performer.output(head, features=10, seed=5), expected)


def test_many_features_come_near_to_softmax():
    head = made(8, 4, size=0.6)

    def error(features):
        return sum(float((performer.weights(head, features, seed) - head.softmax()).norm()) for seed in range(10))

    few, some, many = error(8), error(80), error(8000)
    assert few > some > many
    assert many < few / 10  # 1/√m: a thousand times as many, thirty times less; rows of few keys have heavy tails


def test_long_vectors_do_not_overflow():
    weights = performer.weights(made(8, 4, size=12.0), 32, 0)
    assert torch.isfinite(weights).all()


# -- PolaFormer -------------------------------------------------------------------------------------------------------


def test_same_signs_less_opposite_signs_is_the_product():
    head = made(9, 6)
    same, opposite = (q @ k.T for q, k in (polaformer.features(head, 1.0, side) for side in (0, 1)))
    torch.testing.assert_close(same - opposite, head.q @ head.k.T, rtol=1e-12, atol=1e-12)
    assert (same >= 0).all()
    assert (opposite >= 0).all()


@pytest.mark.parametrize("head", HEADS)
@pytest.mark.parametrize("power", [1.0, 3.0])
def test_each_half_of_the_values_is_mixed_by_its_own_signs(head, power):
    def similar(sign):
        def of(q, k, i, j):
            return math.fsum(abs(a) ** power * abs(b) ** power for a, b in zip(q, k, strict=True) if sign * a * b > 0)

        return of

    found, half = polaformer.output(head, power, 0), -(-head.v.shape[1] // 2)
    close(found[:, :half], [row[:half] for row in by_kernel(head, similar(1))])
    close(found[:, half:], [row[half:] for row in by_kernel(head, similar(-1))])


@pytest.mark.parametrize("head", HEADS)
def test_each_gate_multiplies_its_own_half_and_1_is_neutral(head):
    plain, half = polaformer.output(head, 2.0, 0), -(-head.v.shape[1] // 2)
    gated = polaformer.output(head, 2.0, 0, 0.25, 1.5)
    close(gated[:, :half], [[0.25 * one for one in row] for row in plain[:, :half].tolist()])
    close(gated[:, half:], [[1.5 * one for one in row] for row in plain[:, half:].tolist()])
    assert torch.equal(polaformer.output(head, 2.0, 0, 1.0, 1.0), plain)
    for opposite, gate in ((0, 0.25), (1, 1.5)):
        drawn = polaformer.weights(head, 2.0, opposite, 0.25, 1.5)
        seen = head.keep.any(-1) & (drawn.sum(-1) > 0)
        torch.testing.assert_close(drawn[seen].sum(-1), torch.full_like(drawn[seen].sum(-1), gate))


# -- TransNormer ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("head", HEADS)
def test_the_norm_stands_after_the_sum(head):
    q, k, v, keep = head.q.tolist(), head.k.tolist(), head.v.tolist(), head.keep.tolist()
    rows = []
    for i in range(len(q)):
        shares = [dot(elu_plus_one(q[i]), elu_plus_one(k[j])) * keep[i][j] for j in range(len(k))]
        row = [math.fsum(s * v[j][c] for j, s in enumerate(shares)) for c in range(len(v[0]))]
        size = math.sqrt(dot(row, row) / len(row))
        rows.append([one / size for one in row])
    close(transnormer.output(head), rows)


def test_blocks_are_softmax_of_each_block_by_itself():
    head = made(11, 4)
    found = transnormer.block_weights(head, 4)
    for start in (0, 4, 8):  # the last has three tokens: eleven do not divide
        part = slice(start, min(start + 4, 11))
        alone = torch.nn.functional.scaled_dot_product_attention(
            head.q[part][None], head.k[part][None], head.v[part][None], is_causal=True
        )[0]
        torch.testing.assert_close(found[part] @ head.v, alone, rtol=1e-10, atol=1e-12)
    torch.testing.assert_close(transnormer.block_weights(head, 11), head.softmax())
