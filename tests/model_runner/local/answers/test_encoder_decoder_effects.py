"""Which heads of an encoder–decoder matter, and patching, are what hooks written by hand make of plain transformers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor

from model_runner import CaptureRequest
from model_runner.edits import OfAttention, ScaledHead
from model_runner.questions import NextLogits, PatchHeads, PatchStream, WhichHeads
from tests.model_runner.local.recording.test_encoder_decoder_edits import (
    ATTENTIONS,
    EACH,
    LAYER,
    NAMES,
    by_hook,
    projection,
)
from tests.model_runner.local.recording.test_encoder_decoders import FAMILIES, SOURCE, TARGET, ids_of, runner
from tests.model_runner.tiny import D_HEAD, N_HEADS, PAD

OTHER_SOURCE, OTHER_TARGET = SOURCE.replace("cat", "cow"), TARGET.replace("Katze", "Kuh.x")
TOKENS = (101, 97)
CLOSE = {"rtol": 1e-4, "atol": 1e-4}


@pytest.mark.parametrize("attention", ATTENTIONS)
@pytest.mark.parametrize("name", NAMES)
def test_ablating_each_head_costs_what_a_hook_says(name: str, attention: str):
    made = runner(name)
    answers = made.submit(WhichHeads(CaptureRequest(SOURCE, target=TARGET, attention=attention), LAYER, 101)).result()
    plain = by_hook(name, attention, lambda x: x)[-1].log_softmax(-1)[101]

    def without(head: int) -> Tensor:
        def zero(x: Tensor) -> Tensor:
            x[:, :, head] = 0
            return x

        return by_hook(name, attention, zero)[-1].log_softmax(-1)[101] - plain

    expected = torch.stack([without(head) for head in range(N_HEADS)])
    assert answers.ablated is not None
    assert expected.abs().max() > 1e-3
    torch.testing.assert_close(answers.ablated, expected, **CLOSE)
    assert answers.attributed is None
    assert "encoder–decoders" in str(answers.problems[0])


def run(name: str, source: str, target: str, module: Any, hook: Any, before: bool) -> Tensor:
    """The difference of the logits of TOKENS after the target, with this hook on a module of plain transformers."""
    model: Any = FAMILIES[name]()
    if hook is not None:
        found = module(model)
        found.register_forward_pre_hook(hook, with_kwargs=True) if before else found.register_forward_hook(hook)
    with torch.no_grad():
        ids, written = torch.tensor([ids_of(source)]), torch.tensor([[PAD, *ids_of(target)]])
        logits = model(input_ids=ids, decoder_input_ids=written).logits[0, -1]
    return logits[TOKENS[0]] - logits[TOKENS[1]]


def layer_of(name: str, attention: str) -> Any:
    def found(model: Any) -> Any:
        inner = model if name == "t5" else model.model
        stack = inner.encoder if attention == "encoder" else inner.decoder
        return (stack.block if name == "t5" else stack.layers)[LAYER]

    return found


def hidden(args: Any, kwargs: Any) -> Tensor:
    return args[0] if args else kwargs["hidden_states"]


@pytest.mark.parametrize("name, attention", EACH)
def test_patched_streams_and_heads_are_those_of_hooks(name: str, attention: str):
    made = runner(name)
    other = (OTHER_SOURCE, TARGET) if attention == "encoder" else (SOURCE, OTHER_TARGET)
    plain, donor = (
        CaptureRequest(source, target=target, attention=attention) for source, target in ((SOURCE, TARGET), other)
    )
    streams = made.submit(PatchStream(plain, donor, LAYER, TOKENS)).result()
    heads = made.submit(PatchHeads(plain, donor, LAYER, 1, TOKENS)).result()
    theirs: list[Tensor] = []
    layer, module = layer_of(name, attention), lambda model: projection(model, name, attention)
    run(name, *other, layer, lambda _, args, kwargs: theirs.append(hidden(args, kwargs).clone()), True)
    run(name, *other, module, lambda _, args, kwargs: theirs.append(args[0].clone()), True)
    unchanged = run(name, SOURCE, TARGET, None, None, True)

    def stream_at(position: int) -> Any:
        def hook(_: Any, args: Any, kwargs: Any) -> Any:
            x = hidden(args, kwargs).clone()
            x[:, position] = theirs[0][:, position]
            return ((x, *args[1:]), kwargs) if args else (args, {**kwargs, "hidden_states": x})

        return hook

    def head_at(position: int) -> Any:
        def hook(_: Any, args: Any, kwargs: Any) -> Any:
            x = args[0].clone()
            x[:, position, D_HEAD : 2 * D_HEAD] = theirs[1][:, position, D_HEAD : 2 * D_HEAD]
            return (x, *args[1:]), kwargs

        return hook

    places = range(len(streams))
    expected = [run(name, SOURCE, TARGET, layer, stream_at(place), True) - unchanged for place in places]
    torch.testing.assert_close(streams, torch.stack(expected), **CLOSE)
    expected = [run(name, SOURCE, TARGET, module, head_at(place), True) - unchanged for place in places]
    torch.testing.assert_close(heads, torch.stack(expected), **CLOSE)
    assert streams.abs().max() > 1e-2
    assert heads.abs().max() > 1e-4


def test_the_next_logits_are_those_after_what_is_written_changed_ones_too():
    made = runner("bart")
    request = CaptureRequest(SOURCE, target=TARGET, attention="cross", edits=(OfAttention("cross", ScaledHead(1, 2)),))
    found = made.submit(NextLogits(request)).result()
    assert torch.equal(found, made.capture(replace(request, attention="decoder")).logits(-1))
