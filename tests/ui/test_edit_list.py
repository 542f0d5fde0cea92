"""The list of edits: another value takes the place of the one before, cells of one place are one edit, nothing else."""

from __future__ import annotations

import pytest

from attention.patterns import BY_NAME
from model_runner.edits import (
    Blocked,
    Documents,
    Edit,
    Int8Cache,
    KeepLast,
    Masked,
    MeanHead,
    ScaledHead,
    SharedKeys,
    SharpenedHead,
    SwappedHeads,
)
from model_runner.turning import NtkTheta, RestartedPositions, ScaledTheta, ShiftedPositions, Unrotated
from ui import edit_words
from ui.edit_address import KINDS
from ui.edit_list import cells_in, same_thing, toggled, with_edit
from ui.edit_words import name_of

NAMES: dict[Edit, str] = {
    ScaledHead(3, 1, 0.0): "L3H1 ablated",
    ScaledHead(3, 1, 0.5): "L3H1 × 0.5",
    MeanHead(3, 1): "L3H1 = its mean",
    SharpenedHead(3, 1, 0.5): "L3H1 at temperature 0.5",
    SwappedHeads(3, 1, 2): "L3H1 ⇄ L3H2",
    Blocked(((7, 2),), (3,), (1,)): "7 → 2 hidden in L3H1",
    Blocked(((7, 2), (7, 3))): "2 cells hidden in all layers",
    Blocked(((7, 2), (7, 3)), (3,)): "2 cells hidden in L3",
    Blocked(((7, 2), (7, 3)), None, (1, 4)): "2 cells hidden in H1, H4 of all layers",
    Blocked(((7, 2), (7, 3)), (3, 5), (1, 4)): "2 cells hidden in H1, H4 of L3, L5",
    Masked("window", (("window", 3),)): f"{BY_NAME['window'].label} 3 in all layers",
    SharedKeys(2): "keys and values shared by 2",
    KeepLast(5, 1): "a cache of the first 1 and last 5",
    Int8Cache(): "a cache in int8",
    Documents((0, 4)): "documents from 0, 4",
    Unrotated(): "no rotation",
    ScaledTheta(2.0): "θ × 2",
    NtkTheta(2.0): "NTK × 2",
    ShiftedPositions(10): "positions +10",
    RestartedPositions((4,)): "positions restart at 4",
}


@pytest.mark.parametrize("edit, words", NAMES.items(), ids=NAMES.values())
def test_an_edit_has_a_name(edit, words, monkeypatch):
    monkeypatch.setattr(edit_words, "_", str)  # no session, so no language
    assert name_of(edit) == words


def test_every_kind_of_edit_has_a_name():
    assert {type(edit).__name__ for edit in NAMES} == set(KINDS)


@pytest.mark.parametrize(
    "old, new",
    [
        (ScaledHead(3, 1, 0.0), ScaledHead(3, 1, 0.5)),
        (SharpenedHead(3, 1, 0.5), SharpenedHead(3, 1, 2.0)),
        (MeanHead(3, 1), MeanHead(3, 1)),
        (SwappedHeads(3, 1, 2), SwappedHeads(3, 2, 1)),
    ],
)
def test_another_value_for_the_same_thing_takes_its_place(old, new):
    first, last = ScaledHead(0, 0, 1.0), MeanHead(7, 7)
    assert with_edit((first, old, last), new) == (first, new, last)
    assert same_thing((first, old, last), new) == old


@pytest.mark.parametrize(
    "new",
    [ScaledHead(3, 2, 0.0), ScaledHead(2, 1, 0.0), MeanHead(3, 1), SharpenedHead(3, 1, 0.5), SwappedHeads(3, 1, 2)],
)
def test_any_other_change_is_one_more_even_if_it_contradicts(new):
    assert with_edit((ScaledHead(3, 1, 0.0),), new) == (ScaledHead(3, 1, 0.0), new)
    assert same_thing((ScaledHead(3, 1, 0.0),), new) is None


def test_cells_of_the_same_place_are_one_edit_without_doubles():
    old = Blocked(((7, 2), (6, 1)), (3,), (1,))
    assert with_edit((old,), Blocked(((6, 1), (5, 0)), (3,), (1,))) == (Blocked(((7, 2), (6, 1), (5, 0)), (3,), (1,)),)
    elsewhere = Blocked(((6, 1),), (3,), None)
    assert with_edit((old,), elsewhere) == (old, elsewhere)


def test_a_second_click_gives_the_cell_back_and_the_last_cell_takes_the_edit_with_it():
    start = (ScaledHead(0, 0, 0.5),)
    one = toggled(start, ((7, 2),), (3,), (1,))
    two = toggled(one, ((7, 3),), (3,), (1,))
    assert two == (*start, Blocked(((7, 2), (7, 3)), (3,), (1,)))
    assert toggled(two, ((7, 2),), (3,), (1,)) == (*start, Blocked(((7, 3),), (3,), (1,)))
    assert toggled(one, ((7, 2),), (3,), (1,)) == start
    assert toggled(one, ((7, 2),), (3,), None) == (*one, Blocked(((7, 2),), (3,), None))  # another place, not this one


@pytest.mark.parametrize(
    "text, cells",
    [
        ("7, 2", ((7, 2),)),
        ("7,2; 7,3", ((7, 2), (7, 3))),
        ("(7, 2), (6, 1)", ((7, 2), (6, 1))),
        ("7.2 6.1", ((7, 2), (6, 1))),
        ("7→2", ((7, 2),)),
        ("", ()),
        ("  ", ()),
        ("7", None),
        ("7, 2; x", None),
        ("-7, 2", None),
        ("7, 2, 3", None),
        ("9999999, 1", None),
    ],
)
def test_cells_are_typed_as_pairs(text, cells):
    assert cells_in(text) == cells
