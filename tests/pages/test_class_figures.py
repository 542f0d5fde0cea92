"""What of a page is drawn by no component is on the phones too: figures of HTML, and charts that are Plotly's."""

from __future__ import annotations

import json
import struct

import pytest
from streamlit.testing.v1 import AppTest

from classroom.room import Room
from tests.classroom.talking import frames
from tests.ui.driving import open_app


def opened(**address: str) -> tuple[AppTest, Room]:
    """A page with its room, and the code put away."""
    app = open_app(**address)
    app.button(key="open_room").click().run()
    app.button(key="hide_code").click().run()
    return app, app.session_state["room"]


@pytest.mark.parametrize(
    "page, address, keys",
    [
        ("heads", {}, {"next_token"}),
        ("masks", {"masks.pattern": "window"}, {"mask_cost", "mask_costs"}),
        ("steps", {"steps.view": "softmax"}, {"softmax_tree", "softmax_adaptive"}),
        ("compare", {"compare.view": "metrics"}, {"compare_metrics"}),
        ("edit_heads", {"edit_heads.view": "effects"}, {"effects_table", "effects_agreement"}),
        ("edit_heads", {"edits": "ScaledHead(4,2,0.0)"}, {"next_change", "edit_texts"}),
        ("families", {"families.view": "known"}, {"known_models"}),
        ("block", {"block.view": "ffn"}, {"ffn_units"}),
        ("zoo", {"zoo.view": "flash"}, {"tiles_longer"}),
        ("zoo", {"zoo.view": "cost"}, {"zoo_costs"}),
        ("zoo", {"zoo.variant": "titans_mag"}, {"first_flow", "first_parts", "zoo_numbers"}),
    ],
)
def test_figures_of_html_and_charts_are_on_the_phones(page, address, keys):
    app, room = opened(page=f"pages/{page}/page.py", **address)
    assert not app.exception
    stage = [told for told in frames(room) if told["kind"] == "stage"][-1]
    assert keys <= set(stage["figures"])
    assert keys <= set(room.board._figures)


@pytest.mark.parametrize(
    "page, address, words",
    [
        ("heads", {}, ""),
        ("edit_heads", {"edits": "ScaledHead(4,2,0.0)"}, "changed: L4H2 ablated"),
        ("heads", {"edits": "ScaledHead(4,2,0.0)", "everywhere": "1"}, "changed: L4H2 ablated"),
        ("positions", {"positions.view": "what_if"}, "changed: "),
        (
            "edit_heads",
            {"edits": ";".join(f"ScaledHead(4,{head},0.0)" for head in range(8))},
            "L4H5 ablated · and 2 more",
        ),
    ],
)
def test_the_phones_are_told_by_what_the_model_is_changed(page, address, words):
    _app, room = opened(page=f"pages/{page}/page.py", **address)
    told = [told for told in frames(room) if told["kind"] == "stage"][-1]["changed"]
    assert words in told
    assert bool(told) == bool(words)


@pytest.mark.parametrize(
    "page, address, titles",
    [
        ("zoo", {"zoo.variant": "linear"}, ["L6H4 softmax", "linear attention (elu + 1)", "difference from softmax"]),
        ("compare", {"layer": "6", "head": "4"}, ["A L6H4", "B L", "A − B"]),
        (
            "positions",
            {"positions.view": "what_if", "layer": "6", "head": "4"},
            ["L6H4 before · ", "L6H4 after", "L6H4 after − before"],
        ),
    ],
)
def test_maps_beside_each_other_have_their_names_on_the_phones(page, address, titles):
    _app, room = opened(page=f"pages/{page}/page.py", **address)
    told = [frame for frame in room.board.since(0)[1] if isinstance(frame, bytes)]
    heads = [json.loads(frame[4 : 4 + struct.unpack("<I", frame[:4])[0]]) for frame in told]
    maps = [f"{head['title']} {head['beside']}" for head in heads if head["component"] == "head_map"]
    assert len(maps) >= len(titles)
    for title, found in zip(titles, maps, strict=False):
        assert found.startswith(title)
