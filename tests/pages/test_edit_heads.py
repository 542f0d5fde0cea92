"""The view "edit" of Edit heads: every change is the changed model's, and the list is in the address."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from analysis.comparison import head_drift, next_token_change
from analysis.stories import evidence_of
from model_runner import CaptureRequest
from model_runner.edit_text import read, written
from model_runner.edit_words import edit_name
from model_runner.edits import Blocked, MeanHead, ScaledHead, SharpenedHead, SwappedHeads
from pages.edit_heads.edit import _what_shows
from tests.pages.edit_driving import HERE, PAGE, N, add, capture, chips, drop, expected_map, maps
from tests.pages.expected import ROUNDING, runner
from tests.pages.visiting import PATIENCE, eventually, visit, wait_for_rest
from tests.ui.driving import button, components, go, html, open_app, payload, payloads, send, sentences, type_text
from tests.ui.taken import offers, ran
from ui.state.url_state import DEFAULT_TEXT

WAYS = {
    "zero": ({}, (ScaledHead(3, 1, 0.0),), "L3H1 ablated"),
    "mean": ({}, (MeanHead(3, 1),), "L3H1 = its mean"),
    "scale": ({"edit_heads.factor": "-0.5"}, (ScaledHead(3, 1, -0.5),), "L3H1 × -0.5"),
    "sharpen": ({"edit_heads.temperature": "0.3"}, (SharpenedHead(3, 1, 0.3),), "L3H1 at temperature 0.3"),
    "swap": ({"edit_heads.other": "5"}, (SwappedHeads(3, 1, 5),), "L3H1 ⇄ L3H5"),
}


def gain(before, after):
    """What each weight gained, cell by cell: one that cannot be looked at gives nothing; NaN where it never could."""
    rows = [
        [np.nan if np.isnan(old) and np.isnan(new) else np.nan_to_num(new) - np.nan_to_num(old) for old, new in row]
        for row in (zip(*pair, strict=True) for pair in zip(before, after, strict=True))
    ]
    return np.array(rows, dtype=np.float32)


@pytest.mark.parametrize("kind", WAYS)
def test_the_button_adds_the_change_and_both_sides_are_the_models(kind):
    given, edits, words = WAYS[kind]
    app = add(open_app(page=PAGE, edit=kind, **HERE, **given))
    assert sentences(app) == []
    assert app.query_params["edits"] == written(edits)
    assert chips(app) == [words]
    before, after, gained = maps(app)
    np.testing.assert_allclose(before, expected_map(), atol=ROUNDING)
    np.testing.assert_allclose(after, expected_map(*edits), atol=ROUNDING)
    np.testing.assert_array_equal(gained, gain(before, after))
    kl = next_token_change(capture(), capture(*edits)).kl
    assert kl > 0
    assert f"after “… squirrel because it” · KL {kl:.3g} bits" in html(app)
    moved = payload(app, "layer_head_map")[1]["values"]
    np.testing.assert_allclose(moved, head_drift(capture(), capture(*edits)), atol=ROUNDING)
    silent = "What L3H1 passes on is changed, not where it looks."
    assert (silent in html(app)) == (kind != "sharpen")


def test_typed_cells_are_hidden_where_the_menu_says():
    for where, layers, heads in [("head", (3,), (1,)), ("layer", (3,), None), ("all", None, None)]:
        app = open_app(page=PAGE, edit="block", edit_where=where, **{"edit_heads.cells": "7, 1; 7, 2"}, **HERE)
        assert "edits" not in app.query_params
        add(app)
        edit = Blocked(((7, 1), (7, 2)), layers, heads)
        assert app.query_params["edits"] == written((edit,))
        after = maps(app)[1]
        assert np.isnan(after[7, [1, 2]]).all()
        np.testing.assert_allclose(after, expected_map(edit), atol=ROUNDING)


def test_a_click_hides_a_cell_and_the_next_one_gives_it_back_while_masked_cells_stay():
    app = open_app(page=PAGE, edit="block", **HERE)
    assert payloads(app, "head_map")[0][0]["press"]
    assert not payloads(app, "head_map")[1][0]["press"]
    app = send(app, "head_map", "press", [7, 1])
    assert app.query_params["edits"] == written((Blocked(((7, 1),), (3,), (1,)),))
    assert np.isnan(maps(app)[1][7, 1])
    assert payload(app, "head_map")[0]["selected"] == [7, 1]
    app = send(app, "head_map", "press", [7, 1])
    assert "edits" not in app.query_params
    for nothing in ([1, 7], [7, None], None):
        app = send(app, "head_map", "press", nothing)
        assert "edits" not in app.query_params


def test_a_query_that_sees_nothing_is_named():
    app = open_app(page=PAGE, edits=written((Blocked(((1, 0), (1, 1)), (3,), (1,)),)), **HERE)
    assert "These see nothing now and pass nothing on: The (1)." in html(app)


def test_the_open_head_below_every_change_says_that_none_reaches_it():
    app = open_app(page=PAGE, edits=written((ScaledHead(5, 0, 0.0),)), **HERE)
    assert "No change reaches L3H1: a head depends only on the layers below it." in html(app)
    before, after, gained = maps(app)
    assert np.array_equal(before, after, equal_nan=True)
    assert not np.nan_to_num(gained).any()


NOTHING = "These changes do nothing here: L3H1 looks as before, and what it passes on is the same."
NEVER = "No change reaches L3H1: a head depends only on the layers below it."


@pytest.mark.parametrize(
    "edits, words",
    [
        ((ScaledHead(1, 0, 1.0),), NOTHING),  # below, but times one
        ((ScaledHead(3, 1, 1.0),), NOTHING),
        ((SharpenedHead(3, 1, 1.0),), NOTHING),
        ((ScaledHead(3, 1, 1.0), ScaledHead(5, 0, 0.0)), NOTHING),
        ((Blocked(((1, 7),), None, (1,)),), NOTHING),  # a cell that no token sees anyway
        ((Blocked(((1, 7),), (3,), (1,)),), NOTHING),
        ((Blocked(((7, 1),), (3,), (0,)),), NEVER),
        ((ScaledHead(3, 0, 0.0),), NEVER),
        ((ScaledHead(3, 0, 0.0), ScaledHead(5, 0, 1.0)), NEVER),
        ((ScaledHead(5, 0, 0.0), ScaledHead(1, 0, 1.0)), NOTHING),
        ((ScaledHead(1, 0, 0.0),), None),
        ((ScaledHead(3, 1, 0.0), Blocked(((7, 1),), (3,), (1,))), None),
    ],
)
def test_what_does_nothing_is_not_said_to_lie_above_the_open_head(monkeypatch, edits, words):
    monkeypatch.setattr("ui.wording.i18n.language", lambda: "en")
    opened: Any = SimpleNamespace(capture=capture(), layer=3, head=1)
    assert _what_shows(opened, capture(*edits), edits) == (words or "")
    assert torch.equal(*(one.weights(3, 1) for one in (capture(), capture(*edits)))) == (words is not None)


def test_cells_are_to_be_chosen_before_anything_is_changed():
    app = open_app(page=PAGE, edit="block", **HERE)
    assert "Nothing is changed yet, so both sides are the same." in html(app)
    assert "layer_head_map" not in components(app)
    assert not button(app, "edit_story")


def test_a_text_without_a_story_previews_the_open_head_and_can_be_shown_unchanged():
    app = open_app(page=PAGE, **(HERE | {"text": "A text without a story"}))
    assert "Preview: L3H1 ablated. Nothing is changed until you apply it." in html(app)
    assert "layer_head_map" in components(app)
    assert "edits" not in app.query_params
    app.button(key="edit_as_is").click().run()
    assert "Nothing is changed yet, so both sides are the same." in html(app)
    assert "layer_head_map" not in components(app)
    (first,) = (one for one in app.button if one.key == "edit_story")
    assert first.label == "Apply: L3H1 ablated"
    first.click().run()
    assert app.query_params["edits"] == written((ScaledHead(3, 1, 0.0),))
    assert not button(app, "edit_story")


@pytest.mark.parametrize("text", [DEFAULT_TEXT, "The pig is behind the dog. It"])
def test_a_storys_ablation_is_previewed_and_on_no_other_page_until_it_is_applied(text):
    evidence = evidence_of("default", text)
    assert evidence is not None
    edits = tuple(ScaledHead(*place, 0.0) for place in evidence.heads)
    app = open_app(page=PAGE, text=text)
    assert f"Preview: {', '.join(edit_name(edit, str) for edit in edits)}, which this text’s story is about." in html(
        app
    )
    plain, ablated = (runner().capture(CaptureRequest(text, edits=made)) for made in ((), edits))
    assert f"KL {next_token_change(plain, ablated).kl:.3g} bits" in html(app)
    assert "edits" not in app.query_params
    assert not any(one.key == "everywhere" for one in app.toggle)
    go(app, "pages/heads/page.py")
    _meta, arrays = payload(app, "head_map")
    seen = ~np.isnan(arrays["values"])
    np.testing.assert_allclose(arrays["values"][seen], plain.weights(*evidence.heads[0]).numpy()[seen], atol=1e-6)
    go(app, PAGE)
    app.button(key="edit_story").click().run()
    assert app.query_params["edits"] == written(edits)
    assert "Preview:" not in html(app)
    for edit in edits:
        app.button(key=f"edit_drop {written((edit,))}").click().run()
    assert "Nothing is changed yet, so both sides are the same." in html(app)  # who took it back sees that it is


def test_a_preview_can_be_left_for_the_model_as_it_is_and_another_text_has_its_own():
    app = open_app(page=PAGE, text=DEFAULT_TEXT)
    app.button(key="edit_as_is").click().run()
    assert "Nothing is changed yet, so both sides are the same." in html(app)
    type_text(app, "The pig is behind the dog. It")
    assert "Preview: L5H5 ablated, L5H4 ablated" in html(app)


def test_the_maps_of_a_preview_are_of_the_head_that_moved_most():
    text = "The pig is behind the dog. It"
    app = open_app(page=PAGE, text=text)
    edits = tuple(ScaledHead(*place, 0.0) for place in evidence_of("default", text).heads)
    before, after = (runner().capture(CaptureRequest(text, edits=one)) for one in ((), edits))
    drift = head_drift(before, after)
    layer, head = divmod(int(np.nanargmax(drift)), drift.shape[1])
    for shown, whole in zip(maps(app)[:2], (before, after), strict=True):
        np.testing.assert_allclose(np.nan_to_num(shown), whole.weights(layer, head).numpy(), atol=ROUNDING)
    assert np.nanmax(np.abs(maps(app)[2])) > 0.1
    assert f"The maps are of L{layer}H{head}, whose attention moves most." in html(app)
    assert "Without L5H5 and L5H4, “<bdi>o</bdi>” of “<bdi>oinks</bdi>” falls from" in html(app)


def test_a_preview_that_no_head_hears_of_shows_its_map_once():
    app = open_app(page=PAGE, text="猫看见了狗，它")  # its story is about a head of the last layer
    assert len(payloads(app, "head_map")) == 1
    assert "before and after" in html(app)


@pytest.mark.parametrize("text", ["3 + 5 = ", "When Mary and John went to the store, John gave a drink to"])
def test_of_a_story_that_says_where_alone_the_open_head_is_previewed_and_no_story_named(text):
    app = open_app(page=PAGE, text=text)
    layer, head = (app.query_params[name] for name in ("layer", "head"))
    assert f"Preview: L{layer}H{head} ablated. Nothing is changed" in html(app)
    assert "story is about" not in html(app)


def test_a_click_on_a_moved_head_opens_it():
    app = open_app(page=PAGE, edits=written((ScaledHead(3, 1, 0.0),)), **HERE)
    drift = head_drift(capture(), capture(ScaledHead(3, 1, 0.0)))
    layer, head = np.unravel_index(np.nanargmax(drift), drift.shape)
    app.button(key=f"edit_to_{layer}_{head}").click().run()
    assert (app.query_params["layer"], app.query_params["head"]) == (str(layer), str(head))
    app = send(app, "layer_head_map", "head", [4, 2])
    assert (app.query_params["layer"], app.query_params["head"]) == ("4", "2")


# -- the list ---------------------------------------------------------------------------------------------------------


def test_the_list_is_mended_one_by_one_or_cleared():
    edits = (ScaledHead(3, 1, 0.1), SharpenedHead(2, 4, 2.0), Blocked(((5, 0),), None, (1,)))
    app = open_app(page=PAGE, edits=written(edits), **HERE)
    assert chips(app) == ["L3H1 × 0.1", "L2H4 at temperature 2", "5 → 0 hidden in H1 of all layers"]
    np.testing.assert_allclose(maps(app)[1], expected_map(*edits), atol=ROUNDING)
    drop(app, 1)
    assert read(app.query_params["edits"]) == (edits[0], edits[2])
    app.button(key="edit_clear").click().run()
    assert "edits" not in app.query_params
    assert chips(app) == []


def test_a_list_that_is_empty_again_is_carried_to_no_page():
    """Or the next change would be on every page at once, and nothing on the screen said so."""
    for taken_back in (lambda app: drop(app, 0), lambda app: app.button(key="edit_clear").click().run()):
        edits = (ScaledHead(3, 1, 0.1), MeanHead(2, 2))
        app = open_app(page=PAGE, edits=written(edits), everywhere="1", **HERE)
        taken_back(app)
        if "edits" in app.query_params:
            assert app.query_params["everywhere"] == "1"
            drop(app, 0)
        assert not {"edits", "everywhere"} & set(app.query_params)


def test_the_slider_of_a_changed_head_shows_its_value_and_changes_it_at_once():
    app = open_app(page=PAGE, edit="scale", edits=written((ScaledHead(3, 1, 0.0), MeanHead(2, 2))), **HERE)
    assert app.slider(key="edit_heads.factor").value == 0.0
    app.slider(key="edit_heads.factor").set_value(1.5).run()
    assert read(app.query_params["edits"]) == (ScaledHead(3, 1, 1.5), MeanHead(2, 2))
    app.slider(key="edit_heads.factor").set_value(0.7).run()
    assert read(app.query_params["edits"]) == (ScaledHead(3, 1, 0.7), MeanHead(2, 2))


@pytest.mark.parametrize(
    "kind, edit, inside",
    [
        ("sharpen", SharpenedHead(3, 1, 10.0), 3.0),
        ("sharpen", SharpenedHead(3, 1, 0.05), 3.0),
        ("scale", ScaledHead(3, 1, -7.5), 2.5),
    ],
)
def test_the_slider_reaches_a_listed_value_beyond_its_range(kind, edit, inside):
    app = open_app(page=PAGE, edit=kind, edits=written((edit,)), **HERE)
    (slider,) = app.slider
    value = edit.factor if isinstance(edit, ScaledHead) else edit.temperature
    assert slider.value == value
    assert slider.min <= value <= slider.max
    slider.set_value(inside).run()
    assert app.slider(key="edit_heads." + ("factor" if kind == "scale" else "temperature")).value == inside
    assert read(app.query_params["edits"]) == (type(edit)(3, 1, inside),)
    drop(app, 0)
    assert sentences(app) == []


def test_a_value_beyond_the_range_moved_within_it_leaves_an_address_that_can_be_read():
    app = open_app(page=PAGE, edit="sharpen", edits=written((SharpenedHead(3, 1, 10.0),)), **HERE)
    app.slider[0].set_value(7.0).run()
    assert [(slider.value, slider.max) for slider in app.slider] == [(7.0, 7.0)]
    drop(app, 0)
    assert sentences(app) == []
    assert [slider.value for slider in app.slider] == [4.0]


def test_the_switch_for_every_page_is_in_the_address():
    app = open_app(page=PAGE, edits=written((ScaledHead(3, 1, 0.0),)), **HERE)
    assert "Other pages show" not in html(app)
    app.toggle(key="everywhere").set_value(True).run()
    assert app.query_params["everywhere"] == "1"
    assert "Other pages show the model changed like this now." in html(app)
    np.testing.assert_allclose(maps(app)[0], expected_map(), atol=ROUNDING)  # before stays before
    app.toggle(key="everywhere").set_value(False).run()
    assert "everywhere" not in app.query_params


# -- how the text goes on ---------------------------------------------------------------------------------------------


def greedy(*edits):
    """The likeliest token, twelve times over, each time by a whole forward."""
    found: tuple[int, ...] = ()
    for _turn in range(12):
        found += (int(capture(*edits, continuation=found).logits(-1).argmax()),)
    return found


@pytest.mark.usefixtures("whole_texts")
@pytest.mark.parametrize("edits", [(ScaledHead(3, 1, 0.0),), (ScaledHead(6, 5, 0.0), SharpenedHead(0, 0, 3.0))])
def test_both_texts_go_on_as_whole_forwards_do_and_the_first_difference_is_marked(edits):
    app = open_app(page=PAGE, edits=written(edits), **HERE)
    lanes = html(app).split('class="atlas-lanes"')[1]
    before, after = greedy(), greedy(*edits)
    same = next((place for place in range(12) if before[place] != after[place]), None)
    for ids in (before, after):
        words = "".join(runner().token_text(token) for token in ids[:same]).replace("·", " ")
        assert words in lanes
    assert ("<mark>" in lanes) == (same is not None)
    assert ("equal: all 12 tokens" in lanes) == (same is None)


def test_a_mean_has_no_continuation_and_everything_else_stays():
    app = open_app(page=PAGE, edits=written((MeanHead(3, 1),)), **HERE)
    assert sentences(app) == []
    assert "This change cannot be made: a text that grows has no mean yet." in html(app)
    assert len(maps(app)) == 3
    assert "KL" in html(app)


def test_the_files_and_the_code_give_the_changed_map_and_name_the_edits(monkeypatch):
    offered = offers(monkeypatch)
    edits = (Blocked(((7, 1),), (3,), (1,)), ScaledHead(2, 4, 0.5))
    open_app(page=PAGE, edits=written(edits), **HERE)
    names = ran(offered[-1].snippet)
    np.testing.assert_allclose(names["values"], expected_map(*edits), atol=ROUNDING)
    stored = offered[-1].arrays
    np.testing.assert_allclose(stored["values"], expected_map(*edits), atol=ROUNDING)
    assert "changed: 7 → 1 hidden in L3H1, L2H4 × 0.5 · " in str(stored["caption"])
    np.testing.assert_allclose(stored["before"], expected_map(), atol=ROUNDING)
    np.testing.assert_array_equal(stored["difference"], gain(stored["before"], stored["after"]))
    assert stored["difference"][7, 1] == -stored["before"][7, 1]  # hidden, and so it lost all that it gave
    np.testing.assert_array_equal(stored["after"], stored["values"])
    assert offered[-1].name == "attention-L3H1-after"


@pytest.mark.long
@pytest.mark.browser
def test_a_click_on_the_left_map_empties_the_cell_of_the_right_one(server, page):
    visit(page, server, "edit_heads", edit="block", **HERE)
    left, right = page.locator(".head-map").nth(0), page.locator(".head-map").nth(1)
    right.and_(page.locator("[data-painted]")).wait_for(timeout=PATIENCE)
    wait_for_rest(page)

    def click(query: int, key: int) -> None:
        at = json.loads(left.get_attribute("data-geometry") or "{}")
        x, y = at["x"] + (key + 0.5) * at["width"] / N, at["y"] + (query + 0.5) * at["height"] / N
        left.locator("canvas").first.click(position={"x": x, "y": y})

    def said() -> str:
        at = json.loads(right.get_attribute("data-geometry") or "{}")
        x, y = at["x"] + 1.5 * at["width"] / N, at["y"] + 7.5 * at["height"] / N
        right.locator("canvas").first.hover(position={"x": x, "y": y})
        return right.locator(".tip").text_content() or ""

    click(7, 1)
    page.wait_for_url("**edits=Blocked**", timeout=PATIENCE)
    page.get_by_role("button", name="7 → 1 hidden in L3H1").wait_for(timeout=PATIENCE)
    wait_for_rest(page)
    eventually(page, said, lambda words: "cannot see" in words)
    left.locator("canvas").first.press("ArrowRight")  # looks around, hides nothing
    page.wait_for_url("**key=2**", timeout=PATIENCE)
    page.get_by_role("button", name="7 → 1 hidden in L3H1").wait_for(timeout=PATIENCE)
    left.locator("canvas").first.press("Enter")
    page.get_by_role("button", name="2 cells hidden in L3H1").wait_for(timeout=PATIENCE)
    wait_for_rest(page)
    click(7, 2)
    page.get_by_role("button", name="7 → 1 hidden in L3H1").wait_for(timeout=PATIENCE)
    wait_for_rest(page)
    click(7, 1)
    page.get_by_text("Nothing is changed yet, so both sides are the same.").wait_for(timeout=PATIENCE)
    wait_for_rest(page)
    eventually(page, said, lambda words: "puts" in words)
