"""Rules from scores to weights against loops: sigmoid, log-n, a sink, and the difference of two maps."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
import torch

from attention.zoo import differential, log_n, off_by_one, sigmoid
from tests.attention.zoo.made import PLACES, made, softmax_loops

HEADS = [pytest.param(head, id=name) for name, head in PLACES.items()]


def close(found: torch.Tensor, expected: list[list[float]]) -> None:
    torch.testing.assert_close(found, torch.tensor(expected, dtype=torch.float64), rtol=1e-10, atol=1e-14)


@pytest.mark.parametrize("head", HEADS)
@pytest.mark.parametrize("keys", [1, 11, 500])
def test_sigmoid_weighs_each_cell_by_itself(head, keys):
    close(
        sigmoid.weights(head, keys), [[math.exp(s) / (keys + math.exp(s)) for s in row] for row in head.scores.tolist()]
    )


def test_sigmoid_of_equal_scores_shares_about_one():
    flat = replace(made(causal=False), scores=torch.zeros(11, 11, dtype=torch.float64))
    assert sigmoid.weights(flat, 11).sum(-1) == pytest.approx([11 / 12] * 11)


@pytest.mark.parametrize("head", HEADS)
@pytest.mark.parametrize("length", [2, 5, 11, 1000])
@pytest.mark.parametrize("sink", [None, 0.5])
def test_log_n_is_softmax_of_scores_times_the_ratio_of_logarithms(head, length, sink):
    scores = []
    for row in head.scores.tolist():
        factor = math.log(sum(s > -math.inf for s in row)) / math.log(length)
        scores.append([s * factor if s > -math.inf else s for s in row])
    close(log_n.weights(replace(head, sink=sink), length), softmax_loops(scores, sink))


def test_a_row_of_as_many_keys_as_the_length_is_unchanged():
    head = made()
    torch.testing.assert_close(log_n.weights(head, 7)[6], head.softmax()[6])
    assert not torch.allclose(log_n.weights(head, 7)[10], head.softmax()[10])


@pytest.mark.parametrize("head", HEADS)
@pytest.mark.parametrize("sink", [-3.0, 0.0, 8.0])
def test_a_sink_is_one_more_key_without_a_value(head, sink):
    close(off_by_one.weights(head, sink), softmax_loops(head.scores.tolist(), sink))
    column = torch.full((head.n_tokens, 1), sink, dtype=torch.float64)
    whole = torch.cat([head.scores, column], dim=1).softmax(-1)
    nothing = torch.cat([head.v, torch.zeros_like(head.v[:1])])
    torch.testing.assert_close(off_by_one.weights(head, sink) @ head.v, whole @ nothing)


@pytest.mark.parametrize("head", HEADS)
@pytest.mark.parametrize("share", [0.0, 0.8, 1.0])
def test_differential_attention_is_one_map_less_a_share_of_the_other(head, share):
    assert head.beside is not None
    first, second = softmax_loops(head.scores.tolist()), softmax_loops(head.beside.tolist())
    close(
        differential.weights(head, share),
        [[a - share * b for a, b in zip(*rows, strict=True)] for rows in zip(first, second, strict=True)],
    )


def test_the_heads_own_softmax_is_torchs_also_with_a_sink():
    head = made()
    theirs = torch.nn.functional.scaled_dot_product_attention(head.q[None], head.k[None], head.v[None], is_causal=True)[
        0
    ]
    torch.testing.assert_close(head.softmax() @ head.v, theirs)
    close(replace(head, sink=1.5).softmax(), softmax_loops(head.scores.tolist(), 1.5))
