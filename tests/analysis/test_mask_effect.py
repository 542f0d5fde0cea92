"""Attention cut by a mask, perplexity and queries without keys, against loops and by hand."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
import torch

from analysis.mask_effect import cut_mass, left_with_nothing, looks_ahead, perplexity
from attention import masks
from attention.patterns import BY_NAME
from model_runner import CaptureRequest
from model_runner.edits import Blocked, Masked
from model_runner.errors import CapturesDiffer
from model_runner.mask_rule import CAUSAL, FULL, MaskRule
from tests.analysis.made import causal_noise, embedded, made_capture

N = 9
TEXT = "The dog chased the squirrel because it was hungry."


@pytest.mark.parametrize("heads", [None, (1,)])
def test_cut_is_the_weight_before_on_cells_hidden_after_on_average(heads):
    weights = causal_noise(N, layers=2, heads=3, seed=1)
    rule = MaskRule(masks.Causal(), edits=(Masked("window", (("window", 3),), heads=heads),))
    found = cut_mass(made_capture(weights), made_capture(weights, mask=rule))
    for layer in range(2):
        for head in range(3):
            total = 0.0
            for query in range(N):
                for key in range(N):
                    if query - key >= 3 and (heads is None or head in heads):
                        total += float(weights[layer, head, query, key])
            assert found[layer, head] == pytest.approx(total / N, abs=1e-6)


def test_nothing_is_cut_by_full_attention_and_a_layer_without_weights_is_not_defined():
    weights = causal_noise(N, layers=2, seed=2)
    capture = made_capture(weights, without=[1])
    found = cut_mass(capture, capture)
    assert found[0, 0] == 0.0
    assert np.isnan(found[1]).all()


def test_captures_of_other_tokens_are_not_compared():
    weights = causal_noise(3)
    with pytest.raises(CapturesDiffer, match="different tokens"):
        cut_mass(made_capture(weights), made_capture(weights, ids=[7, 8, 9]))


def test_on_the_model_only_the_named_layers_lose_attention():
    runner = embedded()
    request = CaptureRequest(text=TEXT)
    before = runner.capture(request)
    after = runner.capture(CaptureRequest(text=TEXT, edits=(Masked("window", (("window", 2),), (1, 3), (0,)),)))
    found = cut_mass(before, after)
    cut = {(layer, head) for layer, head in np.argwhere(found > 0).tolist()}
    assert cut == {(1, 0), (3, 0)}


def test_perplexity_is_the_inverse_geometric_mean_of_the_probabilities():
    capture = embedded().capture(CaptureRequest(text=TEXT))
    logs = [
        float(torch.log_softmax(capture.logits(i - 1).double(), -1)[capture.tokens[i].id])
        for i in range(1, len(capture.tokens))
    ]
    # float32 logits of a hundred terms each: a relative error of about 1e-5
    assert perplexity(capture) == pytest.approx(math.exp(-sum(logs) / len(logs)), rel=1e-4)
    assert perplexity(capture, 4) == pytest.approx(math.exp(-sum(logs[3:]) / len(logs[3:])), rel=1e-4)


def test_there_is_no_perplexity_of_no_tokens():
    capture = embedded().capture(CaptureRequest(text=TEXT))
    assert math.isnan(perplexity(capture, len(capture.tokens)))


def test_an_encoder_looks_ahead_and_a_causal_model_does_not():
    weights = causal_noise(N)
    assert not looks_ahead(made_capture(weights))
    assert looks_ahead(made_capture(weights, mask=FULL))
    narrow = replace(FULL, edits=(Masked("window", (("window", 1),)),))
    assert looks_ahead(made_capture(weights, mask=narrow))  # it still reads the token that it names
    assert not looks_ahead(made_capture(causal_noise(1), mask=FULL))  # there is nothing ahead
    hidden = replace(FULL, edits=(Blocked(((0, 1),)),))
    assert looks_ahead(made_capture(weights, mask=hidden))
    prefix = (Masked("prefix", (("length", 3),)),)
    assert looks_ahead(made_capture(weights, mask=replace(CAUSAL, edits=prefix)))
    assert not looks_ahead(made_capture(weights, mask=replace(CAUSAL, edits=(Masked("prefix", (("length", 1),)),))))


def test_a_query_is_left_with_nothing_once_every_cell_that_the_pattern_leaves_it_is_hidden():
    capture = made_capture(causal_noise(N))
    window = BY_NAME["window"], {"window": 2}
    assert left_with_nothing(capture, *window, [(0, 0), (4, 4), (4, 3), (6, 6)]) == (0, 4)
    assert left_with_nothing(capture, BY_NAME["full"], {}, [(4, 4), (4, 3)]) == ()
    assert left_with_nothing(capture, *window, [(4, 3), (99, 99)]) == ()


def test_a_query_of_a_prefix_still_sees_what_is_ahead():
    capture = made_capture(causal_noise(N), mask=CAUSAL)
    assert left_with_nothing(capture, BY_NAME["prefix"], {"length": 2}, [(0, 0)]) == ()
    assert left_with_nothing(capture, BY_NAME["prefix"], {"length": 1}, [(0, 0)]) == (0,)


def test_a_layer_with_a_window_of_its_own_empties_a_query_sooner():
    own = MaskRule(masks.sliding_window(2))
    capture = made_capture(causal_noise(N), mask=own)
    assert left_with_nothing(capture, BY_NAME["full"], {}, [(4, 4), (4, 3)]) == (4,)
