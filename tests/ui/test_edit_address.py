"""Edits in the address: what is written is read again, and nothing else is."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from model_runner import CaptureRequest
from model_runner.edits import (
    Blocked,
    Documents,
    Int8Cache,
    KeepLast,
    Masked,
    MeanHead,
    ScaledHead,
    SharedKeys,
    SharpenedHead,
    SwappedHeads,
)
from model_runner.errors import EditInvalid, EditNotPossible
from model_runner.turning import NtkTheta, RestartedPositions, ScaledTheta, ShiftedPositions, Unrotated
from ui import cached
from ui.edit_address import KINDS, MOST, read, written

EVERY = (
    KeepLast(4, 1), Int8Cache(), Documents((3, 5)), Masked("window", (("window", 3),), (0, 2), None),
    Masked("full", (), None, (1,)), Blocked(((5, 0), (6, 2)), None, (1,)), SharedKeys(1), ScaledHead(1, 2, -0.5),
    MeanHead(0, 3), SharpenedHead(2, 1, 0.25), SwappedHeads(1, 0, 3), Unrotated(), ScaledTheta(0.5), NtkTheta(2.0),
    ShiftedPositions(-7), RestartedPositions((2,)),
)  # fmt: skip


def test_every_kind_of_edit_is_tried_here():
    assert {type(edit) for edit in EVERY} == set(KINDS.values())


@pytest.mark.parametrize("edit", EVERY, ids=repr)
def test_an_edit_is_read_as_it_was_written(edit: Any):
    assert read(written([edit])) == (edit,)
    assert type(read(written([edit]))[0]) is type(edit)


def test_a_list_keeps_its_order_and_none_is_nothing():
    assert read(written(EVERY)) == EVERY
    assert written(()) == ""
    assert read("") == ()


def test_what_is_written_is_short_and_without_blanks():
    assert written([ScaledHead(1, 2), Blocked(((5, 0),), (1,))]) == "ScaledHead(1,2,0.0);Blocked(((5,0),),(1,),None)"


@pytest.mark.parametrize(
    "text",
    [
        "nonsense", "ScaledHead", "ScaledHead(", "ScaledHead()", "ScaledHead(1,2)", "ScaledHead(1,2,'x')",
        "ScaledHead(1,2,0.0,3)",
        "ScaledHead(1.5,2,0.0)", "ScaledHead(True,2,0.0)", "ScaledHead(1,2,1e999)", "Blocked(((5,),),None,None)",
        "Blocked(5,None,None)",
        "Masked('no such pattern',(),None,None)",
        "eval('1')", "ScaledHead(__import__('os'),1,0.0)", "Unrotated(1)", "🙂(1)",
        ";".join(["ScaledHead(0,0,0.0)"] * (MOST + 1)), "ScaledHead(" + "(" * 5000 + ")",
    ],
)  # fmt: skip
def test_anything_else_is_refused_in_one_sentence(text: str):
    with pytest.raises(EditNotPossible) as caught:
        read(text)
    assert len(str(caught.value)) < 300


def test_values_that_cannot_be_are_refused_as_the_edit_refuses_them():
    with pytest.raises(EditInvalid):
        read("KeepLast(0,0)")
    with pytest.raises(EditNotPossible):
        read("SharpenedHead(0,0,0.0)")


def test_captures_of_two_kinds_of_edit_with_the_same_values_are_not_taken_for_each_other():
    half, ntk = (
        SimpleNamespace(request=CaptureRequest("a", edits=(edit,)), verify=lambda layer, edit=edit: (edit, layer))
        for edit in (ScaledTheta(0.5), NtkTheta(0.5))
    )
    assert cached.check(half, 0) == (ScaledTheta(0.5), 0)
    assert cached.check(ntk, 0) == (NtkTheta(0.5), 0)
