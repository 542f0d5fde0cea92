"""Models of which a module is several layers: each is captured, edited and asked by itself, against plain hooks."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from transformers import AutoModelForMaskedLM

from model_runner.block_questions import StreamAdditions, TrainingStep, WhatItIsMadeOf
from model_runner.edits import ScaledHead
from model_runner.errors import EditNotPossible, NotSeparable
from model_runner.layer_origin import LayerOrigin
from model_runner.local.runner import LocalRunner
from model_runner.matrix_edit import ScaledSingulars
from model_runner.questions import PatchHeads, PatchStream, WhichHeads
from model_runner.request import CaptureRequest
from tests.model_runner.cases import FAMILY, TEXT, shared_runner
from tests.model_runner.families import CYCLES, GROUP, TWO_A_BLOCK
from tests.model_runner.tiny import D_HEAD, D_MODEL, byte_tokenizer, tiny

NAMES = ("albert", "longcat-flash", "hrm-text")
PROJECTIONS = {  # of each family the module that reads the heads of a layer, and how many numbers each gives
    "albert": (lambda layer: f"{GROUP}.attention.dense", D_HEAD),
    "longcat-flash": (lambda layer: f"{TWO_A_BLOCK[layer].module}.self_attn.{layer % 2}.o_proj", 10),
    "hrm-text": (lambda layer: f"{CYCLES[layer].module}.self_attn.o_proj", D_HEAD),
}


def in_run(number: int, hook: Callable[..., Any]) -> Callable[..., Any]:
    """The hook of a module, in this run of it alone."""
    runs = itertools.count()
    return lambda *seen: hook(*seen) if next(runs) == number else None


def given(change: Callable[[Tensor], Tensor]) -> Callable[..., Any]:
    """A pre-hook that changes the stream, or the heads, that a module is given."""

    def hook(_: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if args:
            return (change(args[0]), *args[1:]), kwargs
        return args, kwargs | {"hidden_states": change(kwargs["hidden_states"])}

    return hook


def plain_logits(name: str, module: str, *, before: Any = None, after: Any = None) -> Tensor:
    """Of a model that no capture has touched, with a hook on one of its modules."""
    model = FAMILY[name].build()
    if before is not None:
        model.get_submodule(module).register_forward_pre_hook(before, with_kwargs=True)
    if after is not None:
        model.get_submodule(module).register_forward_hook(after)
    with torch.no_grad():
        return model(torch.tensor([byte_tokenizer()(TEXT).input_ids])).logits[0]


def logits(capture: Any) -> Tensor:
    return torch.stack([capture.logits(position) for position in range(len(capture.tokens))])


def test_each_layer_says_which_run_of_which_module_it_is() -> None:
    captures = {name: shared_runner(name).capture(CaptureRequest(TEXT)) for name in NAMES}
    assert captures["albert"].origins == tuple(LayerOrigin(GROUP, run, 3) for run in range(3))
    assert captures["longcat-flash"].origins == tuple(
        LayerOrigin(f"model.layers.{block}", part=part, parts=2) for block in (0, 1) for part in (0, 1)
    )
    runs = {"L": 4, "H": 2}
    assert captures["hrm-text"].origins == tuple(
        LayerOrigin(f"model.{stack}_module.layers.0", run, runs[stack])
        for stack, run in (("L", 0), ("L", 1), ("H", 0), ("L", 2), ("L", 3), ("H", 1))
    )
    assert shared_runner("llama").capture(CaptureRequest(TEXT)).origins == ()


def test_groups_of_layers_that_take_turns_are_as_many_layers_as_they_run() -> None:
    sizes = {"num_hidden_layers": 4, "num_hidden_groups": 2, "inner_group_num": 2, "embedding_size": D_MODEL}
    model = tiny("albert", AutoModelForMaskedLM, **sizes)()
    runner = LocalRunner(model, byte_tokenizer(), name="groups")
    capture = runner.capture(CaptureRequest(TEXT))
    places = [(0, 0), (0, 1), (0, 0), (0, 1), (1, 0), (1, 1), (1, 0), (1, 1)]
    assert [one.module for one in capture.origins] == [
        f"albert.encoder.albert_layer_groups.{group}.albert_layers.{inner}" for group, inner in places
    ]
    assert [(one.run, one.runs) for one in capture.origins] == [(0, 2), (0, 2), (1, 2), (1, 2)] * 2
    assert all(capture.verify(layer).ok for layer in range(8))


@pytest.mark.parametrize("name", NAMES)
def test_an_edit_of_a_head_changes_its_own_layer_alone(name: str) -> None:
    runner, (projection, size) = shared_runner(name), PROJECTIONS[name]
    before = runner.capture(CaptureRequest(TEXT))
    for layer in range(before.n_layers):
        head = layer % 4
        after = runner.capture(CaptureRequest(TEXT, edits=(ScaledHead(layer, head, 0.0),)))

        def without(heads: Tensor, head: int = head) -> Tensor:
            heads = heads.clone()
            heads[..., head * size : (head + 1) * size] = 0
            return heads

        number = FAMILY[name].runs[layer].number
        expected = plain_logits(name, projection(layer), before=in_run(number, given(without)))
        assert (logits(after) - expected).abs().max() <= 1e-5
        assert (logits(after) - logits(before)).abs().max() > 1e-3
        for below in range(layer + 1):
            assert torch.equal(after.q(below), before.q(below))
            assert torch.equal(after.record(below).output, before.record(below).output)


@pytest.mark.parametrize("name", NAMES)
def test_a_matrix_is_changed_in_the_run_of_its_layer_alone(name: str) -> None:
    runner, (projection, _) = shared_runner(name), PROJECTIONS[name]
    for layer in (0, len(FAMILY[name].kinds) - 1):
        run = FAMILY[name].runs[layer]
        edit = ScaledSingulars(layer, projection(layer).removeprefix(f"{run.module}."), (0.0,))
        found = logits(runner.capture(CaptureRequest(TEXT, edits=(edit,))))
        weight: Any = FAMILY[name].build().get_submodule(projection(layer)).weight
        left, sizes, right = torch.linalg.svd(weight.detach().double())
        less = (sizes[0] * left[:, :1] @ right[:1]).float()

        def changed(_: nn.Module, args: tuple[Any, ...], output: Tensor, less: Tensor = less) -> Tensor:
            return output - args[0] @ less.T

        expected = plain_logits(name, projection(layer), after=in_run(run.number, changed))
        assert (found - expected).abs().max() <= 2e-5


@pytest.mark.parametrize("name", NAMES)
def test_a_head_ablated_in_the_upper_layers_says_what_the_whole_forward_says(name: str) -> None:
    runner, request = shared_runner(name), CaptureRequest(TEXT)
    target = 65
    own = torch.log_softmax(runner.capture(request).logits(-1), dim=-1)[target]
    for layer in range(len(FAMILY[name].kinds)):
        found = runner.submit(WhichHeads(request, layer, target)).result()
        assert found.ablated is not None
        for head in (0, 3):
            after = runner.capture(CaptureRequest(TEXT, edits=(ScaledHead(layer, head, 0.0),)))
            expected = torch.log_softmax(after.logits(-1), dim=-1)[target] - own
            assert float(found.ablated[head]) == pytest.approx(float(expected), abs=2e-5)


@pytest.mark.parametrize("name", NAMES)
def test_a_stream_is_patched_where_its_layer_reads_it(name: str) -> None:
    """Against a plain forward in which the module that reads the stream is given the other text's row in that run."""
    runner, other = shared_runner(name), TEXT[:-3] + "cat"
    request, source = CaptureRequest(TEXT), CaptureRequest(other)
    theirs, tokens, last = runner.capture(source), (65, 66), len(runner.capture(request).tokens) - 1
    own = torch.log_softmax(runner.capture(request).logits(-1), dim=-1)
    for layer, run in enumerate(FAMILY[name].runs):
        if name == "longcat-flash" and layer % 2:  # begins inside a block
            with pytest.raises(EditNotPossible, match="starts inside a block"):
                runner.submit(PatchStream(request, source, layer, tokens)).result()
            continue
        found = runner.submit(PatchStream(request, source, layer, tokens)).result()

        def patched(stream: Tensor, layer: int = layer) -> Tensor:
            stream = stream.clone()
            stream[0, last] = theirs.residual(layer)[last]
            return stream

        after = plain_logits(name, run.reads, before=in_run(run.number, given(patched)))
        said = torch.log_softmax(after[-1], dim=-1)
        expected = (said[65] - said[66]) - (own[65] - own[66])
        assert float(found[last]) == pytest.approx(float(expected), abs=3e-5)


