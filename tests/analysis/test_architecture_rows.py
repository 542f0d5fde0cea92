"""The rows of the architecture: every part once, with the capture's vectors."""

from __future__ import annotations

import math

import numpy as np
import pytest
from transformers import AutoModel

from analysis.architecture import said, stages
from model_runner import CaptureRequest, load_runner
from model_runner.block_questions import StreamAdditions, WhatItIsMadeOf
from model_runner.local.runner import LocalRunner
from tests.model_runner.cases import TEXT, shared_runner
from tests.model_runner.families import ONE_STREAM, often
from tests.model_runner.local.recording.test_encoder_decoders import runner as two_stacks
from tests.model_runner.tiny import byte_tokenizer, tiny


@pytest.mark.parametrize("name", often(family.name for family in ONE_STREAM))
def test_every_family_draws_with_its_own_vectors(name: str) -> None:
    runner, request = shared_runner(name), CaptureRequest(TEXT)
    made, capture = runner.submit(WhatItIsMadeOf()).result(), runner.capture(request)
    added = runner.submit(StreamAdditions(request, 3)).result()
    found = stages(made, 1, capture, added, 3)
    assert found[0].role == "tokenizer"
    blocks = [stage for stage in found if stage.role == "block"]
    breaks = {step.layer for step in added.steps if step.part == "between"}  # test_layer_order.py looks at these
    for layer, stage in enumerate(blocks):
        if layer + 1 in breaks:
            continue
        np.testing.assert_allclose(stage.vector, capture.residual(layer + 1)[3].double().numpy())
    inside = [stage for stage in found if stage.block is not None and stage.role != "block"]
    assert [stage.part for stage in inside] == list(made.blocks[1].parts)
    outer = sum(stage.n_parameters for stage in found if stage.block is None or stage.role == "block")
    assert outer == made.n_parameters
    shown = [stage.vector for stage in inside if stage.vector is not None]
    steps = [i for i, step in enumerate(added.steps) if step.layer == 1 and step.part not in ("norm", "between")]
    if [added.steps[i].part for i in steps] == ["layer"]:  # what it adds cannot be told apart
        assert not shown
        return
    assert len(shown) == len(steps) == (3 if name == "longcat-flash" else 2)
    for vector, i in zip(shown, steps, strict=True):
        np.testing.assert_allclose(vector, added.vectors[i].double().numpy())


def test_an_encoder_and_a_decoder_are_drawn_one_below_the_other() -> None:
    made = load_runner("translator").submit(WhatItIsMadeOf()).result()
    roles = [stage.role for stage in stages(made, 5, None, None, 0)]
    assert roles == [
        "tokenizer", "embedding", *["block"] * 4, "norm", "embedding", "block", "block", "norm", "attention", "norm",
        "cross", "norm", "ffn", "block", "block", "norm", "head",
    ]  # fmt: skip


@pytest.mark.parametrize("attention", ["encoder", "decoder", "cross"])
@pytest.mark.parametrize("name", ["translator", "bart", "mbart", "marian", "t5"])
def test_a_token_goes_through_its_own_stack_alone(name: str, attention: str) -> None:
    runner = load_runner(name) if name == "translator" else two_stacks(name)
    made = runner.submit(WhatItIsMadeOf()).result()
    request = CaptureRequest("A dog sleeps.", target="一只狗", attention=attention)
    capture, position = runner.capture(request), 2
    added = runner.submit(StreamAdditions(request, position)).result()
    stack = "encoder" if attention == "encoder" else "decoder"
    for opened in range(len(made.blocks)):
        found = stages(made, opened, capture, added, position)
        seen: list[int] = []
        for stage in found:
            if stage.role == "block" and stage.block is not None:
                assert (stage.vector is not None) == (stage.block.stack == stack)
                if stage.vector is not None:
                    expected = capture.residual(stage.block.layer + 1)[position].double().numpy()
                    np.testing.assert_allclose(stage.vector, expected)
                    seen.append(stage.block.layer)
        assert seen == list(range(capture.n_layers))
        ends = [stage for stage in found if stage.block is None and stage.vector is not None]
        np.testing.assert_allclose(ends[0].vector, capture.residual(0)[position].double().numpy())
        if len(ends) > 1:  # a last norm
            np.testing.assert_allclose(ends[1].vector, capture.hidden[position].double().numpy())
        assert len(ends) == 1 + (name in ("translator", "t5", "mbart"))
        own = [one.vector for one in found if one.adds and one.vector is not None]
        here = made.blocks[opened]
        if here.stack != stack:
            assert own == []
            continue
        steps = [i for i, step in enumerate(added.steps) if step.layer == here.layer and step.part != "norm"]
        if [added.steps[i].part for i in steps] == ["layer"]:  # a sum that is not told apart is no part's own
            assert own == []
            assert name in ("bart", "marian")
            continue
        assert len(own) == len(steps) == (2 if stack == "encoder" else 3)
        for vector, i in zip(own, steps, strict=True):
            np.testing.assert_allclose(vector, added.vectors[i].double().numpy())


@pytest.mark.parametrize("position", [0, 3, -1])
@pytest.mark.parametrize("name", ["default", "translator", "translator encoder", "translator cross"])
def test_what_is_said_in_the_end_is_the_likeliest_of_the_models_own_logits(name: str, position: int) -> None:
    name, _, attention = name.partition(" ")
    capture = load_runner(name).capture(CaptureRequest("A dog sleeps.", attention=attention))
    speaks = capture.attention("decoder") if capture.attentions else capture
    found, logits = said(capture, position), speaks.logits(position).double().tolist()
    assert found is not None
    best = max(range(len(logits)), key=lambda token: logits[token])
    total = sum(math.exp(one - logits[best]) for one in logits)
    assert (found.token, found.position, found.hidden) == (best, position, False)
    assert found.probability == pytest.approx(1 / total, rel=1e-9)


def test_the_norm_inside_an_encoders_output_layer_has_no_vector_of_the_stream() -> None:
    runner = load_runner("encoder")
    found = stages(runner.submit(WhatItIsMadeOf()).result(), 0, runner.capture(CaptureRequest(TEXT)), None, 3)
    *_, last = [stage for stage in found if stage.role == "block"]
    after = found[found.index(last) + 1 :]
    assert last.vector is not None
    assert "norm" in [stage.role for stage in after]
    assert [stage.vector for stage in after] == [None] * len(after)


def test_an_encoder_says_the_hidden_word_alone() -> None:
    runner = load_runner("encoder")
    capture = runner.capture(CaptureRequest("the capital of France is [MASK] ."))
    (place,) = [i for i, token in enumerate(capture.tokens) if token.hidden]
    for position in (0, place):
        found = said(capture, position)
        assert found is not None
        assert (found.token, found.position, found.hidden) == (int(capture.logits(place).argmax()), place, True)
    assert said(runner.capture(CaptureRequest("the capital of France")), 1) is None


def test_a_model_without_an_output_layer_says_nothing() -> None:
    held = LocalRunner(tiny("llama", AutoModel)(), byte_tokenizer(), name="llama-base")
    assert said(held.capture(CaptureRequest(TEXT)), 3) is None


def test_shapes_that_occur_often_are_counted() -> None:
    runner = shared_runner("llama")
    made = runner.submit(WhatItIsMadeOf()).result()
    (ffn,) = [stage for stage in stages(made, 0, None, None, 0) if stage.role == "ffn"]
    assert ffn.shapes == ["2 · 48×32", "32×48"]
