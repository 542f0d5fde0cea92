"""Edits of a forward pass: equal to what transformers can do by itself, and still verified."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from model_runner import CaptureRequest
from model_runner.edits import Edit, Int8Cache, KeepLast
from model_runner.errors import EditInvalid
from model_runner.layer_edit import through_int8
from model_runner.local.runner import LocalRunner
from tests.model_runner.cases import FAMILY, TEXT, runner_of, shared_runner
from tests.model_runner.families import EDITABLE, WINDOW, often
from tests.model_runner.tiny import byte_tokenizer, tiny

TOKENS = len(byte_tokenizer()(TEXT).input_ids)
CLOSE = 1e-5  # float32, see tests/model_runner/cases.py


def capture(runner: LocalRunner, *edits: Edit):
    return runner.capture(CaptureRequest(text=TEXT, edits=edits))


def all_logits(runner: LocalRunner, *edits: Edit) -> Tensor:
    captured = capture(runner, *edits)
    return torch.stack([captured.logits(position) for position in range(TOKENS)])


def kept(window: int, sinks: int) -> Tensor:
    """Cell by cell: a key is seen if it is not ahead, and is one of the last or one of the first."""
    rows = [[k <= q and (q - k < window or k < sinks) for k in range(TOKENS)] for q in range(TOKENS)]
    return torch.tensor(rows)


@pytest.mark.parametrize("name", ["llama", "qwen3", "gpt2", "gpt-neox"])
@pytest.mark.parametrize("window, sinks", [(1, 0), (5, 0), (4, 2), (TOKENS, 0)])
def test_keeping_the_last_equals_a_mask_of_four_dimensions_given_to_transformers(name, window, sinks):
    family = FAMILY[name]
    plain = family.build()
    with torch.no_grad():
        ids = torch.tensor([byte_tokenizer()(TEXT).input_ids])
        expected = plain(ids, attention_mask=kept(window, sinks)[None, None]).logits[0]
    edited = all_logits(runner_of(family), KeepLast(window, sinks))
    assert (edited - expected).abs().max() <= CLOSE


def test_a_window_over_llama_is_mistral_of_the_same_weights():
    llama = tiny("llama", num_key_value_heads=2)()
    mistral = tiny("mistral", num_key_value_heads=2, sliding_window=WINDOW)()
    mistral.load_state_dict(llama.state_dict())
    edited = all_logits(LocalRunner(llama, byte_tokenizer(), name="llama"), KeepLast(WINDOW))
    native = all_logits(LocalRunner(mistral, byte_tokenizer(), name="mistral"))
    assert (edited - native).abs().max() <= CLOSE
    assert (edited - all_logits(shared_runner("llama"))).abs().max() > 0.01  # it does change something


@pytest.mark.table
@pytest.mark.parametrize("name", often(family.name for family in EDITABLE))
@pytest.mark.parametrize("edit", [KeepLast(3, sinks=1), Int8Cache()], ids=["window", "int8"])
def test_an_edited_forward_explains_its_own_output_in_every_family(name, edit):
    captured = capture(shared_runner(name), edit)
    for layer in FAMILY[name].attention_layers:
        check = captured.verify(layer)
        assert check.ok, f"layer {layer}: {check}"
        seen = captured.weights(layer, 0) > 0
        if isinstance(edit, KeepLast):
            far = torch.arange(TOKENS)[:, None] - torch.arange(TOKENS)[None, :]
            assert not (seen & (far >= 3))[:, 1:].any()
        else:
            assert torch.equal(through_int8(captured.k(layer)), captured.k(layer))


def test_int8_is_the_nearest_of_255_levels_of_each_row():
    x = torch.randn(2, 3, 8, generator=torch.Generator().manual_seed(1))
    x[0, 0] = 0.0
    for row, rounded in zip(x.reshape(-1, 8).tolist(), through_int8(x).reshape(-1, 8).tolist(), strict=True):
        largest = max(map(abs, row))
        levels = [step * largest / 127 for step in range(-127, 128)]
        for number, found in zip(row, rounded, strict=True):
            nearest = min(levels, key=lambda level: abs(level - number))
            assert abs(found - nearest) <= 1e-6 or abs(abs(found - number) - abs(nearest - number)) <= 1e-6


def test_requests_with_other_edits_are_other_captures():
    runner = shared_runner("llama")
    assert capture(runner, KeepLast(3)) is capture(runner, KeepLast(3))
    assert capture(runner, KeepLast(3)) is not capture(runner, KeepLast(4))
    assert capture(runner).request.edits == ()


def test_edits_compose():
    runner = shared_runner("llama")
    both = capture(runner, KeepLast(6), KeepLast(3))
    assert torch.equal(both.weights(1, 0), capture(runner, KeepLast(3)).weights(1, 0))


@pytest.mark.parametrize(
    "make, said",
    [
        (lambda: KeepLast(0), "The window is 0; it must be at least 1."),
        (lambda: KeepLast(4, sinks=-1), "The number of sinks is -1; it must be at least 0."),
    ],
)
def test_an_edit_that_keeps_nothing_is_refused(make, said):
    with pytest.raises(EditInvalid, match=said):
        make()
