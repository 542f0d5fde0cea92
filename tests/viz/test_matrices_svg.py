"""Matrices with numbers as a file: their colours end where those on the screen do."""

from __future__ import annotations

import re

import numpy as np
import pytest

from viz.matrices_svg import Table, matrices_svg


@pytest.mark.parametrize("most, pale", [(None, False), (10.0, True)])
def test_the_end_of_the_colours_is_the_one_that_is_given_and_the_file_says_it(most, pale):
    table = Table("G", ["a"], ["b", "c"], np.array([[0.2, -0.2]]), most=most)
    svg = matrices_svg([table], title="", caption="")
    red, blue = (tuple(map(int, one)) for one in re.findall(r'rx="2"[^>]*fill="rgb\((\d+),\s*(\d+),\s*(\d+)\)', svg))
    assert (min(red) > 235 and min(blue) > 235) == pale
    assert ("±10" in svg) == pale


def test_what_is_written_as_0_is_pale_although_nothing_is_larger():
    svg = matrices_svg([Table("G", ["a"], ["b"], np.array([[0.0049]]))], title="", caption="")
    assert min(map(int, re.findall(r'rx="2"[^>]*fill="rgb\((\d+),\s*(\d+),\s*(\d+)\)', svg)[0])) > 230
