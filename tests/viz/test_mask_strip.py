"""Masks as small pictures: filled cells are visible cells."""

from __future__ import annotations

import base64
import re

import numpy as np
import pytest

from viz.mask_strip import mask_strip


@pytest.mark.parametrize("shape", [(1, 1), (5, 5), (4, 7)])
def test_what_is_filled_is_the_mask(shape):
    mask = np.random.default_rng(3).random(shape) < 0.5
    (data,) = re.findall(r"base64,([^']*)'", mask_strip([mask], ["one"]))
    (path,) = re.findall(r"<path d='([^']*)' fill='#", base64.b64decode(data).decode())
    drawn = np.zeros(shape, dtype=bool)
    for x, y, width in re.findall(r"M(\d+) (\d+)h(\d+)v1", path):
        drawn[int(y), int(x) : int(x) + int(width)] = True
    assert (drawn == mask).all()


def test_each_has_its_name_and_words_are_no_markup():
    html = mask_strip([np.ones((2, 2), bool)] * 2, ["a", "<b>"])
    assert html.count("<figcaption") == 2
    assert "<b>" not in html
