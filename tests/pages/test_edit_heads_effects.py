"""The view "which heads matter" of Edit heads: its numbers are the engine's, it can be stopped, bad input is said."""

from __future__ import annotations

import functools
import json
import re
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from playwright.sync_api import expect

from analysis.head_effects import HeadEffects, head_effects, layer_effects, rank_correlation, ranking
from jobs import incremental_task as kv_pull
from model_runner import CaptureRequest
from model_runner.edits import ScaledHead
from model_runner.questions import WhichHeads
from pages.edit_heads.effect_export import effects_snippet
from pages.edit_heads.effects import RANKED, Effects, signed
from tests.pages.expected import capture, runner
from tests.pages.visiting import PATIENCE, eventually, type_text, visit, wait_for_rest
from tests.ui.driving import button, components, html, open_app, payloads, sentences, tell, until
from tests.ui.taken import ran
from ui.state.url_state import DEFAULT_TEXT
from viz.share_text import share_digits

pytestmark = pytest.mark.table  # its tests take a second each

PAGE = "pages/edit_heads/page.py"
INDUCTION = "lamp river seven cloud lamp river seven cloud lamp river seven"


def open_view(**address):
    return finished(open_app(page=PAGE, heads="effects", **address))


@functools.cache
def untouched():
    """The view as it opens, for tests that only read it."""
    return open_view()


def finished(app):
    return until(app, lambda app: not button(app, "effect_stop"))


def maps(app):
    return [arrays["values"] for _meta, arrays in payloads(app, "layer_head_map")]


@functools.cache
def expected(target: int, text: str = DEFAULT_TEXT) -> HeadEffects:
    own = capture(text)
    jobs = [runner().submit(WhichHeads(own.request, layer, target)) for layer in range(own.n_layers)]
    return head_effects([layer_effects(job.result()) for job in jobs], own.n_layers, own.n_heads)


def top(text: str = DEFAULT_TEXT) -> int:
    return int(capture(text).logits(-1).argmax())


def test_the_three_maps_are_the_engines_for_the_likeliest_token():
    app = untouched()
    wanted = expected(top())
    for found, values in zip(maps(app), (wanted.lost, wanted.pushed, wanted.written, wanted.ffn[None]), strict=True):
        np.testing.assert_allclose(found, values, atol=1e-5)
    scales = [meta["scale"] for meta, _arrays in payloads(app, "layer_head_map")]
    assert scales == ["signed", "signed", "sequential", "signed"]
    for meta, arrays in payloads(app, "layer_head_map")[:2]:
        assert meta["high"] == pytest.approx(np.abs(arrays["values"]).max())
        assert meta["low"] == -meta["high"]


def test_the_list_says_what_the_token_has_without_each_head():
    text, token = INDUCTION, top(INDUCTION)
    app = open_view(text=text)
    rows = re.findall(r"<th scope='row'>L(\d)H(\d)</th><td>([^<]*) %</td>", html(app))
    assert len(rows) == RANKED
    for layer, head, said in rows:
        request = CaptureRequest(text=text, edits=(ScaledHead(int(layer), int(head)),))
        without = float(torch.softmax(runner().capture(request).logits(-1).double(), -1)[token])
        assert share_digits(without) == said


def test_a_cell_is_what_the_page_of_the_edited_model_loses():
    log_probs = [
        torch.log_softmax(runner().capture(CaptureRequest(text=DEFAULT_TEXT, edits=edits)).logits(-1).double(), -1)
        for edits in ((), (ScaledHead(1, 5),))
    ]
    assert maps(untouched())[0][1, 5] == pytest.approx(float((log_probs[0] - log_probs[1])[top()]), abs=1e-5)


def test_the_list_holds_the_ten_largest_with_their_rank_in_each_answer():
    app = open_view(text=INDUCTION)
    wanted = expected(top(INDUCTION), INDUCTION)
    rows = re.findall(r"<tr[^>]*><th scope='row'>(L\dH\d)</th>(.*?)</tr>", html(app))
    best = ranking(wanted.lost, RANKED)
    assert [name for name, _cells in rows] == [f"L{layer}H{head}" for layer, head in best]
    orders = [ranking(values, 64) for values in (wanted.lost, wanted.pushed, wanted.written)]
    for place, (_name, cells) in zip(best, rows, strict=True):
        shown = re.findall(r"<td>([^<]*)<small class='rank'>([^<]*)</small></td>", cells)
        assert shown[0][0] == signed(float(wanted.lost[place]))
        assert [rank for _value, rank in shown] == [str(order.index(place) + 1) for order in orders]


def test_the_agreement_is_spearmans_of_the_sizes():
    app, wanted = untouched(), expected(top())
    sizes = [np.abs(values) for values in (wanted.lost, wanted.pushed, wanted.written)]
    shown = re.findall(r"<tr><th scope='row'>[^<]* · [^<]*</th><td>([^<]*)</td>", html(app))
    assert shown == [signed(rank_correlation(sizes[i], sizes[j])) for i, j in ((0, 1), (0, 2), (1, 2))]


