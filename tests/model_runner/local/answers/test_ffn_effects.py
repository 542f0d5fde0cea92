"""A feed-forward part ablated or patched from another text equals a plain hook on its module."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from model_runner import CaptureRequest, load_runner
from model_runner.errors import EditNotPossible
from model_runner.local.runner import LocalRunner
from model_runner.questions import PatchFfn, WhichHeads
from tests.model_runner.cases import TEXT, shared_runner

OTHER = TEXT.replace("dog", "cat")
PARTS = {
    "llama": "model.layers.{}.mlp",
    "gpt2": "transformer.h.{}.mlp",
    "gemma2": "model.layers.{}.post_feedforward_layernorm",
    "gpt-neox": "gpt_neox.layers.{}.mlp",
}
PAIR = (101, 32)
CLOSE = 1e-4


def log_probs(runner: LocalRunner, text: str) -> Tensor:
    """By the plain model, past the cache and all that is recorded."""
    ids = torch.tensor([[token.id for token in runner.capture(CaptureRequest(text)).tokens]])
    with torch.no_grad():
        return runner.engine.model(input_ids=ids).logits[0, -1].double().log_softmax(0)


@pytest.mark.parametrize("name", PARTS)
@pytest.mark.parametrize("layer", [0, 2])
def test_an_ablated_part_is_a_hook_that_makes_it_nothing(name: str, layer: int) -> None:
    runner = shared_runner(name)
    before = log_probs(runner, TEXT)
    hook = runner.engine.model.get_submodule(PARTS[name].format(layer)).register_forward_hook(
        lambda _, __, output: torch.zeros_like(output)
    )
    after = log_probs(runner, TEXT)
    hook.remove()
    request = CaptureRequest(TEXT)
    change = runner.submit(WhichHeads(request, layer, PAIR[0])).result().ffn
    assert change == pytest.approx(float((after - before)[PAIR[0]]), abs=CLOSE)
    change = runner.submit(WhichHeads(request, layer, *PAIR)).result().ffn
    assert change == pytest.approx(float((after - before)[PAIR[0]] - (after - before)[PAIR[1]]), abs=CLOSE)


@pytest.mark.parametrize("name", ["llama", "gemma2"])
@pytest.mark.parametrize("layer", [0, 2])
def test_a_patched_part_is_a_hook_that_replaces_it_at_one_position(name: str, layer: int) -> None:
    runner, seen = shared_runner(name), list[Tensor]()
    module = runner.engine.model.get_submodule(PARTS[name].format(layer))
    hook = module.register_forward_hook(lambda _, __, output: seen.append(output[0].clone()))
    log_probs(runner, OTHER)
    hook.remove()
    before = log_probs(runner, TEXT)
    found = runner.submit(PatchFfn(CaptureRequest(TEXT), CaptureRequest(OTHER), layer, PAIR)).result()
    assert len(found) == len(runner.capture(CaptureRequest(TEXT)).tokens)
    for position in range(0, len(found), 5):

        def replaced(_module, _args, output, position=position):
            output = output.clone()
            output[0, position] = seen[-1][position]
            return output

        hook = module.register_forward_hook(replaced)
        change = log_probs(runner, TEXT) - before
        hook.remove()
        assert float(found[position]) == pytest.approx(float(change[PAIR[0]] - change[PAIR[1]]), abs=CLOSE)
    assert float(found.abs().max()) > CLOSE


@pytest.mark.parametrize("attention", ["encoder", "decoder"])
def test_a_translators_part_patched_with_its_own_changes_nothing_and_ablated_does(attention: str) -> None:
    runner, request = load_runner("translator"), CaptureRequest("A dog sleeps.", attention=attention)
    found = runner.submit(PatchFfn(request, request, 1, (5, 9))).result()
    assert float(found.abs().max()) < CLOSE
    assert abs(runner.submit(WhichHeads(request, 1, 5)).result().ffn or 0) > CLOSE


def test_texts_of_different_lengths_are_refused_and_the_model_is_as_before() -> None:
    runner = shared_runner("llama")
    before = log_probs(runner, TEXT)
    with pytest.raises(EditNotPossible, match="different numbers of tokens"):
        runner.submit(PatchFfn(CaptureRequest(TEXT), CaptureRequest("a"), 1, PAIR)).result()
    assert torch.equal(log_probs(runner, TEXT), before)
