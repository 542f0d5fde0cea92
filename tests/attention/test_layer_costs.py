"""The table of layer types: paths by formula are those that are counted, and work is that of loops."""

from __future__ import annotations

import pytest

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
    long = 40
    assert BY_NAME["restricted"].work(long, d) == 2 * long * (2 * NEAR + 1) * d
    assert BY_NAME["restricted"].work(n, d) == BY_NAME["attention"].work(n, d)


def test_attention_is_less_work_than_a_recurrent_net_until_the_text_is_as_long_as_a_vector():
    attention, recurrent = BY_NAME["attention"], BY_NAME["recurrent"]
    assert attention.work(255, 256) < recurrent.work(255, 256)
    assert attention.work(256, 256) == recurrent.work(256, 256)