def test_heads_inside_a_block_are_patched_all_the_same() -> None:
    runner, other = shared_runner("longcat-flash"), TEXT[:-3] + "cat"
    found = runner.submit(PatchHeads(CaptureRequest(TEXT), CaptureRequest(other), 1, 2, (65, 66))).result()
    theirs = runner.capture(CaptureRequest(other)).record(1).head_output_edited[-1, 2]
    own = torch.log_softmax(runner.capture(CaptureRequest(TEXT)).logits(-1), dim=-1)

    def patched(heads: Tensor) -> Tensor:
        heads = heads.clone()
        heads[0, -1, 20:30] = theirs
        return heads

    after = plain_logits("longcat-flash", "model.layers.0.self_attn.1.o_proj", before=given(patched))
    said = torch.log_softmax(after[-1], dim=-1)
    assert float(found[-1]) == pytest.approx(float((said[65] - said[66]) - (own[65] - own[66])), abs=3e-5)


def test_what_stands_between_two_runs_of_a_stack_is_a_step_of_its_own() -> None:
    """HRM-Text norms what a stack makes and adds the other one's state: what leaves a layer is told by plain hooks."""
    position = 3
    added = shared_runner("hrm-text").submit(StreamAdditions(CaptureRequest(TEXT), position)).result()
    assert [step.layer for step in added.steps if step.part == "between"] == [1, 2, 3, 4, 5]
    model, left = FAMILY["hrm-text"].build(), []
    for stack in ("L", "H"):
        layer = model.get_submodule(f"model.{stack}_module.layers.0")
        layer.register_forward_hook(lambda _, __, output: left.append(output[0, position]))
    with torch.no_grad():
        model(torch.tensor([byte_tokenizer()(TEXT).input_ids]))
    sums = added.vectors.double().cumsum(dim=0)
    for layer, leaving in enumerate(left):
        last = max(i for i, step in enumerate(added.steps) if step.layer == layer)
        torch.testing.assert_close(sums[last].float(), leaving, rtol=0, atol=1e-4)


