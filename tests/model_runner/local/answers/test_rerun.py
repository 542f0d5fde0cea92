"""Rerunning only the upper layers changes nothing; where leaving a layer out would, it is kept."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn

from model_runner import CaptureRequest
from model_runner.edits import ScaledHead
from model_runner.errors import EditNotPossible, NoAttribution
from model_runner.local.answers import rerun
from model_runner.local.answers.head_effects import ROOM, ablations, attributions, batches, written_lengths
from model_runner.local.engine import Engine
from tests.model_runner.cases import FAMILY, TEXT, runner_of
from tests.model_runner.local.answers.test_head_effects import CAUSAL, CLOSE, log_probs, rerun_of
from tests.model_runner.tiny import N_LAYERS


def opened(name):
    runner = runner_of(FAMILY[name])
    return runner, runner.capture(CaptureRequest(text=TEXT))


# Convolutions after the heads, and an indexer that chooses keys for several layers: they read other positions too.
READ_EARLIER_ONES = ("inkling", "inkling2", "dots3-note")


@pytest.mark.table
@pytest.mark.parametrize("name", CAUSAL)
def test_the_last_position_is_enough_in_the_last_layer(name):
    runner, plain = opened(name)
    layer = FAMILY[name].attention_layers[0]
    short, whole = rerun_of(runner, plain), rerun_of(runner, plain)
    if name == "hy-v4":
        with pytest.raises(EditNotPossible):
            ablations(short, layer, 101)
        return
    whole.proven[layer, True] = False
    assert (ablations(short, layer, 101) - ablations(whole, layer, 101)).abs().max() <= CLOSE
    assert short.proven == {(layer, True): name not in READ_EARLIER_ONES}


class Centred(nn.Module):
    """An MLP that needs every position."""

    def __init__(self, own: nn.Module) -> None:
        super().__init__()
        self.own = own

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        found = self.own(x)
        return found - found.mean(dim=1, keepdim=True)


class Shaped(Centred):
    """One that relies on what goes in and what comes out having one shape."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.own(x).view(x.shape)


@pytest.mark.parametrize("kind", [Centred, Shaped])
def test_a_last_layer_that_counts_on_all_positions_has_them(kind):
    runner, _ = opened("llama")
    model: Any = runner.engine.model
    model.model.layers[-1].mlp = kind(model.model.layers[-1].mlp)
    plain = runner.capture(CaptureRequest(text=TEXT + " again"))
    upper = rerun_of(runner, plain)
    found = ablations(upper, 1, 101)
    assert upper.proven == {(1, True): False}
    for head in range(len(found)):
        alone = runner.capture(CaptureRequest(text=TEXT + " again", edits=(ScaledHead(1, head),)))
        assert found[head] == pytest.approx(float((log_probs(alone) - log_probs(plain))[101]), abs=CLOSE)


def test_a_model_whose_layers_pass_something_on_beside_the_stream_is_refused():
    runner, _ = opened("llama")
    model: Any = runner.engine.model
    beside: list[torch.Tensor] = []
    model.model.layers[0].mlp.register_forward_hook(lambda _m, _i, output: beside.append(output))
    model.model.layers[2].mlp.register_forward_hook(lambda _m, _i, output: output + (beside.pop() if beside else 0))
    plain = runner.capture(CaptureRequest(text=TEXT + " again"))
    with pytest.raises(EditNotPossible, match="cannot be run by themselves"):
        ablations(rerun_of(runner, plain), 1, 101)


def test_a_capture_with_edits_is_refused():
    runner, _ = opened("llama")
    changed = runner.capture(CaptureRequest(text=TEXT, edits=(ScaledHead(0, 0),)))
    with pytest.raises(EditNotPossible, match="only in the unchanged model"):
        ablations(rerun_of(runner, changed), 1, 101)
    upper = rerun_of(runner, changed)
    upper.proven[1, True] = True  # as on another text
    with pytest.raises(EditNotPossible, match="only in the unchanged model"):
        ablations(upper, 1, 101)


def test_a_text_of_one_token_proves_nothing_for_longer_ones():
    runner = runner_of(FAMILY["llama"])
    one = runner.capture(CaptureRequest(text="a"))
    upper = rerun_of(runner, one)
    ablations(upper, 0, 101)
    assert [place for place in upper.proven if place[1]] == ([] if len(one.tokens) == 1 else [(0, True)])


def test_what_was_tried_is_kept_by_the_runner_and_a_bfloat16_model_is_compared_within_its_batch():
    runner = runner_of(FAMILY["llama"], dtype=torch.bfloat16)
    plain = runner.capture(CaptureRequest(text=TEXT))
    for layer in range(N_LAYERS):
        found = ablations(rerun.rerun_of(runner.engine, plain.request), layer, 101)
        own = plain.residual(layer)[None].expand(2, -1, -1)
        same = rerun.rerun_of(runner.engine, plain.request).log_probs(layer, own)
        assert found.isfinite().all()
        assert same.abs().max() == 0.0  # rows without a change in the same batch are rounded alike
    assert isinstance(runner.engine, Engine)
    assert set(runner.engine.entered) == {(layer, True) for layer in range(N_LAYERS)}


def test_batches_shrink_as_texts_grow_and_hold_every_variant_once():
    for count, n_tokens in ((8, 1), (70, 64), (12, ROOM), (3, 10 * ROOM)):
        parts = batches(count, n_tokens)
        assert [one for part in parts for one in part] == list(range(count))
        assert all(len(part) == 1 or len(part) * n_tokens <= ROOM for part in parts)


def test_heads_that_cannot_be_separated_are_refused_with_the_reason():
    runner, plain = opened("gemma2")
    upper = rerun_of(runner, plain)
    for work in (lambda: attributions(upper, 0, 101), lambda: written_lengths(upper, 0)):
        with pytest.raises(NoAttribution, match="cannot be separated"):
            work()
