"""The fingerprint of weights: equal for equal weights, different for others."""

from __future__ import annotations

import torch

from model_runner import runner_of
from model_runner.local.fingerprint import SAMPLED, weights_fingerprint
from tests.analysis.made import embedded
from tests.model_runner.tiny import byte_tokenizer, tiny


def test_equal_weights_have_one_name_and_a_step_of_training_gives_another():
    model = tiny("llama")()
    again = tiny("llama")()
    again.load_state_dict(model.state_dict())
    assert weights_fingerprint(model) == weights_fingerprint(again)
    again(input_ids=torch.tensor([[1, 2, 3]])).logits.sum().backward()
    torch.optim.SGD(again.parameters(), lr=0.1).step()
    assert weights_fingerprint(model) != weights_fingerprint(again)


def test_dtype_shape_and_names_are_part_of_it():
    linear = torch.nn.Linear(SAMPLED, 3)
    names = {weights_fingerprint(linear), weights_fingerprint(torch.nn.Sequential(linear))}
    assert len(names | {weights_fingerprint(linear.bfloat16())}) == 3


def test_a_runner_says_it():
    assert embedded().info.weights == weights_fingerprint(embedded().engine.model)
    assert len(embedded().info.weights) == 12


def test_a_capture_has_that_of_the_weights_which_it_was_made_of():
    model = tiny("llama")()
    with runner_of(model, byte_tokenizer()) as runner:
        before = runner.capture("ab").fingerprint
        assert before == weights_fingerprint(model) == runner.capture("ba").fingerprint
        with torch.no_grad():
            model.lm_head.weight += 1
        assert runner.capture("ab").fingerprint == weights_fingerprint(model) != before
