"""The translator: the lines of Python that a view gives leave the numbers that are drawn, edited or not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.ui.driving import button, open_app, until
from tests.ui.taken import Taken, offers, ran

TEXT = "The dog chased the cat in the garden yesterday."


def offered(monkeypatch: pytest.MonkeyPatch, page: str, **address: str) -> Taken:
    found = offers(monkeypatch)
    app = open_app(page=f"pages/{page}/page.py", model="translator", text=TEXT, layer="3", head="1", **address)
    until(app, lambda app: not button(app, "patch_stop"))
    return found[-1]


def numbers(given: Any) -> np.ndarray:
    return np.asarray(given.cpu() if hasattr(given, "cpu") else given, np.float64)


OFTEN = [*(pytest.param(one, marks=pytest.mark.long) for one in ("encoder", "decoder")), "cross"]


@pytest.mark.parametrize("attention", OFTEN)
def test_a_second_text_is_read_with_what_is_written_of_the_first(monkeypatch, attention):
    take = offered(monkeypatch, "edit_heads", heads="patching", attention=attention)
    names = ran(take.snippet)
    np.testing.assert_allclose(numbers(names["changes"]), take.arrays["changes"], rtol=0, atol=1e-4)
    assert names["before"] == pytest.approx(float(take.arrays["plain"]), abs=1e-4)
    assert names["goal"] == pytest.approx(float(take.arrays["other"]), abs=1e-4)


@pytest.mark.parametrize("edits", ["", "cross:ScaledHead(2,1,0.0);encoder:MeanHead(1,2)"])
@pytest.mark.parametrize("attention", OFTEN)
def test_the_stream_adds_up_and_is_what_is_drawn(monkeypatch, attention, edits):
    everywhere = {"edits": edits, "everywhere": "1"} if edits else {}
    take = offered(monkeypatch, "block", attention=attention, **{"block.view": "stream"}, **everywhere)
    names = ran(take.snippet)  # its last line checks the sum
    np.testing.assert_allclose(numbers(names["added"].vectors), take.arrays["vectors"], rtol=0, atol=1e-4)


def test_norms_are_of_what_is_written(monkeypatch):
    take = offered(monkeypatch, "block", attention="cross", **{"block.view": "norms"})
    np.testing.assert_allclose(numbers(ran(take.snippet)["before"]), take.arrays["before"], rtol=0, atol=1e-4)


@pytest.mark.parametrize("address", [{"compare.head": "L1H2"}, {"compare.text": "The cat sleeps."}], ids=str)
def test_metrics_across_are_those_of_the_table(monkeypatch, address):
    take = offered(monkeypatch, "compare", attention="cross", **{"compare.view": "metrics"}, **address)
    rows = [line.split(",") for line in take.csv.splitlines() if not line.startswith("#")][1:]
    a, b = zip(*ran(take.snippet)["values"].values(), strict=True)
    for side, values in zip((1, 2), (a, b), strict=True):
        shown = sorted(float(row[side]) for row in rows if row[side])
        assert shown == pytest.approx(sorted(float(value) for value in values if not np.isnan(value)), abs=1e-5)
