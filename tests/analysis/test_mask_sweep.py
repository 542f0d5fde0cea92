"""Patterns of comparable cost keep a comparable number of cells."""

from __future__ import annotations

import pytest

from analysis.mask_sweep import MOST_SIZES, SLACK, SWEPT, matched, sizes
from attention import masks
from attention.patterns import BY_NAME


@pytest.mark.parametrize("n_tokens", [2, 3, 8, 19, 100, 5_000])
def test_sizes_rise_from_one_to_the_whole_text(n_tokens):
    found = sizes(n_tokens)
    assert found[0] == 1
    assert found[-1] == n_tokens
    assert list(found) == sorted(set(found))
    assert len(found) <= MOST_SIZES


def cells(name, n_tokens, values):
    rule = masks.And(masks.Causal(), BY_NAME[name].rule(dict(values)))
    return int(masks.tile(rule, slice(0, n_tokens), slice(0, n_tokens)).sum())


@pytest.mark.parametrize("name", SWEPT)
@pytest.mark.parametrize("n_tokens", [2, 8, 60])
def test_every_point_keeps_about_as_many_cells_as_the_window(name, n_tokens):
    for size in sizes(n_tokens):
        values = matched(name, n_tokens, size)
        wanted = cells("window", n_tokens, (("window", size),))
        if values is not None:
            assert abs(cells(name, n_tokens, values) - wanted) <= SLACK * wanted, (size, values)


def test_every_pattern_has_points_on_a_text_of_some_length():
    for name in SWEPT:
        assert sum(matched(name, 60, size) is not None for size in sizes(60)) >= 4, name


def test_sinks_are_at_most_half_of_the_window():
    for size in sizes(60):
        values = dict(matched("sinks", 60, size) or ())
        assert values["sinks"] <= max(size // 2, 0)
