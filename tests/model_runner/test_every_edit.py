"""Every kind of edit changes the forward pass, passes verification, and says where it is not possible."""

from __future__ import annotations

from dataclasses import fields, replace
from functools import cache

import pytest
import torch
from torch import Tensor

from model_runner import CaptureRequest, GenerateRequest
from model_runner.edits import KINDS, ChosenKeys, Edit, MeanHead, OfAttention
from model_runner.errors import EditNotPossible, NoSuchPlace
from model_runner.local.runner import LocalRunner
from model_runner.substitution import Substituted
from tests.model_runner.cases import FAMILY, TEXT, runner_of
from tests.model_runner.every_edit import EVERY_EDIT, NO_CHANGE

CLOSE = 1e-4  # float32 residuals up to 10, summed in another order; what an edit changes is far more
WHOLE_TEXT = (MeanHead,)  # what a text that grows cannot have
PLACES = ("layer", "head", "first", "second", "layers", "heads")
NOWHERE = 99

every_edit = pytest.mark.parametrize("edit", EVERY_EDIT, ids=repr)


@cache
def runner_named(name: str) -> LocalRunner:
    return runner_of(FAMILY[name])


def runner_for(edit: Edit) -> LocalRunner:
    """One of a model that the edit fits."""
    return runner_named("deepseek-v3.2" if isinstance(edit, ChosenKeys) else "llama")


def logits(runner: LocalRunner, *edits: Edit) -> Tensor:
    captured = runner.capture(CaptureRequest(text=TEXT, edits=edits))
    return torch.stack([captured.logits(position) for position in range(len(captured.tokens))])


def test_every_kind_of_edit_is_tried_here():
    assert {type(edit) for edit in EVERY_EDIT} == set(KINDS.values()) - {OfAttention}


@every_edit
def test_an_edit_changes_the_forward_and_every_layer_still_explains_its_output(edit):
    runner = runner_for(edit)
    captured = runner.capture(CaptureRequest(text=TEXT, edits=(edit,)))
    assert all(captured.verify(layer).ok for layer in range(captured.n_layers))
    apart = (logits(runner, edit) - logits(runner)).abs().max()
    assert apart <= CLOSE if edit in NO_CHANGE else apart > 10 * CLOSE


@every_edit
def test_a_place_that_the_model_does_not_have_is_refused(edit):
    for field in fields(edit):
        if field.name in PLACES:
            elsewhere = (NOWHERE,) if field.name in ("layers", "heads") else NOWHERE
            with pytest.raises(NoSuchPlace, match=str(NOWHERE)):
                runner_for(edit).capture(CaptureRequest(text=TEXT, edits=(replace(edit, **{field.name: elsewhere}),)))


@every_edit
def test_a_text_grown_under_an_edit_is_the_whole_text_read_under_it(edit):
    runner = runner_for(edit)
    grown = runner.generate(GenerateRequest(text=TEXT[:9], max_new_tokens=4, edits=(edit,)))
    if isinstance(edit, WHOLE_TEXT) or (isinstance(edit, Substituted) and edit.row.whole):
        with pytest.raises(EditNotPossible):
            next(iter(grown))
        return
    *_, last = grown
    ids = tuple(token.id for token in last.capture.tokens)[-(last.index + 1) :]
    whole = runner.capture(CaptureRequest(text=TEXT[:9], continuation=ids, edits=(edit,)))
    for layer in range(whole.n_layers + 1):
        assert (last.capture.residual(layer) - whole.residual(layer)).abs().max() <= CLOSE
