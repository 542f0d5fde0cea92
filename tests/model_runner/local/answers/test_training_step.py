"""One training step: losses against the capture's own, the gradient against differences, the model untouched."""

from __future__ import annotations

import copy
import math

import pytest
import torch

from model_runner import CaptureRequest, load_runner
from model_runner.block_questions import TrainingStep
from model_runner.edits import ScaledHead
from model_runner.errors import EditNotPossible, NotSeparable
from model_runner.local.answers import training_step
from tests.model_runner.cases import TEXT, shared_runner

FRANCE = CaptureRequest("The capital of France is Paris.")


@pytest.mark.parametrize("name", ["llama", "gpt2", "gptj", "gemma2", "mixtral", "jamba"])
def test_losses_before_are_the_surprisals_of_the_capture(name: str) -> None:
    runner = shared_runner(name)
    found = runner.submit(TrainingStep(CaptureRequest(TEXT), (0.0, 1e-3))).result()
    torch.testing.assert_close(found.before, runner.capture(CaptureRequest(TEXT)).surprisals(), rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(found.after[0], found.before, rtol=1e-5, atol=1e-5)
    assert float(found.after[1].mean()) < float(found.before.mean())


def test_the_model_itself_stays_untouched() -> None:
    runner = load_runner("default")
    before = copy.deepcopy(runner.engine.model.state_dict())
    runner.submit(TrainingStep(FRANCE, (0.1, 10.0))).result()
    for name, weight in runner.engine.model.state_dict().items():
        assert torch.equal(weight, before[name]), name
    assert all(one.grad is None and not one.requires_grad for one in runner.engine.model.parameters())


def test_a_small_step_lowers_the_loss_by_the_rate_times_the_squared_gradient() -> None:
    rate = 1e-4
    found = load_runner("default").submit(TrainingStep(FRANCE, (rate,))).result()
    fall = float(found.before.double().mean() - found.after[0].double().mean())
    assert fall == pytest.approx(rate * found.whole**2, rel=0.05)


def test_norms_are_of_the_gradient_that_torch_gives() -> None:
    runner = load_runner("default")
    model = copy.deepcopy(runner.engine.model).requires_grad_(True)
    capture = runner.capture(FRANCE)
    ids = torch.tensor([[token.id for token in capture.tokens]])
    model(input_ids=ids, labels=ids).loss.backward()
    found = runner.submit(TrainingStep(FRANCE, ())).result()
    for layer, module in enumerate(model.model.layers):
        squares = sum(float(one.grad.double().square().sum()) for one in module.parameters())
        assert float(found.layers[layer]) == pytest.approx(math.sqrt(squares), rel=1e-3)
        gradient = module.self_attn.o_proj.weight.grad
        for head in range(8):
            own = gradient[:, head * 32 : head * 32 + 32].norm()
            assert float(found.heads[layer, head]) == pytest.approx(float(own), rel=1e-3)
    every = sum(float(one.grad.double().square().sum()) for one in model.parameters())
    assert found.whole == pytest.approx(math.sqrt(every), rel=1e-3)


def test_what_cannot_be_learned_from_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    runner = shared_runner("llama")
    with pytest.raises(NotSeparable, match="one token"):
        runner.submit(TrainingStep(CaptureRequest("a"), ())).result()
    with pytest.raises(EditNotPossible):
        runner.submit(TrainingStep(CaptureRequest(TEXT, edits=(ScaledHead(0, 0, 0.0),)), ())).result()
    monkeypatch.setattr(training_step, "LARGEST", 10)
    with pytest.raises(NotSeparable, match="memory"):
        runner.submit(TrainingStep(CaptureRequest(TEXT), ())).result()
