"""Layers without softmax: their matrix × inputs against what the model's own modules went on with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn.functional import silu

from attention.unrolled import OfChannels
from model_runner.capture import Capture
from model_runner.edits import ScaledHead
from model_runner.errors import CannotContinue, EditNotPossible
from model_runner.local.runner import LocalRunner
from model_runner.request import CaptureRequest, GenerateRequest
from model_runner.substitution import NoScores
from model_runner.verification import verify
from tests.model_runner.families import RECURRENT
from tests.model_runner.tiny import D_MODEL, N_LAYERS, byte_tokenizer, place

TEXT = "The dog chased the squirrel because it was late."  # longer than the blocks of mamba, and mamba2's chunks
CLOSE = 1e-5
MIXER = {"rwkv": "rwkv.blocks.{}.attention", "xlstm": "backbone.blocks.{}.mlstm_layer"}
Seen = dict[str, Tensor]


def mixer_of(model: Any, name: str, layer: int) -> Any:
    return model.get_submodule(MIXER.get(name, "backbone.layers.{}.mixer").format(layer))


def own_numbers(model: Any, name: str, layer: int, ids: Tensor) -> Seen:
    """What plain hooks on the mixer's modules see: in, out, and of which its own code makes one from the other."""
    mixer, seen = mixer_of(model, name, layer), Seen()

    def into(module: nn.Module, kind: str) -> None:
        module.register_forward_pre_hook(lambda _, args: seen.update({kind: args[0][0].detach().clone()}))

    def out_of(module: nn.Module, kind: str) -> None:
        module.register_forward_hook(lambda _, args, output: seen.update({kind: output[0].detach().clone()}))

    if name == "rwkv":
        out_of(mixer.receptance, "gate")
        into(mixer.output, "out")
    elif name == "xlstm":
        into(mixer.multihead_norm, "out")
    else:
        out_of(mixer.in_proj, "projected")
        into(mixer.norm if name == "mamba2" else mixer.out_proj, "out")
    with torch.no_grad():
        model(input_ids=ids, use_cache=False)
    return seen


def expected(name: str, mixer: Any, seen: Seen, made: Tensor, x: Tensor) -> Tensor:
    """What the mixer goes on with, of what the recurrence ``made`` of its inputs ``x``; all are tokens × channels."""
    if name == "rwkv":
        return seen["gate"].sigmoid() * made
    if name == "xlstm":
        return made
    if name == "mamba2":
        return made + x * mixer.D.repeat_interleave(mixer.head_dim)
    return (made + x * mixer.D) * silu(seen["projected"].chunk(2, dim=-1)[1])


def captured(name: str, build: Callable[[], Any] | None = None) -> tuple[LocalRunner, Capture]:
    runner = LocalRunner((build or RECURRENT[name])(), byte_tokenizer(), name=name)
    return runner, runner.capture(CaptureRequest(TEXT))


@pytest.mark.parametrize("name", RECURRENT)
def test_every_matrix_times_its_inputs_is_what_the_module_goes_on_with(name):
    _, capture = captured(name)
    ids, model = torch.tensor([[token.id for token in capture.tokens]]), RECURRENT[name]()
    assert capture.n_layers == N_LAYERS
    for layer in range(N_LAYERS):
        record = capture.record(layer)
        own, every = record.unrolled, slice(0, len(capture.tokens))
        assert own is not None
        if isinstance(own, OfChannels):  # each channel by itself
            x = record.v.transpose(1, 2).flatten(0, 1)
            made = torch.stack([own.channel(c, every, every) @ x[c] for c in range(own.n_channels)], 1)
        else:
            made = torch.cat([capture.weights(layer, head) @ record.v[head] for head in range(capture.n_heads)], 1)
            x = record.v.transpose(1, 2).flatten(0, 1)
        seen = own_numbers(model, name, layer, ids)
        goes_on = seen["out"].flatten(1)
        with torch.no_grad():
            found = expected(name, mixer_of(model, name, layer), seen, made, x.T)
        assert float((found - goes_on).abs().max()) <= CLOSE * float(goes_on.abs().max())
        check = capture.verify(layer)
        assert (check.ok, check.unrolled, check.rows) == (True, True, len(capture.tokens))
        maps = torch.stack([capture.weights(layer, head) for head in range(capture.n_heads)])
        assert bool((maps.triu(1) == 0).all())
        assert bool((maps < 0).any()) is own.signed is (name != "rwkv")
        shares = capture.layer_weights(layer, every, shares=True)
        torch.testing.assert_close(shares.sum(-1), torch.ones(shares.shape[:2]))
        torch.testing.assert_close(shares[1], capture.weights(layer, 1, shares=True))


@pytest.mark.parametrize("name", RECURRENT)
def test_a_recurrence_with_another_decay_or_input_is_not_verified(name):
    _, capture = captured(name)
    record = capture.record(0)
    own = record.unrolled
    assert own is not None
    changed = {"mamba": "rates", "falcon_mamba": "rates", "mamba2": "decay", "rwkv": "decay", "xlstm": "keep"}[name]
    other = replace(own, **{changed: getattr(own, changed) * 1.01})  # type: ignore[type-var]  # all are dataclasses
    assert verify(record, None, 16).ok
    assert not verify(replace(record, unrolled=other), None, 16).ok
    assert not verify(replace(record, v=record.v * 1.001), None, 16).ok
    assert not verify(replace(record, output=record.output * torch.nan), None, 16).ok


@pytest.mark.parametrize("name", RECURRENT)
def test_in_bfloat16_it_is_verified_too(name):
    _, capture = captured(name, lambda: place(RECURRENT[name](), "cpu", torch.bfloat16))
    assert all(capture.verify(layer).ok for layer in range(N_LAYERS))
    record = capture.record(0)
    assert not verify(replace(record, v=record.v * 1.1), None, 16).ok


def test_what_needs_scores_edits_or_a_cache_says_why_not():
    runner, capture = captured("mamba2")
    with pytest.raises(NoScores, match="mixed by a recurrence, state space"):
        capture.scores(0, 0)
    assert bool(capture.lse(0).isnan().all())
    with pytest.raises(EditNotPossible, match="no softmax attention, but a recurrence each"):
        runner.capture(CaptureRequest(TEXT, edits=(ScaledHead(0, 0, 0.0),)))
    with pytest.raises(CannotContinue, match="its state is not kept here"):
        list(runner.generate(GenerateRequest(TEXT, max_new_tokens=2)))
    assert capture.logits(-1).shape == (264,)
    assert capture.residual(1).shape == (len(capture.tokens), D_MODEL)


def test_two_models_share_the_function_and_each_keeps_its_own():
    (_, first), (_, second) = captured("mamba"), captured("mamba", RECURRENT["mamba"])
    torch.testing.assert_close(first.weights(2, 3), second.weights(2, 3), rtol=0, atol=0)
    assert {first.record(0).mask.sees_ahead(8)} == {False}
