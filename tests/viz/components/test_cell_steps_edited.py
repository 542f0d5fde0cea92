"""The steps of a cell in a browser, with edits that change the head's output."""

from __future__ import annotations

import re

import numpy as np
import pytest

from tests.viz.components.test_cell_steps import D_VALUE, cell
from tests.viz.components.test_cell_steps_browser import numbers, open_step, result
from viz.components.cell_steps.cell_steps import SOURCE, CellStepsPicture, LogitPush

pytestmark = pytest.mark.browser


@pytest.fixture
def show(mount):
    return lambda **changes: mount(SOURCE, CellStepsPicture(**cell(**changes)).packed(), width=1200)


def test_what_is_passed_on_stands_under_the_output_and_in_the_formula_of_the_push(show):
    mixed = cell()["mixed"]
    page = show(passed_on=2 * mixed)
    lengths = page.locator(".values .strip-row .amount").all_inner_texts()
    assert float(lengths[-1]) == pytest.approx(2 * np.linalg.norm(mixed), abs=1e-3)
    assert float(lengths[-2]) == pytest.approx(np.linalg.norm(mixed), abs=1e-3)
    assert page.locator(".values .strip-row .name").last.inner_text() == "→ passed on, edited"
    lines = open_step(page, 7)
    assert lines[1] == "push = W_U · norm(W_O · passed on)"
    assert [float(found) for found in re.findall(r"[\d.]+(?= long)", lines[2])] == pytest.approx(
        [np.linalg.norm(mixed), 2 * np.linalg.norm(mixed)], abs=1e-3
    )
    line = next(line for line in open_step(page, 6) if line.startswith("dimension 0"))
    before, after = (numbers(part)[0] for part in line.split("=")[1].split("→"))
    assert (before, after) == pytest.approx((mixed[0], 2 * mixed[0]), abs=1e-3)


def test_without_edits_the_output_is_the_last_strip_and_what_is_pushed(show):
    page = show()
    assert page.locator(".values .strip-row .name").last.inner_text() == "= head’s output"
    assert open_step(page, 7)[1] == "push = W_U · norm(W_O · output)"


def test_a_silenced_head_says_that_it_pushes_nothing(show):
    push = LogitPush(promoted=[], suppressed=[], mean=0.0, predicted=("·was", 0.0, 12.5))
    page = show(push=push, passed_on=np.zeros(D_VALUE))
    assert page.locator(".push table").count() == 0
    assert page.locator(".push .nothing").inner_text() == "The head passes on nothing here: no token is pushed."
    assert result(page, 7) == ""
