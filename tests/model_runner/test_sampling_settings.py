"""Settings: what is not possible is one sentence that names the value and what it must be."""

from __future__ import annotations

import math

import pytest

from model_runner.errors import BadSetting
from model_runner.sampling import TRANSFORMS, Sampling

RANGES = {
    "temperature": "it must be 0 (always the most likely token) or from 0.0001 up.",
    "top_k": "it must be a whole number, 0 (off) or more.",
    "top_p": "it must be above 0 and at most 1 (off).",
    "min_p": "it must be at least 0 (off) and below 1.",
    "typical_p": "it must be above 0 and at most 1 (off).",
    "repetition_penalty": "it must be from 0.001 to 1000, and 1 is off.",
}
WRONG = {
    "temperature": [-1, -1e-9, 1e-5, 9.9e-5, math.nan, math.inf, -math.inf, 10**309],
    "top_k": [-1, 1.5, math.nan, math.inf],
    "top_p": [0, -0.1, 1.0001, math.nan, math.inf],
    "min_p": [-0.1, 1, 2, math.nan],
    "typical_p": [0, -0.1, 1.0001, math.nan],
    "repetition_penalty": [0, -1, 1e-4, 1001, math.nan, math.inf],
}
RIGHT = {
    "temperature": [0, 1, 1e-4, 1e30],
    "top_k": [0, 1, 40.0, 10**9],
    "top_p": [1, 1e-9],
    "min_p": [0, 0.999],
    "typical_p": [1, 1e-9],
    "repetition_penalty": [0.001, 1, 1000],
}


@pytest.mark.parametrize("name, value", [(name, value) for name in WRONG for value in WRONG[name]])
def test_an_impossible_value_is_refused_with_the_value_and_the_range(name, value):
    with pytest.raises(BadSetting) as caught:
        Sampling(**{name: value})
    assert f" is {value}; {RANGES[name]}" in str(caught.value)
    assert caught.value.values["setting"] == name


@pytest.mark.parametrize("name, value", [(name, value) for name in RIGHT for value in RIGHT[name]])
def test_the_ends_of_the_ranges_and_whole_numbers_are_taken(name, value):
    assert getattr(Sampling(**{name: value}), name) == value


@pytest.mark.parametrize("order", [(), TRANSFORMS[1:], (*TRANSFORMS, "top_k"), ("beam", *TRANSFORMS[1:])])
def test_an_order_that_does_not_name_each_transform_once_is_refused(order):
    with pytest.raises(BadSetting, match="must name each of them once"):
        Sampling(order=order)


def test_whole_and_float_settings_are_the_same_request():
    assert Sampling(temperature=1, top_p=1, min_p=0) == Sampling()
    assert hash(Sampling(temperature=1)) == hash(Sampling())
