"""The page Zoo's linear attention: the open head's numbers in both orders, and Lightning's blocks."""

from __future__ import annotations

import pytest

from attention.zoo import linear
from tests.pages.zoo_driving import PAGE, close, head, offering, opened
from tests.ui.driving import html, open_app, payloads, send, sentences


@pytest.fixture
def offered(monkeypatch):
    return offering(monkeypatch)


def test_the_products_are_of_the_open_heads_own_numbers():
    app = opened(view="linear", read="3")
    (meta, arrays), *_others = payloads(app, "bracketings")
    close(arrays["q"], linear.features(head().q).numpy())
    close(arrays["k"], linear.features(head().k).numpy())
    close(arrays["v"], head().v.numpy())
    assert (meta["read"], meta["block"], meta["decay"], meta["divides"], meta["causal"]) == (3, 0, 1.0, True, True)
    app = send(app, "bracketings", "read", 5)
    assert app.query_params["zoo.read"] == "5"
    assert sentences(app) == []


def test_the_size_of_blocks_and_the_decay_are_lightnings_numbers():
    app = opened(view="linear", linear="blocks", **{"values.lightning.tile": "3", "values.lightning.half_life": "2"})
    (meta, arrays), *_others = payloads(app, "bracketings")
    close(arrays["q"], (head().q * head().scale).numpy())
    assert (meta["block"], meta["divides"], meta["query"]) == (3, False, "Q")
    assert meta["decay"] == pytest.approx(0.5**0.5)
    app = send(app, "bracketings", "block", 5)
    assert app.query_params["zoo.values.lightning.tile"] == "5"
    assert app.query_params["zoo.values.lightning.half_life"] == "2"  # the other number stays
    assert len(app.slider) == 1  # its size has its slider in the picture


def test_a_head_that_looks_both_ways_has_one_state_for_all_and_no_blocks():
    place = {"model": "encoder", "view": "linear"}
    (meta, _arrays), *_others = payloads(opened(**place), "bracketings")
    assert meta["causal"] is False
    app = opened(**place, linear="blocks")
    (meta, _arrays), *_others = payloads(app, "bracketings")
    assert meta["block"] == 0
    assert "reads a text from left to right; this layer is bidirectional" in " ".join([*sentences(app), html(app)])


def test_a_head_that_looks_at_another_text_is_one_sentence():
    app = open_app(page=PAGE, model="translator", text="The dog sleeps.", attention="cross", **{"zoo.view": "linear"})
    assert sentences(app) == [
        "This cannot be shown of this model: its tokens look at another text, and this picture is of a text that looks "
        "at itself."
    ]


def test_what_a_layer_hides_besides_the_future_is_said(folder_of):
    place = {"model": folder_of("mistral"), "text": "some words of a text that is longer", "layer": "0", "head": "0"}
    page = html(opened(**place, view="linear"))
    assert "here only the future is hidden" in page
    assert "here only the future is hidden" not in html(opened(view="linear"))


def test_the_tables_say_what_lies_between_and_what_is_multiplied(offered):
    tables, take = offered(view="linear")
    (table,) = tables.values()
    n, d = head().q.shape
    assert table.to_numpy().tolist() == [[n * n, 2 * n * n * d], [d * d, 2 * n * d * d]]
    assert "(Q Kᵀ) V" in take.svg
