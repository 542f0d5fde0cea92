"""The residual stream as it passes the layers: every place once, whatever layers a forward passes over."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from analysis.architecture import stages
from model_runner import CaptureRequest
from model_runner.block_questions import StreamAdditions, WhatItIsMadeOf
from model_runner.local.recording.residual_stream import watched
from model_runner.local.runner import LocalRunner
from scripts.families.own_sizes import SHORT
from scripts.families.small import small_model
from scripts.families.trying import letters


class AddOne(nn.Module):
    def forward(self, hidden_states: Tensor) -> tuple[Tensor]:
        return (hidden_states + 1,)


def passed(skipped: set[int], n_forwards: int = 1, *, streams: int = 0) -> list[tuple[int, float]]:
    layers = [AddOne() for _ in range(4)]
    seen: list[tuple[int, float]] = []
    with watched(layers, lambda place, rows: seen.append((place, float(rows.unique())))):
        for _ in range(n_forwards):
            x = torch.zeros(*((streams,) if streams else ()), 1, 3, 2)
            for place, layer in enumerate(layers):
                if place not in skipped:
                    (x,) = layer(x)
    assert all(vars(layer).get("forward") is None for layer in layers)
    return seen


@pytest.mark.parametrize(
    "skipped, expected",
    [
        (set(), [0, 1, 2, 3, 4]),
        ({0}, [0, 0, 1, 2, 3]),
        ({1, 2}, [0, 1, 1, 1, 2]),
        ({3}, [0, 1, 2, 3, 3]),
        ({2, 3}, [0, 1, 2, 2, 2]),
    ],
)
@pytest.mark.parametrize("n_forwards", [1, 3])
def test_every_place_is_given_once_a_forward(skipped: set[int], expected: list[int], n_forwards: int):
    assert passed(skipped, n_forwards) == list(enumerate(map(float, expected))) * n_forwards


def test_of_streams_beside_each_other_the_first_is_given():
    assert passed(set(), streams=4) == list(enumerate([0.0, 1.0, 2.0, 3.0, 4.0]))


@pytest.mark.parametrize("family", ["mllama", "gemma3n_text"])
def test_families_that_pass_over_layers_or_have_several_streams(family: str):
    """The stream is one row a token before every layer, and The block says of each what it adds."""
    runner = LocalRunner(small_model("causal", family), letters(), name=family)
    capture = runner.capture(CaptureRequest(SHORT))
    rows = len(capture.tokens), capture.hidden.shape[-1]
    assert [tuple(one.shape) for one in capture.residuals] == [rows] * (capture.n_layers + 1)
    added = runner.submit(StreamAdditions(capture.request, 1)).result()
    steps = {
        step.layer: vector for step, vector in zip(added.steps, added.vectors, strict=True) if step.part == "layer"
    }
    for layer, vector in steps.items():
        moved = capture.residual(layer + 1)[1] - capture.residual(layer)[1]
        torch.testing.assert_close(vector, moved.float().cpu(), rtol=1e-4, atol=1e-5)
    assert len(stages(runner.submit(WhatItIsMadeOf()).result(), 0, capture, added, 1)) > capture.n_layers