def test_parameters_of_shared_layers_are_counted_once_and_named_as_shared() -> None:
    for name, shares in (("albert", [None, 0, 0]), ("hrm-text", [None, 0, None, 0, 0, 2])):
        runner = shared_runner(name)
        made = runner.submit(WhatItIsMadeOf()).result()
        assert [block.shares for block in made.blocks] == shares
        assert [block.n_parameters == 0 for block in made.blocks] == [one is not None for one in shares]
        assert made.n_parameters == runner.info.n_parameters


def test_a_block_that_attends_twice_is_two_layers_with_their_own_parts() -> None:
    made = shared_runner("longcat-flash").submit(WhatItIsMadeOf()).result()
    assert [block.shares for block in made.blocks] == [None] * 4
    first, second = ([part.name.removeprefix("model.layers.0.") for part in block.parts] for block in made.blocks[:2])
    assert first == ["input_layernorm.0", "self_attn.0", "post_attention_layernorm.0", "mlps.0"]
    assert second == ["input_layernorm.1", "self_attn.1", "post_attention_layernorm.1", "mlps.1", "mlp"]
    assert (made.blocks[0].n_experts, made.blocks[1].n_experts) == (0, 5)  # the block's experts are added at its end
    assert made.blocks[1].experts == "model.layers.0.mlp.experts"


@pytest.mark.parametrize("name", NAMES)
def test_a_training_step_tells_no_gradient_of_a_layer_that_is_not_alone_in_its_module(name: str) -> None:
    with pytest.raises(NotSeparable, match="several of its layers share one module"):
        shared_runner(name).submit(TrainingStep(CaptureRequest(TEXT), (0.1,))).result()