def test_another_token_can_be_chosen_and_is_in_the_address():
    app = open_view()
    second = int(capture().logits(-1).topk(2).indices[1])
    finished(app.selectbox(key="edit_heads.token").set_value(second).run())
    assert app.query_params["edit_heads.token"] == str(second)
    np.testing.assert_allclose(maps(app)[0], expected(second).lost, atol=1e-5)
    np.testing.assert_allclose(maps(app)[1], expected(second).pushed, atol=1e-5)
    # Back to the first: nothing is computed again, so there is nothing to wait for.
    app.selectbox(key="edit_heads.token").set_value(top()).run()
    assert "edit_heads.token" not in app.query_params
    np.testing.assert_allclose(maps(app)[0], expected(top()).lost, atol=1e-5)


def test_against_another_token_the_maps_are_of_the_logit_difference_and_say_so():
    likely = capture().logits(-1).topk(3).indices.tolist()
    app = open_view(**{"edit_heads.compared": "difference"})
    assert app.selectbox(key="edit_heads.against").value == likely[1]
    own = capture()
    jobs = [runner().submit(WhichHeads(own.request, layer, *likely[:2])) for layer in range(own.n_layers)]
    wanted = head_effects([layer_effects(job.result()) for job in jobs], own.n_layers, own.n_heads)
    np.testing.assert_allclose(maps(app)[0], wanted.lost, atol=1e-5)
    np.testing.assert_allclose(maps(app)[1], wanted.pushed, atol=1e-5)
    assert np.abs(wanted.lost - expected(top()).lost).max() > 0.1
    names = [runner().token_text(token) for token in likely]
    assert f"how much the lead of {names[0]}’s logit over {names[1]}’s shrinks" in html(app)
    finished(app.selectbox(key="edit_heads.against").set_value(likely[2]).run())
    assert app.query_params["edit_heads.against"] == str(likely[2])
    same = open_view(**{"edit_heads.compared": "difference", "edit_heads.against": str(likely[0])})
    assert sentences(same) == ["A token has no difference from itself: choose another one."]
    np.testing.assert_allclose(maps(same)[0], wanted.lost, atol=1e-5)


def test_a_typed_token_is_found_with_the_space_before_it():
    was = runner().ids_of(" was")
    assert len(was) == 1
    app = open_view(effect_token="'was")
    assert sentences(app) == []
    np.testing.assert_allclose(maps(app)[0], expected(was[0]).lost, atol=1e-5)


@pytest.mark.parametrize(
    "token, sentence",
    [
        ("'unbelievable nonsense", "is not one token of this model but"),
        ("'", "is not one token of this model but 0"),
        ("99999999", "There is no token id 99,999,999"),
        ("999999999999999999999", "is not one token of this model"),
    ],
)
def test_what_is_no_token_is_one_sentence_and_the_likeliest_is_taken(token, sentence):
    app = open_app(page=PAGE, heads="effects", effect_token=token)
    assert len(sentences(app)) == 1
    assert sentence in sentences(app)[0]
    assert app.selectbox(key="edit_heads.token").value == top()
    second = int(capture().logits(-1).topk(2).indices[1])
    app = app.selectbox(key="edit_heads.token").set_value(second).run()
    assert sentences(app) == []


def test_a_click_on_any_map_opens_the_head_everywhere():
    app = open_view()
    for which in range(3):
        found = [element for element in app.get("bidi_component") if element.proto.component_name == "layer_head_map"]
        app = tell(app, found[which].proto, "head", [2, which])
        assert (app.query_params["layer"], app.query_params["head"]) == ("2", str(which))
        opened = [meta["open"] for meta, _arrays in payloads(app, "layer_head_map")]
        assert opened == [*[[2, which]] * 3, [0, 2]]  # the last has one cell a layer
        assert f"<b>L2H{which}</b>" in html(app)


