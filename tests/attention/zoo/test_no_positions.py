"""Attention without positions against loops that undo the turns with complex numbers."""

from __future__ import annotations

import cmath
from dataclasses import replace

import pytest
import torch

from attention.zoo import no_positions
from tests.attention.zoo.made import dot, made, softmax_loops, turns_of, windowed


@pytest.mark.parametrize("head", [made(), made(causal=False), windowed(made(17), 5), replace(made(), sink=0.5)])
def test_queries_and_keys_meet_as_if_all_stood_at_one_place(head):
    theta, pairs = (one.tolist() for one in turns_of(head.k.shape[1]))

    def back(row: list[float], at: int) -> list[float]:
        row = [*row]
        for angle, (a, b) in zip(theta, pairs, strict=True):
            before = complex(row[a], row[b]) * cmath.exp(-1j * at * angle)
            row[a], row[b] = before.real, before.imag
        return row

    q, k = ([back(row, at) for at, row in enumerate(one.tolist())] for one in (head.q, head.k))
    keep, places = head.keep.tolist(), range(len(q))
    scores = [[dot(q[i], k[j]) * head.scale if keep[i][j] else -torch.inf for j in places] for i in places]
    expected = torch.tensor(softmax_loops(scores, head.sink), dtype=torch.float64)
    torch.testing.assert_close(no_positions.weights(head), expected, rtol=1e-11, atol=1e-12)


def test_where_nothing_is_turned_it_is_softmax():
    head = made()
    still = replace(head, layer=replace(head.layer, k=torch.stack([head.k, head.k]), turn_back=lambda x: x))
    torch.testing.assert_close(no_positions.weights(still), head.softmax(), rtol=1e-12, atol=1e-13)
