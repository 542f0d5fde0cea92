"""The table of transforms and its settings: invalid settings give one error message, differences are named."""

from __future__ import annotations

import itertools
import json
import random

import pytest

from model_runner.errors import BadSetting
from model_runner.transforms import DEFAULT, TRANSFORMS, Sampling, with_newer
from tests.model_runner.sampling_reference import REFERENCES, extreme_settings


@pytest.mark.parametrize("name, value", [(name, value) for name in TRANSFORMS for value in REFERENCES[name].wrong])
def test_an_impossible_value_is_refused_with_the_value_and_the_range(name, value):
    with pytest.raises(BadSetting) as caught:
        Sampling(**{name: value})
    assert str(caught.value) == TRANSFORMS[name].rule.format(value=value)
    assert caught.value.values["setting"] == name


@pytest.mark.parametrize("name, value", [(name, value) for name in TRANSFORMS for value in REFERENCES[name].right])
def test_the_ends_of_the_ranges_and_whole_numbers_are_taken(name, value):
    assert getattr(Sampling(**{name: value}), name) == value


@pytest.mark.parametrize("order", [(), DEFAULT.order[1:], (*TRANSFORMS, "top_k"), ("beam", *DEFAULT.order[1:])])
def test_an_order_that_does_not_name_each_transform_once_is_refused(order):
    with pytest.raises(BadSetting, match="must name each of them once"):
        Sampling(order=order)


def test_whole_and_float_settings_are_the_same_request():
    assert Sampling(temperature=1, top_p=1, min_p=0) == Sampling()
    assert hash(Sampling(temperature=1)) == hash(Sampling())


@pytest.mark.parametrize("name", TRANSFORMS)
def test_a_row_offers_only_what_is_possible_and_says_all_there_is_to_say(name):
    row = TRANSFORMS[name]
    assert getattr(DEFAULT, name) == row.off != row.first
    steps = row.steps(151_936)
    assert 50 < len(set(steps)) == len(steps) < 250
    assert row.off in steps
    assert all(row.bounds.hold(value) for value in (row.off, row.first, *steps))
    told = json.loads(json.dumps(row.described(151_936, lambda text: f"<{text}>"), allow_nan=False))
    assert all(told[word].startswith("<") for word in ("label", "about", "rule"))
    assert row.formula
    assert told["steps"] == steps


def test_the_settings_written_down_are_the_settings_again_and_nothing_that_differs_is_forgotten():
    assert repr(DEFAULT) == "Sampling()"
    order = (DEFAULT.order[-1], *DEFAULT.order[:-1])
    assert repr(Sampling(top_k=5, order=order, seed=3)) == f"Sampling(top_k=5, order={order!r}, seed=3)"
    for seed in range(50):
        sampling = extreme_settings(random.Random(seed))
        assert eval(repr(sampling)) == sampling


def test_an_order_keeps_what_it_names_and_has_the_rest_behind_what_it_usually_follows():
    for older in itertools.chain(*(itertools.permutations(DEFAULT.order, count) for count in range(4))):
        order = with_newer(older)
        assert tuple(name for name in order if name in older) == older
        assert Sampling(order=order).order == order
        for before, name in itertools.pairwise(DEFAULT.order):
            if name not in older:
                assert order.index(name) == order.index(before) + 1


def test_an_order_of_before_a_transform_is_the_usual_one_where_it_was():
    for name in DEFAULT.order:
        assert with_newer(tuple(one for one in DEFAULT.order if one != name)) == DEFAULT.order
    assert with_newer(()) == DEFAULT.order


def test_an_order_that_names_one_twice_stays_for_its_sentence():
    assert with_newer(("top_k", "top_k")) == ("top_k", "top_k")
