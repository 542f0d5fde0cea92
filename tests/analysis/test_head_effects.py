"""Which heads matter: each answer against plain hooks or slow loops, and the ranks that compare them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch

from analysis.head_effects import LayerEffects, head_effects, layer_effects, rank_correlation, ranking
from model_runner import CaptureRequest
from model_runner.local.answers.attribution import NOT_ADDED
from model_runner.questions import WhichHeads
from tests.model_runner.cases import FAMILY, TEXT, runner_of
from tests.model_runner.tiny import D_HEAD, N_HEADS, N_LAYERS, byte_tokenizer

TARGET = 101


def effects_of(name, text=TEXT):
    """The three maps of a family, as the page computes them."""
    runner = runner_of(FAMILY[name])
    capture = runner.capture(CaptureRequest(text=text))
    layers = [
        layer_effects(runner.submit(WhichHeads(capture.request, layer, TARGET)).result())
        for layer in range(capture.n_layers)
        if capture.has_weights(layer)
    ]
    return capture, layers, head_effects(layers, capture.n_layers, capture.n_heads)


def test_what_is_lost_is_what_a_hook_that_zeroes_the_heads_slice_loses():
    """float32 logits of order 1, each off by some 1e-6, and the log-sum-exp of them: 1e-5."""
    _, _, effects = effects_of("llama")
    model: Any = FAMILY["llama"].build()
    ids = torch.tensor([byte_tokenizer()(TEXT).input_ids])

    def log_prob():
        with torch.no_grad():
            return float(torch.log_softmax(model(ids).logits[0, -1].double(), dim=-1)[TARGET])

    plain = log_prob()
    for layer in range(N_LAYERS):
        for head in range(N_HEADS):

            def zero(_module, args, head=head):
                x = args[0].clone()
                x[..., head * D_HEAD : (head + 1) * D_HEAD] = 0.0
                return (x,)

            hook = model.model.layers[layer].self_attn.o_proj.register_forward_pre_hook(zero)
            assert effects.lost[layer, head] == pytest.approx(plain - log_prob(), abs=1e-5)
            hook.remove()


@pytest.mark.parametrize("name", ["llama", "gpt2", "granite"])
def test_pushed_and_written_are_the_captures_own_push_and_the_heads_slice_of_the_projection(name):
    capture, _, effects = effects_of(name)
    model: Any = FAMILY[name].build().requires_grad_(False)
    for layer in range(N_LAYERS):
        for head in range(N_HEADS):
            push = capture.direct_logits(layer, head, -1).double()
            assert effects.pushed[layer, head] == pytest.approx(float(push[TARGET] - push.mean()), abs=1e-6)
            if name == "gpt2":
                columns = model.transformer.h[layer].attn.c_proj.weight.T
            else:
                columns = model.model.layers[layer].self_attn.o_proj.weight
            weighted = capture.weights(layer, head)[-1] @ capture.v(layer)[head // capture.record(layer).group]
            added = columns[:, head * D_HEAD : (head + 1) * D_HEAD].double() @ weighted.double()
            factor = getattr(model.config, "residual_multiplier", 1.0)
            assert effects.written[layer, head] == pytest.approx(factor * float(added.norm()), rel=1e-5)


def test_a_layer_without_attention_is_empty_and_the_others_are_not():
    _, _, effects = effects_of("jamba")
    for values in (effects.lost, effects.pushed, effects.written):
        assert np.isnan(values[0]).all()
        assert np.isfinite(values[1]).all()


def test_a_family_without_attribution_is_ablated_all_the_same_and_says_why():
    _, layers, effects = effects_of("gemma2")
    assert np.isfinite(effects.lost).all()
    assert np.isnan(effects.pushed).all()
    assert np.isnan(effects.written).all()
    assert [error.values for error in layers[0].problems] == [{"reason": NOT_ADDED}]


def test_maps_hold_the_layers_that_are_done_and_fewer_heads_than_the_most():
    done = LayerEffects(1, np.array([1.0, -2.0]), np.array([3.0, 4.0]), np.array([5.0, 6.0]))
    effects = head_effects([done], 3, 4)
    assert effects.lost.shape == (3, 4)
    np.testing.assert_array_equal(effects.lost[1], [1.0, -2.0, np.nan, np.nan])
    np.testing.assert_array_equal(effects.written[1], [5.0, 6.0, np.nan, np.nan])
    assert np.isnan(effects.lost[[0, 2]]).all()


def test_the_ranking_is_the_changes_sorted_by_size_without_what_is_not_there():
    values = np.random.default_rng(0).normal(size=(4, 5))
    values[2, 3] = np.nan
    expected = sorted(
        ((layer, head) for layer in range(4) for head in range(5) if not math.isnan(values[layer, head])),
        key=lambda place: -abs(values[place]),
    )
    assert ranking(values, 99) == tuple(expected)
    assert ranking(values, 3) == tuple(expected[:3])
    assert ranking(np.array([[1.0, -1.0], [1.0, 0.5]]), 3) == ((0, 0), (0, 1), (1, 0))


def slow_spearman(first, second):
    """By counting, in loops: a rank is one more than how many are smaller, plus half of the other equal ones."""
    pairs = [(a, b) for a, b in zip(first, second, strict=True) if not (math.isnan(a) or math.isnan(b))]
    ranks = []
    for side in (0, 1):
        values = [pair[side] for pair in pairs]
        ranks.append([1 + sum(o < v for o in values) + (sum(o == v for o in values) - 1) / 2 for v in values])
    means = [sum(rank) / len(rank) for rank in ranks]
    moved = [[value - mean for value in rank] for rank, mean in zip(ranks, means, strict=True)]
    product = sum(a * b for a, b in zip(*moved, strict=True))
    return product / math.sqrt(math.prod(sum(value * value for value in one) for one in moved))


@pytest.mark.parametrize("seed", range(5))
def test_rank_correlation_is_the_slow_loops_with_ties_and_gaps(seed):
    generator = np.random.default_rng(seed)
    first, second = (generator.integers(0, 6, 30).astype(float) for _ in range(2))
    first[3] = second[7] = np.nan
    assert rank_correlation(first, second) == pytest.approx(slow_spearman(first, second), abs=1e-12)


def test_rank_correlation_sees_order_only_and_is_not_defined_for_a_constant():
    values = np.array([0.1, 2.0, -3.0, 40.0])
    assert rank_correlation(values, np.exp(values)) == pytest.approx(1.0)
    assert rank_correlation(values, -values) == pytest.approx(-1.0)
    assert math.isnan(rank_correlation(values, np.ones(4)))
    assert math.isnan(rank_correlation(np.full(4, np.nan), values))
