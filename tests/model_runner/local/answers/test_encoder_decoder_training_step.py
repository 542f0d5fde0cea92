"""Training of an encoder–decoder: transformers' own loss on the labels, torch's gradient, no change of the model."""

from __future__ import annotations

import copy
import math
from typing import Any

import pytest
import torch

from model_runner import CaptureRequest, load_runner
from model_runner.block_questions import TrainingStep
from model_runner.errors import NotSeparable
from tests.model_runner.local.recording.test_encoder_decoders import FAMILIES, SOURCE, TARGET, runner

pytestmark = pytest.mark.table

DOG = CaptureRequest("A dog sleeps.", target="一只狗在睡觉。")


LANGUAGE_LAST = ("mbart", "plbart")  # they take the last label, a language, for the decoder's first token


def their_loss(model: Any, read: list[int], labels: list[int], **more: torch.Tensor) -> torch.Tensor:
    """As transformers has it: where the labels alone are given, the model shifts them itself."""
    return model(input_ids=torch.tensor([read]), labels=torch.tensor([labels]), use_cache=False, **more).loss


@pytest.mark.parametrize("name", FAMILIES)
def test_the_loss_is_transformers_own_on_the_labels(name: str) -> None:
    held = runner(name)
    request = CaptureRequest(SOURCE, target=TARGET)
    found = held.submit(TrainingStep(request, (0.0, 1e-5))).result()
    capture = held.capture(request)
    read = [token.id for token in capture.attention("encoder").tokens]
    labels = [token.id for token in capture.tokens[1:]]
    written = torch.tensor([[token.id for token in capture.tokens[:-1]]])
    more = {"decoder_input_ids": written} if name in LANGUAGE_LAST else {}
    with torch.no_grad():
        expected = their_loss(FAMILIES[name](), read, labels, **more)
    assert len(found.before) == len(labels)  # the text of this tokenizer has no end of its own
    assert float(found.before.mean()) == pytest.approx(float(expected), rel=1e-4)
    torch.testing.assert_close(found.before, capture.surprisals(), rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(found.after[0], found.before, rtol=1e-5, atol=1e-5)
    assert float(found.after[1].mean()) < float(found.before.mean())


@pytest.mark.parametrize("attention", ["encoder", "decoder", "cross"])
def test_the_embedded_translators_gradient_is_torchs_of_the_same_loss(attention: str) -> None:
    held = load_runner("translator")
    request = CaptureRequest(DOG.text, target=DOG.target, attention=attention)
    capture = held.capture(DOG)
    read = [token.id for token in capture.attention("encoder").tokens]
    labels = [*(token.id for token in capture.tokens[1:]), read[-1]]  # and then the text ends
    model = copy.deepcopy(held.engine.model).requires_grad_(True)
    loss = their_loss(model, read, labels)
    loss.backward()
    found = held.submit(TrainingStep(request, (1e-4,))).result()
    assert len(found.before) == len(labels)
    assert float(found.before.mean()) == pytest.approx(float(loss.detach()), rel=1e-4)
    every = sum(float(one.grad.double().square().sum()) for one in model.parameters())
    assert found.whole == pytest.approx(math.sqrt(every), rel=1e-3)
    fall = float(found.before.double().mean() - found.after[0].double().mean())
    assert fall == pytest.approx(1e-4 * every, rel=0.05)
    stack, place = (model.encoder, 0) if attention == "encoder" else (model.decoder, int(attention == "cross"))
    for layer, block in enumerate(stack.block):
        squares = sum(float(one.grad.double().square().sum()) for one in block.parameters())
        assert float(found.layers[layer]) == pytest.approx(math.sqrt(squares), rel=1e-3)
        module = block.layer[place]
        gradient = (module.EncDecAttention if attention == "cross" else module.SelfAttention).o.weight.grad
        heads = capture.attention(attention).n_heads
        for head, own in enumerate(gradient.chunk(heads, dim=1)):
            assert float(found.heads[layer, head]) == pytest.approx(float(own.norm()), rel=1e-3)


def test_the_translator_itself_stays_untouched() -> None:
    held = load_runner("translator")
    before = copy.deepcopy(held.engine.model.state_dict())
    said = held.capture(DOG).logits(-1)
    held.submit(TrainingStep(DOG, (0.1, 10.0))).result()
    for name, weight in held.engine.model.state_dict().items():
        assert torch.equal(weight, before[name]), name
    assert all(one.grad is None and not one.requires_grad for one in held.engine.model.parameters())
    torch.testing.assert_close(held.engine.capture(DOG).logits(-1), said, rtol=0, atol=0)
    assert not any(one._forward_pre_hooks for one in held.engine.model.modules())


def test_what_the_model_writes_by_itself_is_learned_from_where_no_target_is_given() -> None:
    held, request = load_runner("translator"), CaptureRequest(DOG.text)
    written = held.capture(request).tokens
    assert len(held.submit(TrainingStep(request, ())).result().before) == len(written)  # the end besides


def test_a_decoder_that_has_nothing_to_say_is_refused() -> None:
    with pytest.raises(NotSeparable, match="one token"):
        runner("bart").submit(TrainingStep(CaptureRequest(SOURCE, target=""), ())).result()
