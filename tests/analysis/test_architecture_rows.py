"""The rows of the architecture: every part once, the vectors those of the capture."""

from __future__ import annotations

import numpy as np
import pytest

from analysis.architecture import stages
from model_runner import CaptureRequest, load_runner
from model_runner.block_questions import StreamAdditions, WhatItIsMadeOf
from tests.model_runner.cases import TEXT, shared_runner
from tests.model_runner.families import FAMILIES, often


@pytest.mark.parametrize("name", often(family.name for family in FAMILIES))
def test_every_family_draws_with_its_own_vectors(name: str) -> None:
    runner, request = shared_runner(name), CaptureRequest(TEXT)
    made, capture = runner.submit(WhatItIsMadeOf()).result(), runner.capture(request)
    added = runner.submit(StreamAdditions(request, 3)).result()
    found = stages(made, 1, capture, added, 3)
    assert found[0].role == "tokenizer"
    blocks = [stage for stage in found if stage.role == "block"]
    for layer, stage in enumerate(blocks):
        np.testing.assert_allclose(stage.vector, capture.residual(layer + 1)[3].double().numpy())
    inside = [stage for stage in found if stage.block is not None and stage.role != "block"]
    assert [stage.part for stage in inside] == list(made.blocks[1].parts)
    shown = [stage.vector for stage in inside if stage.vector is not None]
    steps = [i for i, step in enumerate(added.steps) if step.layer == 1 and step.part != "norm"]
    assert len(shown) == len(steps) == 2
    for vector, i in zip(shown, steps, strict=True):
        np.testing.assert_allclose(vector, added.vectors[i].double().numpy())
    outer = sum(stage.n_parameters for stage in found if stage.block is None or stage.role == "block")
    assert outer == made.n_parameters


def test_an_encoder_and_a_decoder_are_drawn_one_below_the_other() -> None:
    made = load_runner("translator").submit(WhatItIsMadeOf()).result()
    roles = [stage.role for stage in stages(made, 5, None, None, 0)]
    assert roles == [
        "tokenizer", "embedding", *["block"] * 4, "norm", "embedding", "block", "block", "norm", "attention", "norm",
        "cross", "norm", "ffn", "block", "block", "norm", "head",
    ]  # fmt: skip


def test_shapes_that_occur_often_are_counted() -> None:
    runner = shared_runner("llama")
    made = runner.submit(WhatItIsMadeOf()).result()
    (ffn,) = [stage for stage in stages(made, 0, None, None, 0) if stage.role == "ffn"]
    assert ffn.shapes == ["2 · 48×32", "32×48"]
