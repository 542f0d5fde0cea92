"""The table of layer types: path lengths by formula equal counted ones, and work equals loops."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from attention.layer_costs import KERNEL, LAYERS, NEAR, counted_path

BY_NAME = {layer.name: layer for layer in LAYERS}


@pytest.mark.parametrize("layer", LAYERS, ids=lambda layer: layer.name)
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 9, 13, 14, 40, 41, 100, 200])
def test_the_path_by_formula_is_the_one_counted(layer, n):
    assert layer.path(n) == counted_path(layer, n)


def test_the_work_is_what_loops_count():
    n, d = 7, 5
    scores_and_mix = sum(d + d for _query in range(n) for _key in range(n))
    assert BY_NAME["attention"].work(n, d) == scores_and_mix
    assert BY_NAME["recurrent"].work(n, d) == sum(1 for _t in range(n) for _i in range(d) for _j in range(2 * d))
    assert BY_NAME["convolution"].work(n, d) == sum(KERNEL for _t in range(n) for _i in range(d) for _j in range(d))
    for long in (1, 2, NEAR, NEAR + 1, 2 * NEAR + 1, 40):
        near = sum(abs(query - key) <= NEAR for query in range(long) for key in range(long))
        assert BY_NAME["restricted"].work(long, d) == 2 * near * d
    assert BY_NAME["restricted"].work(n, d) == BY_NAME["attention"].work(n, d)


def test_attention_is_less_work_than_a_recurrent_net_until_the_text_is_as_long_as_a_vector():
    attention, recurrent = BY_NAME["attention"], BY_NAME["recurrent"]
    assert attention.work(255, 256) < recurrent.work(255, 256)
    assert attention.work(256, 256) == recurrent.work(256, 256)


D = 4


def _attention(x: Tensor) -> Tensor:
    return torch.softmax(x @ x.T, dim=1) @ x


def _restricted(x: Tensor) -> Tensor:
    places = torch.arange(len(x))
    near = (places[:, None] - places[None]).abs() <= NEAR
    return torch.softmax((x @ x.T).masked_fill(~near, -torch.inf), dim=1) @ x


def _recurrent(x: Tensor) -> Tensor:
    cell, hidden, made = nn.RNNCell(D, D), torch.zeros(D), list[Tensor]()
    for token in x:
        hidden = cell(token, hidden)
        made.append(hidden)
    return torch.stack(made)


def _convolution(x: Tensor) -> Tensor:
    padded = nn.functional.pad(x.T[None], (KERNEL - 1, 0))
    return nn.Conv1d(D, D, KERNEL)(padded)[0].T


def _longest_chain(made: Tensor) -> int:
    """Of operations that wait for one another, in the graph that torch keeps of them."""
    depth: dict[object, int] = {None: 0}
    waiting: list[tuple[object, bool]] = [(made.grad_fn, False)]
    while waiting:
        node, seen = waiting.pop()
        if node in depth:
            continue
        before = [other for other, _ in node.next_functions]  # type: ignore[attr-defined]  # a node of autograd
        if seen:
            depth[node] = 1 + max((depth[other] for other in before), default=0)
        else:
            waiting += [(node, True), *((other, False) for other in before)]
    return depth[made.grad_fn]


@pytest.mark.parametrize(
    "name, layer",
    [("attention", _attention), ("restricted", _restricted), ("recurrent", _recurrent), ("convolution", _convolution)],
)
@pytest.mark.parametrize("n", [1, 2, 5, 40])
def test_what_runs_in_parallel_is_counted_from_the_steps_that_wait_for_one_another(name, layer, n):
    one, two, many = (_longest_chain(layer(torch.randn(tokens, D, requires_grad=True))) for tokens in (1, 2, n))
    a_token = two - one  # what one more token adds to the chain: nothing, where all tokens are made at once
    steps = 1 if a_token == 0 else 1 + (many - one) / a_token
    assert a_token > 0 or many == one
    assert BY_NAME[name].sequential(n) == steps
    assert (BY_NAME[name].orders[1] == "O(1)") == (a_token == 0)
