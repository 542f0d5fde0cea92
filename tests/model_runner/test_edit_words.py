"""Every kind of edit has a name for users."""

from __future__ import annotations

import pytest

from model_runner.edit_words import described, edit_name
from model_runner.edits import Blocked, OfAttention, ScaledHead
from tests.model_runner.every_edit import EVERY_EDIT, OF_THREE


@pytest.mark.parametrize("edit, words", [*EVERY_EDIT.items(), *OF_THREE.items()])
def test_an_edit_has_a_name(edit, words):
    assert edit_name(edit, str) == words


def test_a_file_names_what_was_hidden_cell_by_cell():
    two = Blocked(((7, 2), (7, 3)), (2,), (1,))
    assert described([two, ScaledHead(2, 1, 0.0)]) == "7 → 2, 7 → 3 hidden in L2H1, L2H1 ablated"
    assert described([OfAttention("cross", two)]) == "cross: 7 → 2, 7 → 3 hidden in L2H1"
    assert described([Blocked(tuple((9, key) for key in range(9)) * 5)]).endswith(
        ", 9 → 2 and 33 more hidden in all layers"
    )
    assert described([]) == "nothing"


@pytest.mark.parametrize("edit", [*EVERY_EDIT, *OF_THREE])
def test_no_file_speaks_of_an_edit_in_python(edit):
    said = described([edit])
    assert not [code for code in (type(edit).__name__, "None", "((", "='") if code in said]
