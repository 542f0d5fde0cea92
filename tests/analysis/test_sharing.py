"""Shared keys and values: counts, bytes and drifts against slow references, on families of every way to share."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from analysis.comparison import head_drift, next_token_change
from analysis.kv_bytes import cache_bytes, sharings
from analysis.mask_effect import perplexity
from analysis.sharing import output_drift, pooled_bytes, shared_counts
from model_runner import Capture, CaptureRequest
from model_runner.edits import SharedKeys
from model_runner.errors import CapturesDiffer
from model_runner.questions import CacheLayers
from tests.analysis.made import causal_noise, embedded, made_capture
from tests.model_runner.cases import TEXT, shared_runner

SENTENCE = "The dog chased the squirrel because it"


def read(*edits: SharedKeys) -> Capture:
    return embedded().capture(CaptureRequest(text=SENTENCE, edits=edits))


@pytest.mark.parametrize(
    "family, expected",
    [
        ("llama", (2, 1)),  # two key/value heads of four
        ("gpt2", (4, 2, 1)),  # each of four heads its own
        ("gpt-bigcode", (1,)),  # one for all
        ("jamba", (2, 1)),  # of the layer that has any
    ],
)
def test_the_counts_are_the_divisors_of_the_models_own_number(family, expected):
    assert shared_counts(shared_runner(family).capture(CaptureRequest(text=TEXT))) == expected


def test_averaging_to_the_models_own_number_changes_nothing():
    before, after = read(), read(SharedKeys(4))
    assert shared_counts(before) == (4, 2, 1)
    assert torch.equal(before.hidden, after.hidden)
    assert next_token_change(before, after).kl == 0.0
    assert perplexity(before) == perplexity(after)
    assert float(np.abs(output_drift(before, after)).max()) == 0.0
    assert float(head_drift(before, after).max()) == 0.0


@pytest.mark.parametrize("kv_heads", [2, 1])
def test_the_first_layers_output_is_that_of_attention_over_the_averaged_keys_and_values(kv_heads):
    """The layer below which nothing changed, in float64 loops over heads, queries and keys."""
    before, after = read(), read(SharedKeys(kv_heads))
    q, k, v = (x.double().numpy() for x in (before.q(0), before.k(0), before.v(0)))
    together, scale = len(k) // kv_heads, before.record(0).scale
    found = output_drift(before, after)
    for head in range(len(q)):
        group = head * kv_heads // len(q)
        own = range(group * together, (group + 1) * together)
        keys, values = (sum(x[i] for i in own) / together for x in (k, v))
        moved = length = 0.0
        for query in range(len(before.tokens)):
            scores = [scale * float(q[head, query] @ keys[key]) for key in range(query + 1)]
            total = math.fsum(math.exp(score) for score in scores)
            output = sum(math.exp(score) / total * values[key] for key, score in enumerate(scores))
            was = before.record(0).head_output_edited[query, head].double().numpy()
            moved += float(((output - was) ** 2).sum())
            length += float((was**2).sum())
        assert found[0, head] == pytest.approx(math.sqrt(moved / length), rel=1e-4)


def test_bytes_are_those_of_the_page_kv_cache_for_every_way_to_share():
    before = read()
    layers = embedded().submit(CacheLayers(CaptureRequest(text=SENTENCE))).result()
    found = cache_bytes(before, layers)
    ways = sharings(before, found)
    assert [way.kv_heads for way in ways] == [8, 4, 2, 1]
    for way in ways:
        assert pooled_bytes(before, layers, way.kv_heads) == way.n_bytes
    record = before.record(0)
    by_hand = 2 * 8 * 1 * record.k.shape[2] * len(before.tokens) * 4  # float32, one head in each of eight layers
    assert pooled_bytes(before, layers, 1) == by_hand


def test_the_bytes_of_a_latent_are_not_shared_but_those_of_the_keys_and_values_made_of_it():
    runner = shared_runner("deepseek-v3")
    capture = runner.capture(CaptureRequest(text=TEXT))
    layers = runner.submit(CacheLayers(CaptureRequest(text=TEXT))).result()
    assert cache_bytes(capture, layers).latent is not None
    held = sum(record.k.nbytes + record.v.nbytes for record in capture.records if record is not None)
    assert pooled_bytes(capture, layers, 4) == held
    assert pooled_bytes(capture, layers, 1) * 4 == held


def test_a_layer_without_attention_has_no_drift_and_no_bytes():
    runner = shared_runner("jamba")
    before, after = (runner.capture(CaptureRequest(text=TEXT, edits=edits)) for edits in ((), (SharedKeys(1),)))
    drift = output_drift(before, after)
    assert np.isnan(drift[[0, 2]]).all()
    assert (drift[1] > 0).all()
    layers = runner.submit(CacheLayers(CaptureRequest(text=TEXT))).result()
    assert pooled_bytes(before, layers, 2) == sum(layer.n_bytes for layer in layers)


def test_a_head_that_passed_nothing_on_has_no_drift():
    silent = made_capture(causal_noise(4))
    assert np.isnan(output_drift(silent, silent)).all()


def test_captures_of_other_tokens_are_not_compared():
    first, second = (made_capture(causal_noise(4), ids=ids) for ids in ([0, 1, 2, 3], [0, 1, 2, 4]))
    with pytest.raises(CapturesDiffer, match="different tokens"):
        output_drift(first, second)
