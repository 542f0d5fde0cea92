"""The distance between heads' matrices: against the model's own weights, cut by hand."""

from __future__ import annotations

import math

import pytest
import torch

from analysis.matrix_change import matrix_changes
from model_runner.errors import NotSeparable
from model_runner.local.runner import LocalRunner
from model_runner.projection_questions import HeadMatrices, LayerMatrices
from model_runner.request import CaptureRequest
from tests.model_runner.tiny import D_HEAD, D_MODEL, byte_tokenizer, tiny

LAYER = 1


def asked(family: str, **config: object) -> tuple[LocalRunner, HeadMatrices]:
    runner = LocalRunner(tiny(family, **config)(), byte_tokenizer(), name="tiny", device="cpu")
    return runner, runner.submit(LayerMatrices(CaptureRequest("some text"), LAYER)).result()


def test_the_matrices_of_a_llama_are_rows_of_its_projections() -> None:
    runner, found = asked("llama", num_key_value_heads=2)
    attention = runner.engine.model.model.layers[LAYER].self_attn
    for own, module in ((found.q, attention.q_proj), (found.k, attention.k_proj), (found.v, attention.v_proj)):
        assert own is not None
        for head in range(len(own)):
            assert torch.equal(own[head], module.weight[head * D_HEAD : (head + 1) * D_HEAD].T)
    assert found.o is not None
    for head in range(4):
        assert torch.equal(found.o[head], attention.o_proj.weight[:, head * D_HEAD : (head + 1) * D_HEAD].T)


def test_the_matrices_of_a_gpt2_are_columns_of_one() -> None:
    runner, found = asked("gpt2")
    attention = runner.engine.model.transformer.h[LAYER].attn
    for part, own in enumerate((found.q, found.k, found.v)):
        assert own is not None
        start = part * D_MODEL + 2 * D_HEAD
        assert torch.equal(own[2], attention.c_attn.weight[:, start : start + D_HEAD])
    assert found.o is not None
    assert torch.equal(found.o[2], attention.c_proj.weight[2 * D_HEAD : 3 * D_HEAD])


def test_a_norm_is_the_root_of_the_squares_of_the_differences() -> None:
    one, two = torch.tensor([[[3.0, 0.0], [0.0, 4.0]]]), torch.tensor([[[0.0, 0.0], [0.0, 2.0]]])
    (change,) = matrix_changes(HeadMatrices(one, None, None, None), HeadMatrices(two, None, None, None))
    assert change.name == "W_Q"
    assert change.difference.tolist() == [pytest.approx(math.sqrt(13))]
    assert change.share.tolist() == [pytest.approx(math.sqrt(13) / 2)]


def test_matrices_of_other_sizes_have_no_difference() -> None:
    with pytest.raises(NotSeparable, match="have other sizes"):
        matrix_changes(asked("llama", num_key_value_heads=2)[1], asked("llama", num_key_value_heads=4)[1])
    with pytest.raises(NotSeparable, match="are not made by a matrix"):
        matrix_changes(HeadMatrices(None, None, None, None), HeadMatrices(None, None, None, None))
