"""The model's answers to a class's questions: each against loops in float64, and the model's own numbers."""

from __future__ import annotations

import math

import pytest
import torch
from transformers import AutoModelForCausalLM

from analysis.predictions import Ablation, Distribution, of_ablation, of_looks, of_next_token
from attention.masks import sliding_window
from model_runner import CaptureRequest
from model_runner.edits import ScaledHead
from model_runner.errors import NoSuchPlace
from model_runner.local.loading.model_folder import DEFAULT_FOLDER
from model_runner.mask_rule import MaskRule
from tests.analysis.made import causal_noise, embedded, made_capture

N = 6
TEXT = "one two three one two three one two"


def softmax(scores: list[float]) -> list[float]:
    top = max(scores)
    powers = [math.exp(score - top) for score in scores]
    return [power / math.fsum(powers) for power in powers]


def test_looks_are_the_row_of_that_head_up_to_the_query_and_no_key_after_it():
    weights = causal_noise(N, layers=2, heads=3)
    capture = made_capture(weights)
    for layer in range(2):
        for head in range(3):
            for query in range(N):
                found = of_looks(capture, layer, head, query).probabilities
                assert len(found) == query + 1
                assert found == pytest.approx([float(weights[layer, head, query, key]) for key in range(query + 1)])


def test_looks_are_exp_of_scores_over_their_sum():
    capture = embedded().capture(CaptureRequest(text=TEXT))
    for layer, head, query in ((0, 0, 1), (6, 4, 7), (3, 5, len(capture.tokens) - 1)):
        record = capture.record(layer)
        group = record.q.shape[0] // record.k.shape[0]
        q, keys = record.q[head, query].tolist(), record.k[head // group].tolist()
        scores = [record.scale * math.fsum(a * b for a, b in zip(q, keys[at], strict=True)) for at in range(query + 1)]
        assert of_looks(capture, layer, head, query).probabilities == pytest.approx(softmax(scores), abs=1e-6)


def test_looks_of_a_window_have_nothing_of_the_keys_before_it_and_keep_their_places():
    weights = torch.zeros(1, 1, N, N, dtype=torch.float64)
    for query in range(N):
        weights[0, 0, query, max(0, query - 1) : query + 1] = 1 / min(2, query + 1)
    found = of_looks(made_capture(weights, mask=MaskRule(sliding_window(2))), 0, 0, 4)
    assert found.probabilities.tolist() == pytest.approx([0, 0, 0, 0.5, 0.5])
    assert found.entropy == pytest.approx(1.0)
    assert found.likeliest(2) == [3, 4]


@pytest.mark.parametrize("place", [(9, 0, 0), (0, 9, 0), (0, 0, 99)])
def test_looks_of_what_is_not_there_are_refused(place):
    with pytest.raises(NoSuchPlace):
        of_looks(made_capture(causal_noise(N)), *place)


def test_entropy_and_order_are_those_of_a_loop_and_equal_ones_stand_as_they_came():
    given = [0.125, 0.0, 0.5, 0.125, 0.25]
    found = Distribution(torch.tensor(given, dtype=torch.float64).numpy())
    assert found.entropy == pytest.approx(-math.fsum(p * math.log2(p) for p in given if p))
    assert found.likeliest(9) == [2, 4, 0, 3, 1]
    beside_a_sink = Distribution(torch.tensor([0.5, 0.25]).double().numpy()).entropy  # which has the rest
    assert beside_a_sink == pytest.approx(-2 / 3 * math.log2(2 / 3) - 1 / 3 * math.log2(1 / 3))
    certain = Distribution(torch.tensor([0.0, 1.0]).double().numpy()).entropy
    assert math.copysign(1, certain) == 1.0  # 0, not −0, which would be written so
    assert certain == 0


LOGITS = [0.5, 3.0, -1.0, 2.0]


@pytest.mark.parametrize(
    "after, likelier",
    [([0.5, 4.0, -1.0, 2.0], True), ([0.5, 1.0, -1.0, 2.0], False), ([5.0, 4.0, 5.0, 5.0], False)],
)
def test_an_ablation_follows_the_token_that_was_likeliest_before(after, likelier):
    before = made_capture(causal_noise(N), logits=torch.tensor(LOGITS))
    found = of_ablation(before, made_capture(causal_noise(N), logits=torch.tensor(after)))
    old, new = softmax(LOGITS)[1], softmax(after)[1]
    assert found.token == 1
    assert (found.before, found.after) == pytest.approx((old, new), abs=1e-12)
    assert found.likelier is likelier
    assert found.bits == pytest.approx((-math.log2(old), -math.log2(new)), abs=1e-9)


def test_bits_of_what_cannot_come_are_infinite_and_of_what_must_come_none():
    assert Ablation(0, 1.0, 0.0).bits == (0.0, math.inf)
    assert str(Ablation(0, 1.0, 0.0).bits[0]) == "0.0"


def test_in_the_model_it_is_what_a_hook_that_zeroes_the_heads_slice_leaves():
    runner, layer, head = embedded(), 6, 4
    before = runner.capture(CaptureRequest(text=TEXT))
    after = runner.capture(CaptureRequest(text=TEXT, edits=(ScaledHead(layer, head, 0.0),)))
    model = AutoModelForCausalLM.from_pretrained(DEFAULT_FOLDER, dtype=torch.float32).eval()
    size = before.record(layer).v.shape[-1]

    def probability() -> list[float]:
        with torch.no_grad():
            logits = model(torch.tensor([[token.id for token in before.tokens]])).logits[0, -1]
        return softmax(logits.double().tolist())

    def zero(_module, args):
        found = args[0].clone()
        found[..., head * size : (head + 1) * size] = 0.0
        return (found,)

    plain = probability()
    hook = model.model.layers[layer].self_attn.o_proj.register_forward_pre_hook(zero)
    changed = probability()
    hook.remove()
    found = of_ablation(before, after)
    assert found.token == max(range(len(plain)), key=plain.__getitem__)
    assert found.before == pytest.approx(plain[found.token], abs=1e-5)
    assert found.after == pytest.approx(changed[found.token], abs=1e-5)
    assert abs(found.after - found.before) > 1e-3  # the head matters here
    assert of_next_token(before).probabilities == pytest.approx(plain, abs=1e-5)
