"""Edits of an encoder–decoder's three attentions do what hooks written by hand do to transformers' own modules."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor

from model_runner import CaptureRequest, GenerateRequest, edit_text, wire
from model_runner.edits import (
    Blocked,
    Documents,
    Edit,
    Int8Cache,
    KeepLast,
    Masked,
    MeanHead,
    OfAttention,
    OneEdit,
    ScaledHead,
    SharedKeys,
    SharpenedHead,
    SwappedHeads,
)
from model_runner.errors import EditNotPossible, EditsContradict, NoSuchAttention, NoSuchPlace
from model_runner.local.runner import LocalRunner
from model_runner.rotation_edit import Unrotated
from tests.model_runner.local.recording.test_encoder_decoders import FAMILIES, SOURCE, TARGET, ids_of, runner, three
from tests.model_runner.tiny import D_HEAD, PAD, byte_tokenizer, tiny

NAMES = ("t5", "bart", "marian")
ATTENTIONS = ("encoder", "decoder", "cross")
EACH = [  # each family and each attention in every run of the tests, each pair by make long
    pytest.param(name, attention, marks=[] if number % 4 == 0 else [pytest.mark.long])
    for number, (name, attention) in enumerate(itertools.product(NAMES, ATTENTIONS))
]
LAYER, HEAD = 1, 2
REQUEST = CaptureRequest(SOURCE, target=TARGET)


def with_edits(*edits: Edit) -> CaptureRequest:
    return replace(REQUEST, edits=edits)


def projection(model: Any, name: str, attention: str) -> torch.nn.Module:
    """What the heads of one attention of layer LAYER pass on is given to."""
    if name == "t5":
        layers = model.encoder.block if attention == "encoder" else model.decoder.block
        own = layers[LAYER].layer
        return own[1].EncDecAttention.o if attention == "cross" else own[0].SelfAttention.o
    layers = model.model.encoder.layers if attention == "encoder" else model.model.decoder.layers
    return layers[LAYER].encoder_attn.out_proj if attention == "cross" else layers[LAYER].self_attn.out_proj


def by_hook(name: str, attention: str, change: Callable[[Tensor], Tensor]) -> Tensor:
    """The logits of plain transformers where ``change`` is made of what the heads pass on, [tokens, heads, d_head]."""
    model: Any = FAMILIES[name]()

    def hook(_: Any, args: tuple[Tensor]) -> tuple[Tensor]:
        return (change(args[0].unflatten(-1, (-1, D_HEAD)).clone()).flatten(-2),)

    projection(model, name, attention).register_forward_pre_hook(hook)
    written = torch.tensor([[PAD, *ids_of(TARGET)]])
    with torch.no_grad():
        return model(input_ids=torch.tensor([ids_of(SOURCE)]), decoder_input_ids=written).logits[0]


def zero(x: Tensor) -> Tensor:
    x[:, :, HEAD] = 0
    return x


def half(x: Tensor) -> Tensor:
    x[:, :, HEAD] *= 0.5
    return x


def mean(x: Tensor) -> Tensor:
    x[:, :, HEAD] = x[:, :, HEAD].mean(dim=1, keepdim=True)
    return x


def swap(x: Tensor) -> Tensor:
    order = [0, 1, 2, 3]
    order[HEAD], order[0] = order[0], order[HEAD]
    return x[:, :, order]


@pytest.mark.parametrize("name, attention", EACH)
@pytest.mark.parametrize(
    "edit, change",
    [
        (ScaledHead(LAYER, HEAD), zero),
        (ScaledHead(LAYER, HEAD, 0.5), half),
        (MeanHead(LAYER, HEAD), mean),
        (SwappedHeads(LAYER, HEAD, 0), swap),
    ],
    ids=["ablated", "halved", "mean", "swapped"],
)
def test_a_head_of_each_attention_passes_on_what_a_hook_before_its_projection_makes_of_it(
    name: str, attention: str, edit: OneEdit, change: Callable[[Tensor], Tensor]
):
    made = runner(name)
    capture = made.capture(with_edits(OfAttention(attention, edit)))
    expected, plain = by_hook(name, attention, change), by_hook(name, attention, lambda x: x)
    ours = torch.stack([capture.logits(i) for i in range(len(capture.tokens))])
    torch.testing.assert_close(ours, expected, rtol=1e-5, atol=5e-5)
    assert (expected - plain).abs().max() > 1e-3
    assert all(one.verify(layer).ok for one in three(capture) for layer in range(one.n_layers))


def eager(name: str, attention: str) -> Tensor:
    """The weights of layer 0 as transformers gives them, [heads, queries, keys]."""
    model: Any = FAMILIES[name]()
    model.set_attn_implementation("eager")
    written = torch.tensor([[PAD, *ids_of(TARGET)]])
    ids = torch.tensor([ids_of(SOURCE)])
    with torch.no_grad():
        found = model(input_ids=ids, decoder_input_ids=written, output_attentions=True)
    return getattr(found, "cross_attentions" if attention == "cross" else f"{attention}_attentions")[0][0]


@pytest.mark.parametrize("attention", ATTENTIONS)
@pytest.mark.parametrize("name", NAMES)
def test_a_head_at_another_temperature_has_the_powers_of_its_weights_bias_included(name: str, attention: str):
    edit = OfAttention(attention, SharpenedHead(0, HEAD, 0.5))
    found = runner(name).capture(with_edits(edit)).attention(attention)
    before = eager(name, attention)
    expected = before[HEAD] ** 2 / (before[HEAD] ** 2).sum(dim=-1, keepdim=True)
    torch.testing.assert_close(found.weights(0, HEAD), expected, rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(found.weights(0, 0), before[0], rtol=1e-4, atol=1e-5)
    assert found.verify(0).ok
    assert found.verify(1).ok


@pytest.mark.parametrize("attention", ATTENTIONS)
@pytest.mark.parametrize("name", NAMES)
def test_hidden_cells_are_gone_and_a_query_without_any_passes_nothing_on(name: str, attention: str):
    n_keys = len(ids_of(TARGET)) + 1 if attention == "decoder" else len(ids_of(SOURCE))
    cells = ((3, 0), (3, 2), *((5, key) for key in range(n_keys)))
    edit = OfAttention(attention, Blocked(cells, (0,), (HEAD,)))
    found = runner(name).capture(with_edits(edit)).attention(attention)
    before = eager(name, attention)
    expected = before[HEAD].clone()
    for query, key in cells:
        expected[query, key] = 0
    expected = expected / expected.sum(dim=-1, keepdim=True).clamp(min=1e-9)
    torch.testing.assert_close(found.weights(0, HEAD), expected, rtol=1e-4, atol=1e-5)
    assert not found.record(0).output[5, HEAD].any()
    assert found.record(0).output[4, HEAD].any()
    assert found.verify(0).ok
    assert found.verify(1).ok


@pytest.mark.parametrize("name", NAMES)
def test_patterns_caches_and_shared_keys_are_verified_and_change_the_answer(name: str):
    made = runner(name)
    plain = made.capture(REQUEST).logits(-1)
    edits: list[Edit] = [
        OfAttention("encoder", Masked("window", (("window", 3),))),
        OfAttention("encoder", Documents((0, 4))),
        OfAttention("decoder", KeepLast(3, 1)),
        OfAttention("decoder", Int8Cache()),
        OfAttention("cross", Int8Cache()),
        OfAttention("cross", SharedKeys(1)),
    ]
    for edit in edits:
        found = made.capture(with_edits(edit))
        assert all(one.verify(layer).ok for one in three(found) for layer in range(one.n_layers)), edit
        assert (found.logits(-1) - plain).abs().max() > 1e-4, edit


def test_what_is_refused_says_why():
    made = runner("bart")
    refused: list[tuple[Edit, type[Exception], str]] = [
        (ScaledHead(0, 0), EditNotPossible, "three kinds of attention"),
        (OfAttention("encoder", KeepLast(3)), EditNotPossible, "keeps no cache"),
        (OfAttention("cross", Documents((0, 2))), EditNotPossible, "positions of one text"),
        (OfAttention("cross", Unrotated()), EditNotPossible, "rotation"),
        (OfAttention("decoder", ScaledHead(2, 0)), NoSuchPlace, "2"),
        (OfAttention("cross", ScaledHead(0, 4)), NoSuchPlace, "4"),
    ]
    for edit, kind, words in refused:
        with pytest.raises(kind, match=words):
            made.capture(with_edits(edit))
    made.capture(with_edits(OfAttention("encoder", ScaledHead(2, 0))))  # its encoder has a layer more
    with pytest.raises(EditsContradict):
        made.capture(with_edits(OfAttention("cross", ScaledHead(0, 0)), OfAttention("cross", MeanHead(0, 0))))
    made.capture(with_edits(OfAttention("cross", ScaledHead(0, 0)), OfAttention("decoder", ScaledHead(0, 0, 2.0))))
    with pytest.raises(NoSuchAttention, match="middle"):
        OfAttention("middle", ScaledHead(0, 0))


@pytest.mark.long
def test_the_changed_model_writes_by_itself_what_the_changed_generation_writes():
    made = runner("t5")
    edits = (OfAttention("cross", ScaledHead(0, 1, -2.0)), OfAttention("decoder", KeepLast(2, 1)))
    free = made.capture(CaptureRequest(SOURCE, edits=edits))
    steps = list(made.generate(GenerateRequest(SOURCE, max_new_tokens=len(free.tokens) - 1, edits=edits)))
    assert [step.token.id for step in steps] == [token.id for token in free.tokens[1:]]
    plain = made.capture(CaptureRequest(SOURCE))
    assert [token.id for token in plain.tokens] != [token.id for token in free.tokens]
    torch.testing.assert_close(steps[0].logits, free.logits(0), rtol=1e-4, atol=1e-4)
    with pytest.raises(EditNotPossible, match="no mean yet"):
        made.capture(CaptureRequest(SOURCE, edits=(OfAttention("cross", MeanHead(0, 0)),)))
    made.capture(CaptureRequest(SOURCE, edits=(OfAttention("encoder", MeanHead(0, 0)),)))


def test_bytes_and_addresses_say_which_attention_is_changed():
    made = runner("marian")
    edits = tuple(OfAttention(one, ScaledHead(0, 1, 0.25)) for one in ATTENTIONS)
    edits += (OfAttention("cross", Blocked(((3, 9), (2, 1)), (0,), None)),)
    assert edit_text.read(edit_text.written(edits)) == edits
    capture = made.capture(with_edits(*edits))
    back = wire.from_bytes(wire.to_bytes(capture))
    assert back.request == capture.request
    assert back.attention("cross").request.edits == edits


def test_an_edit_of_an_attention_is_refused_by_a_model_with_one_stack():
    made = LocalRunner(tiny("llama")(), byte_tokenizer(), name="llama")
    with pytest.raises(NoSuchAttention):
        made.capture(CaptureRequest("ab", edits=(OfAttention("cross", ScaledHead(0, 0)),)))
