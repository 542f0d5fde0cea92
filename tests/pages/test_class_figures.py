"""What of a page is drawn by no component is on the phones too: figures of HTML, and charts that are Plotly's."""

from __future__ import annotations

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
