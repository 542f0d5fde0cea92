"""A short random walk in each language; ``make walk`` takes longer ones. See tests/walk."""

from __future__ import annotations

import pytest

from tests.walk.walk import Walk

SEED, STEPS = 6, 4


@pytest.mark.parametrize("language, size", [pytest.param("en", "desk", marks=pytest.mark.long), ("zh", "phone")])
def test_a_walk_meets_nothing_that_does_not_hold(profile, browser, server, language, size):
    Walk(profile, browser.new_context(), server, SEED, language, size).run(STEPS)
