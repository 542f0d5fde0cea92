"""The long map's payload, and what it draws in a browser of tiles that a made server gives."""

from __future__ import annotations

from typing import Any

import pytest

from tests.viz.components.test_packing import unpacked
from viz.components.long_map.long_map import LOW, TEXTS, LongMapPicture


def whole_map(**changes: Any) -> bytes:
    """Without a ticket, which asks for nothing."""
    labels = ["<s>", *(f"·w{number}" for number in range(1, 600))]
    given: dict[str, Any] = {
        "labels": labels, "causal": True, "layer": 2, "head": 1, "ticket": "", "pooling": "max", "log": True,
        "far": 75, "window": None, "selected": (40, 7), "texts": TEXTS,
    }  # fmt: skip
    return LongMapPicture(**(given | changes)).packed()


def test_the_payload_says_what_the_map_begins_with_and_holds_no_number_of_it():
    meta, arrays = unpacked(whole_map(window=(10, 42, 0, 32)))
    assert (meta["tokens"], meta["labels"][1]) == (600, "·w1")
    assert (meta["window"], meta["selected"]) == ([10, 42, 0, 32], [40, 7])
    assert (meta["low"], meta["log"], meta["pooling"], meta["far"]) == (LOW, True, "max", 75)
    assert arrays == {}


@pytest.mark.parametrize("selected", [None, (3, None), (3, 2)])
def test_a_row_alone_and_nothing_can_be_pinned(selected: Any):
    meta, _ = unpacked(whole_map(selected=selected))
    assert meta["selected"] == (None if selected is None else list(selected))
