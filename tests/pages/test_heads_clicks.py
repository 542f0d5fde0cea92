"""Clicks on the page Heads: each moves the place, everywhere and in the address, and counts once."""

from __future__ import annotations

import numpy as np
import pytest

from tests.pages.expected import ROUNDING, capture, masked, weights
from tests.ui.driving import html, open_app, payload, send, type_text
from viz.share_text import share_digits

HERE = {"layer": "3", "head": "7"}


def place(app) -> tuple[object, ...]:
    parts = app.query_params
    query = parts.get("query", "-1")
    key = parts.get("key")
    return int(parts["layer"]), int(parts["head"]), None if query == "none" else int(query), key and int(key)


def test_a_click_on_a_head_opens_it():
    app = send(open_app(), "head_grid", "head", [2, 5])
    assert "<span>L2H5 · " in html(app)
    assert payload(app, "head_grid")[0]["selected"] == [2, 5]
    np.testing.assert_allclose(payload(app, "head_map")[1]["values"], masked(weights(2, 5)), atol=ROUNDING)
    assert app.query_params == {"layer": "2", "head": "5"}


def test_of_clicks_that_are_told_together_the_last_one_stays():
    """The first asks for its map before the page; a restarted server hears what the one before had heard."""
    app = send(open_app(), "head_grid", "head", [2, 5], [1, 3])
    assert app.query_params == {"layer": "1", "head": "3"}
    assert payload(app, "head_grid")[0]["selected"] == [1, 3]


def test_a_click_on_a_cell_pins_it_everywhere():
    key = int(weights()[5].argmax())
    app = send(open_app(**HERE), "head_map", "cell", [5, key])
    assert place(app) == (3, 7, 5, key)
    assert payload(app, "head_map")[0]["selected"] == [5, key]
    strip = payload(app, "token_strip")[0]
    assert (strip["selected"], strip["looked_at"]) == (5, key)
    assert payload(app, "token_lines")[0]["selected"] == 5
    assert f" puts {share_digits(float(weights()[5, key]))} % on " in html(app)
    assert app.query_params == {**HERE, "query": "5", "key": str(key)}


def test_a_click_on_a_row_pins_only_the_query():
    app = send(open_app(key="1", **HERE), "head_map", "cell", [5, None])
    assert place(app) == (3, 7, 5, None)


def test_escape_pins_nothing():
    app = send(open_app(query="5", key="2", **HERE), "head_map", "cell", None)
    assert place(app) == (3, 7, None, None)
    assert payload(app, "head_map")[0]["selected"] is None
    assert "Click a cell" in html(app)
    assert app.query_params == {**HERE, "query": "none"}


@pytest.mark.parametrize("component, event", [("token_strip", "token"), ("token_lines", "query")])
def test_a_click_on_a_token_pins_it_as_the_query(component, event):
    app = send(open_app(key="1", **HERE), component, event, 4)
    assert place(app) == (3, 7, 4, None)
    assert payload(app, "head_map")[0]["selected"] == [4, None]


@pytest.mark.parametrize("component, event", [("token_strip", "token"), ("token_lines", "query")])
def test_a_token_can_be_released(component, event):
    app = send(open_app(query="4", **HERE), component, event, None)
    assert place(app) == (3, 7, None, None)


@pytest.mark.parametrize("query, pinned", [("", None), ("5", 5), ("5", 4)])
def test_a_click_on_a_key_of_the_lines_pins_the_cell_as_a_click_on_the_map_does(query, pinned):
    app = open_app(**HERE, **({"query": query} if query else {}))
    app = send(app, "token_lines", "cell", [pinned, 2])  # without a query: the one that the session has
    seen = len(weights()) - 1 if pinned is None else pinned
    assert app.query_params == {**HERE, "query": str(seen), "key": "2"}
    assert payload(app, "head_map")[0]["selected"] == [seen, 2]
    lines = payload(app, "token_lines")[0]
    assert (lines["selected"], lines["looked_at"]) == (seen, 2)
    app = send(app, "token_lines", "cell", [seen, None])
    assert place(app) == (3, 7, seen, None)


def test_a_key_without_a_pinned_query_takes_the_one_that_looks_at_it_most():
    app = send(open_app(query="none", **HERE), "token_lines", "cell", [None, 2])
    assert place(app) == (3, 7, int(weights()[:, 2].argmax()), 2)


def test_the_same_click_counts_again_after_another():
    app = open_app(**HERE)
    for cell in ([5, 2], [4, 1], [5, 2]):
        send(app, "head_map", "cell", cell)
        assert place(app)[2:] == tuple(cell)


def test_a_click_is_not_repeated_by_what_is_done_next():
    app = send(open_app(**HERE), "head_grid", "head", [2, 5])
    send(app, "head_map", "cell", [5, 2])
    app.button_group(key="heads.color").set_value("log")
    app.run()
    type_text(app, "The capital of France is")
    assert place(app) == (2, 5, -1, None)


def test_in_words_a_click_pins_the_last_token_of_the_word():
    text = "The unhappiest squirrelologist chased it"
    app = send(open_app(text=text, unit="words", **HERE), "head_map", "cell", [3, 2])
    query, key = place(app)[2:]
    assert capture(text).tokens[query].end == text.index(" chased")
    assert capture(text).tokens[key].end == text.index(" squirrelologist")
    assert payload(app, "head_map")[0]["selected"] == [3, 2]


def test_zooming_asks_for_the_window_and_back_for_the_whole():
    app = send(open_app(**HERE), "head_map", "window", [2, 6, 1, 4])
    meta, arrays = payload(app, "head_map")
    assert (meta["window"], meta["total"]) == ([2, 6, 1, 4], [8, 8])
    np.testing.assert_allclose(arrays["values"], masked(weights())[2:6, 1:4], atol=ROUNDING)
    assert meta["row_labels"] == [token.text for token in capture().tokens[2:6]]
    assert app.query_params["window"] == "2-6-1-4"
    send(app, "head_map", "window", [0, 8, 0, 8])
    assert payload(app, "head_map")[0]["window"] == [0, 8, 0, 8]
    assert "window" not in app.query_params


def test_the_address_of_everything_chosen_opens_the_same_picture():
    app = open_app(text="The capital of France is", what="value", nofirst="1", metric="first", order="rank", **HERE)
    send(app, "head_map", "cell", [4, 2])
    send(app, "head_map", "window", [1, 5, 0, 4])
    again = open_app(**app.query_params)
    for component in ("head_map", "head_grid", "token_lines", "token_strip"):
        assert [element.proto.bytes for element in again.get("bidi_component") if component in element.proto.id] == [
            element.proto.bytes for element in app.get("bidi_component") if component in element.proto.id
        ]
