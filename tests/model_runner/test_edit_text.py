"""Edits as text: what is written can be parsed again, and nothing else can."""

from __future__ import annotations

from typing import Any

import pytest

from model_runner.edit_text import MOST, read, written
from model_runner.edits import Blocked, ScaledHead
from model_runner.errors import EditInvalid, EditNotPossible
from tests.model_runner.every_edit import EVERY_EDIT, OF_THREE


@pytest.mark.parametrize("edit", [*EVERY_EDIT, *OF_THREE], ids=repr)
def test_an_edit_is_read_as_it_was_written(edit: Any):
    assert read(written([edit])) == (edit,)
    assert type(read(written([edit]))[0]) is type(edit)


def test_a_list_keeps_its_order_and_none_is_nothing():
    assert read(written([*EVERY_EDIT])) == (*EVERY_EDIT,)
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
        "Blocked(5,None,None)", "ShiftedPositions(10000001)", f"ScaledHead(1,2,1{'0' * 400})",
        f"ScaledHead(1{'0' * 4400},2,0.0)", "NtkTheta(5e-324)", "SharpenedHead(1,2,1e-7)", "ScaledHead(1,2,-1e7)",
        "Documents((99999999999999999999,))", "ScaledTheta(nan)",
        "Masked('no such pattern',(),None,None)",
        "eval('1')", "ScaledHead(__import__('os'),1,0.0)", "Unrotated(1)", "🙂(1)",
        "cross:cross:ScaledHead(0,1,0.25)", "crossed:ScaledHead(0,1,0.25)", "cross:", "OfAttention('cross',1)",
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
