"""The range of values that a map's colours cover."""

from __future__ import annotations

import numpy as np
import pytest

from analysis.color_scale import Scale, change_scale, scale_of
from analysis.head_map import HeadMap, Reading, Window
from analysis.units import Unit


def view(*values: float) -> HeadMap:
    units = tuple(Unit(str(i), i, i + 1, (str(i),)) for i in range(len(values)))
    whole = Window(0, 1, 0, len(values))
    return HeadMap(np.array([values], np.float32), whole, whole, units, (1, 1), "exact")


@pytest.mark.parametrize("largest", [0.2, 1.0])
def test_weights_are_always_drawn_from_0_to_1_so_that_pictures_compare(largest):
    found = scale_of(view(0.1, largest), Reading("weights"))
    assert found == Scale("sequential", 0.0, 1.0, False, "percent")


def test_a_logarithmic_scale_of_weights_spans_four_decades():
    found = scale_of(view(0.1, 0.2), Reading("weights"), log=True)
    assert (found.low, found.high, found.log) == (pytest.approx(1e-4), 1.0, True)


def test_weighted_values_are_drawn_up_to_the_largest_in_view_and_are_no_percentages():
    found = scale_of(view(0.5, 3.0), Reading("value"))
    assert found == Scale("sequential", 0.0, 3.0, False, "plain")


def test_scores_are_drawn_around_0_and_never_on_a_logarithm():
    found = scale_of(view(-5.0, 3.0, np.nan), Reading("scores"), log=True)
    assert found == Scale("diverging", -5.0, 5.0, False, "plain")


def test_a_difference_of_two_heads_is_drawn_around_0():
    found = scale_of(view(-0.25, 0.5), Reading("weights"), log=True, compared=True)
    assert found == Scale("diverging", -0.5, 0.5, False, "percent")


@pytest.mark.parametrize("what", ["weights", "scores", "value"])
@pytest.mark.parametrize("log", [False, True])
def test_a_map_of_zeros_or_of_nothing_visible_still_has_a_scale(what, log):
    for values in ((0.0, 0.0), (np.nan, np.nan)):
        found = scale_of(view(*values), Reading(what), log=log)
        assert found.low < found.high


@pytest.mark.parametrize("largest, end", [(0.0001, 0.01), (0.3, 0.3)])
def test_a_change_of_a_hundredth_of_a_percent_is_not_drawn_in_full_colour(largest, end):
    changes = np.array([[largest, -largest / 2, np.nan]])
    assert change_scale(changes) == Scale("diverging", -end, end, False, "percent")
    found = scale_of(view(-largest / 2, largest), Reading("weights"), compared=True)
    assert found.high == pytest.approx(end)
