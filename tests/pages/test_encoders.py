"""An encoder reads every token at once: patterns have two sides, and no page speaks of its next token."""

from __future__ import annotations

import numpy as np
import pytest

from tests.ui.driving import html, open_app, payload, payloads

MASKS = "pages/masks/page.py"
PLACES = {
    "masks": {"masks": "model"},
    "sharing": {"sharing.view": "model", "sharing.kv_heads": "1"},
    "sharing, all numbers": {"sharing.view": "counts"},
    "edit_heads": {"edits": "ScaledHead(0,0,0.0)"},
    "heads": {},
    "compare": {"compare.view": "next", "compare.text": "some tent"},
}


@pytest.mark.parametrize("place", PLACES)
def test_the_next_token_is_not_said_of_an_encoder(folder_of, place):
    page = f"pages/{place.partition(',')[0]}/page.py"
    app = open_app(page=page, model=folder_of("bert"), text="some text", query="3", **PLACES[place])
    assert "Token at 3" in html(app)
    assert "Next token" not in html(app)


def test_an_encoders_windows_have_two_sides_in_the_gallery_and_on_the_model(folder_of):
    bert = folder_of("bert")
    app = open_app(page=MASKS, model=bert, mask_window="3", text="some text")
    meta, arrays = payload(app, "mask_gallery")
    shown = arrays["reached"] == 1
    far = abs(np.subtract.outer(np.arange(len(shown)), np.arange(len(shown))))
    np.testing.assert_array_equal(shown, far < 3)
    assert not meta["causal"]
    assert app.slider(key="masks.values.window").label.startswith("window · keys to either side")
    app = open_app(page=MASKS, model=bert, mask_window="3", text="some text", masks="model", layer="1", head="0")
    np.testing.assert_array_equal(np.isfinite(payloads(app, "head_map")[1][1]["values"]), shown)
