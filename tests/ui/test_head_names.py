"""Heads in lists: the key/value head is named where a group shares it, and only there."""

from __future__ import annotations

import pytest

from model_runner import CaptureRequest
from tests.model_runner.cases import FAMILY, TEXT, runner_of
from tests.ui.driving import no_failure, open_app, payloads
from ui.head_names import head_name


@pytest.mark.parametrize(
    "family, expected",
    [
        ("llama", ["H0 · kv 0", "H1 · kv 0", "H2 · kv 1", "H3 · kv 1"]),
        ("gpt2", ["H0", "H1", "H2", "H3"]),  # each its own
        ("gpt-bigcode", ["H0", "H1", "H2", "H3"]),  # one for all
    ],
)
def test_heads_of_a_group_have_equal_ends(family, expected):
    capture = runner_of(FAMILY[family]).capture(CaptureRequest(text=TEXT))
    assert [head_name(capture, 1, head) for head in range(4)] == expected


@pytest.mark.parametrize(
    "page, key, shown",
    [
        ("pages/cell.py", "cell_head", "5 · kv 2"),
        ("pages/positions.py", "positions_head", "H5 · kv 2"),
        ("pages/heads.py", "choice_other", "L3H5 · kv 2"),
        ("pages/edit_heads.py", "choice_edit_other", "⇄ L3H4 · kv 2"),
    ],
)
def test_the_lists_of_heads_name_the_shared_head(page, key, shown):
    app = open_app(page=page, layer="3", head="5", edit="swap")
    no_failure(app)
    assert shown in app.selectbox(key=key).options


@pytest.mark.parametrize(
    "address, expected",
    [
        ({"heads": "edit", "edits": "ScaledHead(1,1,0.0)"}, [(2, "columns")]),
        ({"heads": "effects"}, [(2, "columns")] * 3),
        ({"heads": "patching", "patch": "heads"}, [(2, "rows")]),
        ({"heads": "patching", "patch": "attention"}, [(1, "rows")]),  # its rows are layers
    ],
)
def test_the_maps_of_edited_heads_are_drawn_by_group(address, expected):
    app = open_app(page="pages/edit_heads.py", layer="3", head="5", **address)
    no_failure(app)
    assert [(meta["group"], meta["group_axis"]) for meta, _ in payloads(app, "layer_head_map")] == expected


def test_the_masks_page_names_it_too():
    app = open_app(page="pages/masks.py", masks="model")
    no_failure(app)
    assert app.multiselect(key="mask_heads").options == [f"H{head} · kv {head // 2}" for head in range(8)]
