"""Latent attention against loops: at full rank softmax, below it the nearest keys and values of that rank."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from attention.zoo import mla
from tests.attention.zoo.made import dot, made, mixed, softmax_loops, turns_of, windowed


@pytest.mark.parametrize("head", [made(), made(causal=False), windowed(made(), 3), made(30, 4, width=3)])
def test_a_latent_of_full_rank_is_softmax(head):
    torch.testing.assert_close(mla.output(head, head.n_tokens), head.softmax() @ head.v, rtol=1e-12, atol=1e-13)
    torch.testing.assert_close(mla.weights(head, head.n_tokens), head.softmax(), rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("rank", [1, 3, 7])
def test_what_is_rebuilt_is_as_near_as_its_rank_allows(rank):
    """Eckart & Young: the error is the singular values left out, and no other compression of that length is nearer."""
    layer = made().layer
    assert layer is not None
    kept, up = mla.latent(layer, rank)
    assert (kept.shape, up.shape) == ((11, rank), (rank, 24))
    error = float((kept @ up - layer.rows).norm())
    sizes = torch.linalg.eigvalsh(layer.rows @ layer.rows.T).clamp(min=0).sqrt().flip(0)
    assert error == pytest.approx(float((sizes[rank:] ** 2).sum().sqrt()), rel=1e-9)
    assert mla.left_out(layer, rank) == pytest.approx(error / float(layer.rows.norm()))
    for seed in range(5):  # the best latent for another down-projection, found by least squares
        other = layer.rows @ torch.randn(24, rank, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
        best = other @ torch.linalg.lstsq(other, layer.rows).solution
        assert float((best - layer.rows).norm()) > error


@pytest.mark.parametrize("rank", [1, 4, 9])
def test_the_output_is_softmax_of_turned_rebuilt_keys_in_loops(rank):
    head = windowed(made(), 5)
    layer, turns = head.layer, turns_of(head.k.shape[1])
    assert layer is not None
    values, vectors = torch.linalg.eigh(layer.rows.T @ layer.rows)
    basis = vectors[:, values.argsort(descending=True)[:rank]]
    rebuilt = (layer.rows @ basis @ basis.T).tolist()
    (theta, pairs), d = (turns[0].tolist(), turns[1].tolist()), head.k.shape[1]
    keys, own_values = [], []
    for at, row in enumerate(rebuilt):
        key = row[d : 2 * d]  # of two heads the second's
        for angle, (a, b) in zip(theta, pairs, strict=True):
            turn = torch.polar(torch.ones((), dtype=torch.float64), torch.tensor(at * angle, dtype=torch.float64))
            turned = complex(key[a], key[b]) * complex(turn)
            key[a], key[b] = turned.real, turned.imag
        keys.append(key)
        own_values.append(row[3 * d : 4 * d])
    q, keep = head.q.tolist(), head.keep.tolist()
    scores = [
        [dot(q[i], keys[j]) * head.scale if keep[i][j] else -torch.inf for j in range(len(keys))] for i in range(len(q))
    ]
    expected = torch.tensor(mixed(softmax_loops(scores), own_values), dtype=torch.float64)
    torch.testing.assert_close(mla.output(head, rank), expected, rtol=1e-9, atol=1e-11)


def test_without_positions_nothing_is_turned():
    head = made()
    assert head.layer is not None
    still = replace(head, layer=replace(head.layer, turn=lambda x: x))
    assert not torch.allclose(mla.output(still, 3), mla.output(head, 3))
