"""Shares as percentages: one table of cases for Python, and for JavaScript in shared/words.test.js."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from viz.distribution import percent
from viz.share_text import WHOLE, exact_digits, share_digits

CASES = json.loads(Path(__file__).with_name("shares.json").read_text("utf-8"))


@pytest.mark.parametrize("share, digits", CASES)
def test_a_share_is_written_by_one_rule(share: float, digits: str) -> None:
    assert share_digits(share) == digits


@pytest.mark.parametrize("share", [one for one, _digits in CASES if 0 < one < WHOLE])
def test_in_no_form_a_part_reads_as_all_or_nothing(share: float) -> None:
    for written in (share_digits(share), exact_digits(share), percent(share, "{number}")):
        assert written.strip("<> ") not in ("0", "0.0", "100", "100.0")
