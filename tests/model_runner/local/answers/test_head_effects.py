"""Every head ablated in one batch equals one ablated at a time, and patches equal plain hooks."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from torch import Tensor

from model_runner import Capture, CaptureRequest
from model_runner.edits import ScaledHead
from model_runner.errors import EditNotPossible, NoSuchPlace
from model_runner.local.answers import rerun
from model_runner.local.answers.head_effects import ablations, head_patches, residual_patches
from model_runner.local.answers.rerun import Rerun
from model_runner.local.runner import LocalRunner
from model_runner.questions import WhichHeads
from tests.model_runner.cases import FAMILY, TEXT, runner_of, shared_runner
from tests.model_runner.families import EDITABLE, often
from tests.model_runner.tiny import byte_tokenizer

OTHER = TEXT.replace("dog", "cat")
CLOSE = 1e-4  # nats, float32: logits of size 10 within 1e-5, and a log-sum-exp of them
ENCODERS = ("bert", "roberta", "distilbert", "modernbert", "albert")
CAUSAL = [family.name for family in EDITABLE if family.name not in ENCODERS]


def rerun_of(runner: LocalRunner, capture: Capture) -> Rerun:
    """One that remembers nothing of others."""
    return replace(rerun.rerun_of(runner.engine, capture.request), proven={})


def log_probs(capture: Capture) -> Tensor:
    return torch.log_softmax(capture.logits(-1).double(), dim=-1)


@pytest.mark.table
@pytest.mark.parametrize("name", often(CAUSAL))
def test_all_heads_at_once_are_each_head_by_itself(name):
    runner = shared_runner(name)
    plain = runner.capture(CaptureRequest(text=TEXT))
    target = int(plain.logits(-1).argmax())
    for layer in FAMILY[name].attention_layers:
        if FAMILY[name].hands_on and (layer > 0 or FAMILY[name].several_streams):  # what goes in at the first is known
            with pytest.raises(EditNotPossible, match="cannot be run by themselves"):
                ablations(rerun_of(runner, plain), layer, target)
            continue
        found = ablations(rerun_of(runner, plain), layer, target)
        for head in range(len(found)):
            alone = runner.capture(CaptureRequest(text=TEXT, edits=(ScaledHead(layer, head),)))
            assert found[head] == pytest.approx(float((log_probs(alone) - log_probs(plain))[target]), abs=CLOSE)


@pytest.mark.parametrize("name", ["llama", "gpt2", "gemma2"])
def test_patching_the_stream_is_a_plain_hook_that_replaces_it(name):
    runner = shared_runner(name)
    plain, other = (runner.capture(CaptureRequest(text=text)) for text in (TEXT, OTHER))
    tokens = (101, 32)
    found = residual_patches(rerun_of(runner, plain), 1, other, tokens)
    model = FAMILY[name].build()
    layer = next(module for module in model.modules() if isinstance(module, torch.nn.ModuleList) and len(module) == 3)[
        1
    ]
    ids = torch.tensor([byte_tokenizer()(TEXT).input_ids])
    for position in (0, 9, len(plain.tokens) - 1):

        def patch(_module, args, kwargs, position=position):
            stream = (args[0] if args else kwargs["hidden_states"]).clone()
            stream[0, position] = other.residual(1)[position]
            return ((stream, *args[1:]), kwargs) if args else (args, {**kwargs, "hidden_states": stream})

        hook = layer.register_forward_pre_hook(patch, with_kwargs=True)
        with torch.no_grad():
            patched = torch.log_softmax(model(ids).logits[0, -1].double(), dim=-1)
        hook.remove()
        change = patched - log_probs(plain)
        assert found[position] == pytest.approx(float(change[tokens[0]] - change[tokens[1]]), abs=CLOSE)


def test_a_stream_patched_with_itself_changes_nothing_and_the_last_one_of_the_last_layer_decides():
    runner = shared_runner("llama")
    plain, other = (runner.capture(CaptureRequest(text=text)) for text in (TEXT, TEXT[:-1] + "?"))
    assert residual_patches(rerun_of(runner, plain), 1, plain, (101, 32)).abs().max() <= CLOSE
    found = residual_patches(rerun_of(runner, plain), 0, other, (101, 32))
    assert found[:-1].abs().max() <= CLOSE  # only the last token differs between the texts
    expected = log_probs(other) - log_probs(plain)
    assert found[-1] == pytest.approx(float(expected[101] - expected[32]), abs=CLOSE)


def test_patching_a_head_everywhere_it_differs_is_what_it_says():
    runner = shared_runner("llama")
    plain, other = (runner.capture(CaptureRequest(text=text)) for text in (TEXT, OTHER))
    found = head_patches(rerun_of(runner, plain), 2, 1, other, (101, 32))
    assert found[:-1].abs().max() <= CLOSE  # in the last layer only the last position reaches the last logits
    assert found[-1].abs() > 1e-3
    same = head_patches(rerun_of(runner, plain), 2, 1, plain, (101, 32))
    assert same.abs().max() <= CLOSE


def test_texts_of_different_lengths_are_refused():
    runner = shared_runner("llama")
    plain, other = (runner.capture(CaptureRequest(text=text)) for text in (TEXT, TEXT + "!"))
    with pytest.raises(EditNotPossible, match="different numbers"):
        residual_patches(rerun_of(runner, plain), 1, other, (1, 2))


def test_the_model_is_as_before_afterwards():
    runner = shared_runner("llama")
    plain = runner.capture(CaptureRequest(text=TEXT))
    ablations(rerun_of(runner, plain), 2, 1)
    again = runner.capture(CaptureRequest(text=TEXT + " again"))
    fresh = runner_of(FAMILY["llama"]).capture(CaptureRequest(text=TEXT + " again"))
    assert torch.equal(again.logits(-1), fresh.logits(-1))


def test_against_another_token_both_answers_are_of_the_difference_of_the_logits():
    runner = shared_runner("llama")
    plain = runner.capture(CaptureRequest(text=TEXT))
    target, other = 101, 32
    found = runner.submit(WhichHeads(plain.request, 1, target, other)).result()
    for head in range(found.n_heads):
        alone = runner.capture(CaptureRequest(text=TEXT, edits=(ScaledHead(1, head),)))
        before, after = ((one.logits(-1)[target] - one.logits(-1)[other]).double() for one in (plain, alone))
        assert found.ablated[head] == pytest.approx(float(after - before), abs=CLOSE)
        direct = plain.direct_logits(1, head, -1)
        assert found.attributed[head] == pytest.approx(float(direct[target] - direct[other]), abs=1e-5)
    with pytest.raises(NoSuchPlace, match="token id"):
        runner.submit(WhichHeads(plain.request, 1, target, 10**6)).result()
