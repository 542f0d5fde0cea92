"""A residual stream replaced by its mean over the text equals a plain hook before the layer."""

from __future__ import annotations

import pytest
import torch

from model_runner import CaptureRequest, load_runner
from model_runner.errors import NoSuchPlace
from model_runner.questions import MeanStream
from tests.model_runner.cases import TEXT, shared_runner

LAYERS = {"llama": "model.layers.{}", "gpt2": "transformer.h.{}"}
TARGET = 101
CLOSE = 1e-4


@pytest.mark.parametrize("name", LAYERS)
@pytest.mark.parametrize("layer", [0, 2])
def test_it_is_a_hook_that_puts_the_mean_in_one_place(name: str, layer: int) -> None:
    runner = shared_runner(name)
    ids = torch.tensor([[token.id for token in runner.capture(CaptureRequest(TEXT)).tokens]])
    module = runner.engine.model.get_submodule(LAYERS[name].format(layer))

    def said() -> float:
        with torch.no_grad():
            return float(runner.engine.model(input_ids=ids).logits[0, -1].double().log_softmax(0)[TARGET])

    before = said()
    found = runner.submit(MeanStream(CaptureRequest(TEXT), layer, TARGET)).result()
    assert len(found) == ids.shape[1]
    for position in (0, 5, len(found) - 1):

        def replaced(_module, args, kwargs, position=position):
            stream = (args[0] if args else kwargs["hidden_states"]).clone()
            stream[0, position] = stream[0].mean(dim=0)
            return ((stream, *args[1:]), kwargs) if args else (args, {**kwargs, "hidden_states": stream})

        hook = module.register_forward_pre_hook(replaced, with_kwargs=True)
        change = said() - before
        hook.remove()
        assert float(found[position]) == pytest.approx(change, abs=CLOSE)
    assert float(found.abs().max()) > CLOSE


def test_a_translators_decoder_has_one_too_and_a_token_beyond_the_vocabulary_is_refused() -> None:
    request = CaptureRequest("A dog sleeps.", attention="decoder")
    assert float(load_runner("translator").submit(MeanStream(request, 1, 5)).result().abs().max()) > CLOSE
    with pytest.raises(NoSuchPlace):
        shared_runner("llama").submit(MeanStream(CaptureRequest(TEXT), 1, 10**9)).result()
