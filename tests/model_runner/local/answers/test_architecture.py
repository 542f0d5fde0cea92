"""The parts of every family: counts that add up, and agree with its own configuration and code."""

from __future__ import annotations

import functools

import pytest
import torch
from torch import nn

from model_runner import load_runner
from model_runner.block_questions import Architecture, WhatItIsMadeOf
from model_runner.local.answers.norm_kind import norm_kind
from tests.model_runner.cases import shared_runner
from tests.model_runner.families import FAMILIES, ONE_STREAM, often

EMBEDDED = ("default", "encoder", "translator")

# By hand, from the papers and transformers' code: norms, activation, gated, norm, of the second layer.
WRITTEN: dict[str, tuple[str, str, bool, str]] = {
    "llama": ("pre", "SiLU", True, "RMSNorm"), "gpt2": ("pre", "GELU (tanh)", False, "LayerNorm"),
    "opt": ("pre", "ReLU", False, "LayerNorm"), "bert": ("post", "GELU", False, "LayerNorm"),
    "gemma2": ("both", "GELU (tanh)", True, "RMSNorm"), "olmo2": ("after", "SiLU", True, "RMSNorm"),
    "phi3": ("pre", "SiLU", True, "RMSNorm"), "gpt-neox": ("pre", "GELU", False, "LayerNorm"),
    "modernbert": ("pre", "GELU", True, "LayerNorm"), "glm4": ("both", "SiLU", True, "RMSNorm"),
    "falcon": ("pre", "GELU", False, "LayerNorm"), "distilbert": ("post", "GELU", False, "LayerNorm"),
    "cohere": ("pre", "SiLU", True, "LayerNorm"), "gptj": ("pre", "GELU (tanh)", False, "LayerNorm"),
}  # fmt: skip
EXPERTS = {"mixtral": (4, 2), "qwen3-moe": (4, 2), "phimoe": (4, 2), "gpt-oss": (4, 2), "deepseek-v3": (4, 2),
           "qwen3-next": (4, 2), "jamba": (2, 1), "llama": (0, 0)}  # fmt: skip
HEADS = {"llama": (4, 2), "gpt2": (4, 4), "gpt-bigcode": (4, 1), "falcon": (4, 1), "deepseek-v3": (4, 4)}


@functools.cache
def made_of(name: str) -> Architecture:
    runner = load_runner(name) if name in EMBEDDED else shared_runner(name)
    return runner.submit(WhatItIsMadeOf()).result()


@pytest.mark.parametrize("name", [*EMBEDDED, *often(family.name for family in ONE_STREAM)])
def test_every_parameter_is_in_one_part(name: str) -> None:
    found = made_of(name)
    model = (load_runner(name) if name in EMBEDDED else shared_runner(name)).engine.model
    assert found.n_parameters == sum(one.numel() for one in model.parameters())
    outer = sum(part.n_parameters for part in (*found.before, *found.between, *found.after))
    assert outer + sum(block.n_parameters for block in found.blocks) == found.n_parameters
    for block in found.blocks:
        assert sum(part.n_parameters for part in block.parts) == block.n_parameters
        assert {part.role for part in block.parts} >= {"norm", "ffn"}
        assert block.norms in ("pre", "post", "after", "both")


@pytest.mark.parametrize("name", [*EMBEDDED, *often(family.name for family in FAMILIES)])
def test_every_family_has_an_embedding_blocks_and_a_head_and_its_shapes(name: str) -> None:
    found = made_of(name)
    model = (load_runner(name) if name in EMBEDDED else shared_runner(name)).engine.model
    assert [part.role for part in (*found.before, *found.after)].count("head") == 1
    assert found.before[0].role == "embedding"
    parameters = dict(model.named_parameters(remove_duplicate=False))
    for part in (*found.before, *(one for block in found.blocks for one in block.parts), *found.between, *found.after):
        for weight in part.weights:
            real = parameters[f"{part.name}.{weight.name}"]
            assert (weight.shape, weight.dtype) == (tuple(real.shape), "float32")


@pytest.mark.parametrize("name", WRITTEN)
def test_how_a_family_works_is_recognised(name: str) -> None:
    block = made_of(name).blocks[1]
    notes = {part.note for part in block.parts if part.role == "norm"}
    assert (block.norms, block.activation, block.gated, *notes) == WRITTEN[name]


@pytest.mark.parametrize("name", EXPERTS)
def test_experts_are_counted(name: str) -> None:
    block = made_of(name).blocks[1]
    assert (block.n_experts, block.n_used) == EXPERTS[name]


@pytest.mark.parametrize("name", HEADS)
def test_heads_are_counted(name: str) -> None:
    block = made_of(name).blocks[0]
    assert (block.n_heads, block.n_kv_heads) == HEADS[name]


def test_the_three_embedded_models() -> None:
    llama, bert, t5 = map(made_of, EMBEDDED)
    assert (llama.tied, bert.tied, t5.tied) == (True, True, True)
    assert [part.role for part in bert.before] == ["embedding", "segments", "positions", "norm"]
    assert {block.stack for block in llama.blocks} == {""}
    n_layers = len(t5.blocks) // 2
    assert [block.stack for block in t5.blocks] == ["encoder"] * n_layers + ["decoder"] * n_layers
    assert [part.role for part in t5.between] == ["norm", "embedding"]
    last = t5.blocks[-1]
    assert [part.role for part in last.parts if part.role != "norm"] == ["attention", "cross", "ffn"]
    assert not made_of("llama").tied


def test_an_output_layer_that_the_file_lacks_is_no_part(monkeypatch: pytest.MonkeyPatch) -> None:
    runner = shared_runner("llama")
    whole = made_of("llama")
    monkeypatch.setattr(runner.engine, "has_head", False)
    found = runner.submit(WhatItIsMadeOf()).result()
    assert [part.role for part in found.after] == ["norm"]
    assert found.n_parameters == whole.n_parameters - runner.engine.model.lm_head.weight.numel()
    assert not found.tied


def test_a_head_of_several_modules_that_the_file_lacks_is_no_part_either(monkeypatch: pytest.MonkeyPatch) -> None:
    runner = shared_runner("bert")
    monkeypatch.setattr(runner.engine, "has_head", False)
    found = runner.submit(WhatItIsMadeOf()).result()
    backbone = runner.engine.structure.backbone.module
    assert found.n_parameters == sum(one.numel() for one in backbone.parameters())
    assert found.n_parameters < sum(one.numel() for one in runner.engine.model.parameters())


def test_norms_are_told_apart_by_what_they_do() -> None:
    width = 32
    torch.manual_seed(0)
    layer, rms = nn.LayerNorm(width), nn.RMSNorm(width)
    for norm in (layer, rms):
        nn.init.normal_(norm.weight)
    nn.init.normal_(layer.bias)
    assert norm_kind(layer, width) == "LayerNorm"
    assert norm_kind(rms, width) == "RMSNorm"
    assert norm_kind(nn.LayerNorm(width, elementwise_affine=False), width) == "LayerNorm"
    for other in (nn.Identity(), nn.GELU(), nn.Linear(width, width), nn.Dropout(0.1), nn.Softmax(-1), nn.Tanh()):
        assert norm_kind(other, width) is None
