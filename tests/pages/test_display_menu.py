"""The menu of how a figure is drawn: what is not as usual stands beside it and can be taken back."""

from __future__ import annotations

import numpy as np

from tests.ui.driving import button, open_app, payload, sentences


def test_what_is_not_as_usual_can_be_taken_back_and_what_is_usual_is_not_there():
    app = open_app(layer="3", head="5", **{"heads.what": "scores", "heads.order": "rank"})
    usual = open_app(layer="3", head="5")
    assert not [one for one in usual.button if one.key.endswith(".usual")]
    assert [one.label for one in app.button if one.key.endswith(".usual")] == ["ranked ×", "scores ×"]
    app.button(key="heads.what.usual").click().run()
    assert sentences(app) == []
    assert "heads.what" not in app.query_params
    assert app.query_params["heads.order"] == "rank"
    assert not button(app, "heads.what.usual")
    np.testing.assert_array_equal(payload(app, "head_map")[1]["values"], payload(usual, "head_map")[1]["values"])


def test_each_of_the_seven_has_its_words():
    address = {
        "what": "value", "color": "log", "unit": "words", "hide_first": "1",
        "grid": "metric", "order": "rank", "shade": "1",
    }  # fmt: skip
    app = open_app(layer="3", head="5", **{f"heads.{name}": value for name, value in address.items()})
    labels = {one.key.split(".")[1]: one.label for one in app.button if one.key.endswith(".usual")}
    assert labels == {
        "what": "‖w·v‖ ×", "color": "log ×", "unit": "words ×", "hide_first": "first token hidden ×",
        "grid": "numbers ×", "order": "ranked ×", "shade": "by token ×",
    }  # fmt: skip