def test_the_search_can_be_stopped_and_goes_on_where_it_was(monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(kv_pull, "BUDGET", -1.0)  # no time to look at a job
        app = open_app(page=PAGE, heads="effects", text="A dog and a cat")
        assert np.isnan(maps(app)[0]).all()
        app.button(key="effect_stop").click().run()
        assert [button.key for button in app.button if "effect" in (button.key or "")] == ["effect_start"]
    app.run()
    assert np.isnan(maps(app)[0]).all()  # stopped is stopped, however much time there is
    finished(app.button(key="effect_start").click().run())
    np.testing.assert_allclose(maps(app)[0], expected(top("A dog and a cat"), "A dog and a cat").lost, atol=1e-5)


@pytest.mark.long  # test_cell.py and test_masks.py have such a model too
def test_layers_without_attention_are_empty_and_named(folder_of):
    app = open_view(model=folder_of("jamba"), text="some text")
    assert sentences(app) == []
    meta, arrays = payloads(app, "layer_head_map")[0]
    assert set(meta["notes"]) == {"0", "2"}
    assert np.isnan(arrays["values"][[0, 2]]).all()
    assert np.isfinite(arrays["values"][1]).all()


def test_a_family_without_attribution_says_so_once_and_is_ablated(folder_of):
    app = open_view(model=folder_of("gemma2"), text="some text")
    assert len(sentences(app)) == 1
    assert "cannot be separated in this model" in sentences(app)[0]
    lost, pushed, written, ffn = maps(app)
    assert np.isfinite(lost).all()
    assert np.isfinite(ffn).all()
    assert np.isnan(pushed).all()
    assert np.isnan(written).all()


def test_an_encoder_predicts_no_next_token_and_says_so(folder_of):
    app = open_app(page=PAGE, heads="effects", model=folder_of("bert"), text="some text")
    assert sentences(app) == [
        "This model sees the whole text at once and predicts no next token for which a head could matter."
    ]
    assert "layer_head_map" not in components(app)


def test_the_snippet_gives_the_three_maps():
    opened: Any = SimpleNamespace(capture=capture(), runner=runner())
    wanted = expected(top())
    names = ran(effects_snippet(opened, Effects(top(), wanted, True)))
    np.testing.assert_allclose(names["lost"], wanted.lost, atol=1e-6)
    np.testing.assert_allclose(names["pushed"], wanted.pushed, atol=1e-6)
    np.testing.assert_allclose(names["written"], wanted.written, atol=1e-6)
    assert f"WhichHeads(capture.request, layer, target, {top() + 1})" in effects_snippet(
        opened, Effects(top(), wanted, True, top() + 1)
    )
    assert names["most"] == ranking(wanted.lost, 10)


def test_numbers_have_three_digits_and_a_true_minus():
    assert [signed(value) for value in (0.5, -12.345, 0.0, float("nan"))] == ["+0.500", "−12.3", "+0.00", "–"]
    assert signed(123.0, False) == "123"


# -- in a browser -----------------------------------------------------------------------------------------------------


@pytest.mark.long
@pytest.mark.browser
def test_a_click_opens_the_head_and_the_menus_hold_numbers_and_files(server, page):
    visit(page, server, "edit_heads", heads="effects")
    maps_there = page.locator(".layer-head-map[data-painted]")
    maps_there.nth(2).wait_for(timeout=PATIENCE)
    page.get_by_text("Do they agree?").wait_for(timeout=PATIENCE)
    wait_for_rest(page)
    at = json.loads(maps_there.nth(1).get_attribute("data-geometry") or "{}")
    place = {"x": at["left"] + 3.5 * at["pitchX"], "y": at["top"] + 2.5 * at["pitchY"]}
    maps_there.nth(1).locator("canvas").click(position=place)
    page.wait_for_url("**layer=2**head=3**", timeout=PATIENCE)
    page.locator(".layer-head-map[data-open='2,3']").nth(2).wait_for(timeout=PATIENCE)
    page.get_by_role("button", name="As tables").click()
    page.get_by_text("the fall of log p, in nats", exact=False).nth(1).wait_for(timeout=PATIENCE)
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Export").click()
    with page.expect_download() as download:
        page.get_by_role("button", name="CSV").click()
    text = download.value.path().read_text("utf-8-sig")
    assert '"L2H3"' in text
    assert text.count("\n") == 64 + 2


@pytest.mark.browser
@pytest.mark.long
def test_a_long_search_shows_its_progress_and_ends_when_it_is_stopped(server, page):
    visit(page, server, "edit_heads", heads="effects")
    page.locator(".atlas-ranks tbody tr").nth(RANKED + 2).wait_for(timeout=PATIENCE)
    expect(page.get_by_role("button", name="stop", exact=True)).to_have_count(0, timeout=PATIENCE)  # that one is done
    type_text(page, "The dog chased the squirrel because it was hungry. " * 150)
    stop = page.get_by_role("button", name="stop", exact=True)
    stop.wait_for(timeout=PATIENCE)
    stop.click()
    page.get_by_role("button", name="go on", exact=True).wait_for(timeout=PATIENCE)
    words = page.get_by_text(re.compile(r"\d of 8 layers"))
    wait_for_rest(page)
    before = words.text_content()
    page.wait_for_timeout(1500)
    assert words.text_content() == before
    assert before != "8 of 8 layers, every head ablated once"


@pytest.mark.long
@pytest.mark.browser
@pytest.mark.parametrize("width", [720, 390])  # a window of 1440 at 200 %, and a phone
def test_the_lists_are_not_printed_over_each_other_and_can_be_seen_whole(server, new_page, width):
    page = new_page(viewport={"width": width, "height": 844})
    visit(page, server, "edit_heads", **{"edit_heads.view": "effects"})
    page.locator(".atlas-ranks tbody tr").nth(RANKED + 2).wait_for(timeout=PATIENCE)
    wait_for_rest(page)
    tables = page.locator(".atlas-ranks")
    # none while one of them is drawn anew
    ranking, agreement = eventually(page, lambda: [tables.nth(place).bounding_box() for place in (0, 1)], all)
    assert ranking["y"] + ranking["height"] <= agreement["y"]
    assert ranking["x"] + ranking["width"] <= width
    assert page.evaluate("document.scrollingElement.scrollWidth") <= width
