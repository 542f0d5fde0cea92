"""Heads in the strip, the lists and the maps: the key/value head that a group shares is named or drawn."""

from __future__ import annotations

import pytest

from tests.ui.driving import open_app, payloads


@pytest.mark.parametrize(
    "page, key, shown",
    [
        ("pages/heads/page.py", "heads.other", "L3H5 · kv 2"),
        ("pages/edit_heads/page.py", "edit_heads.other", "⇄ L3H4 · kv 2"),
    ],
)
def test_the_lists_of_heads_name_the_shared_head(page, key, shown):
    app = open_app(page=page, layer="3", head="5", edit="swap")
    assert shown in app.selectbox(key=key).options


@pytest.mark.parametrize(
    "address, expected",
    [
        ({"heads": "edit", "edits": "ScaledHead(1,1,0.0)"}, [(2, "columns")]),
        ({"heads": "effects"}, [(2, "columns")] * 3 + [(1, "columns")]),  # heads, and the FFN of each layer
        ({"heads": "patching", "patch": "heads"}, [(2, "rows")]),
        ({"heads": "patching", "patch": "attention"}, [(1, "rows")]),  # its rows are layers
    ],
)
def test_the_maps_of_edited_heads_are_drawn_by_group(address, expected):
    app = open_app(page="pages/edit_heads/page.py", layer="3", head="5", **address)
    assert [(meta["group"], meta["group_axis"]) for meta, _ in payloads(app, "layer_head_map")] == expected


def test_the_masks_page_names_it_too():
    app = open_app(page="pages/masks/page.py", masks="model")
    assert app.multiselect(key="masks.heads").options == [f"H{head} · kv {head // 2}" for head in range(8)]
