"""The list of edits: a new value replaces the earlier one, and cells of the same place form one edit."""

from __future__ import annotations

import pytest

from model_runner.edit_list import same_thing, toggled, with_edit
from model_runner.edits import Blocked, MeanHead, ScaledHead, SharpenedHead, SwappedHeads


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
