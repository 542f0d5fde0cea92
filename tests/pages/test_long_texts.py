"""The page Long texts: its map asks for what the model has, long texts are cut or stretched, and every view is true."""

from __future__ import annotations

import json
import re
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import numpy as np
import pytest

from analysis.far_looks import far_looks
from analysis.long_map import SIDE, Spot, denominators, tile, unpacked
from analysis.long_text import chapter
from analysis.needle import NEEDLES, Needle, Trial, hidden, strongest_heads
from jobs.tile_tickets import TICKETS
from model_runner import CaptureRequest
from model_runner.rotation_edit import NtkTheta, YarnTheta
from tests.analysis.made import embedded
from tests.pages.visiting import PATIENCE, visit
from tests.ui.driving import button, components, html, open_app, payload, send, sentences, until
from tests.ui.taken import offers
from ui.state.text_in_url import parts_of, text_of
from ui.state.url_state import DEFAULT_TEXT
from viz.share_text import share_digits

PAGE = "pages/long_texts/page.py"
MEDIUM = "The dog chased the squirrel because it was hungry. " * 30


def meta_of(app: Any) -> dict[str, Any]:
    return payload(app, "long_map")[0]


def test_the_ticket_that_the_map_is_given_answers_with_its_weights():
    app = open_app(page=PAGE, text=MEDIUM, layer="3", head="5")
    meta = meta_of(app)
    capture = embedded().capture(CaptureRequest(text=MEDIUM))
    assert meta["labels"] == [token.text for token in capture.tokens]
    status, body = TICKETS.answer(meta["ticket"], "tile/3/5/1/0/1")
    assert status == 200
    record = capture.record(3)
    lse = denominators(record, 5)
    wanted = unpacked(tile(record, 5, lse, Spot(1, 0, 1), lambda spot: pytest.fail(str(spot))).packed())
    np.testing.assert_array_equal(unpacked(body)["max"], wanted["max"])
    assert TICKETS.answer(meta["ticket"], "tile/4/5/0/0/0")[0] == 404  # that layer has not passed its check here
    looks = json.loads(TICKETS.answer(meta["ticket"], f"far/3/5/{meta['far']}")[1])
    found = far_looks(record, 5, lse, least=meta["far"], count=8)
    assert [(one["query"], one["key"]) for one in looks] == [(look.query, look.key) for look in found]


def test_another_text_ends_the_ticket_of_the_first_and_another_session_has_its_own():
    app, other = open_app(page=PAGE, text=MEDIUM), open_app(page=PAGE, text=MEDIUM)
    first, second = meta_of(app)["ticket"], meta_of(other)["ticket"]
    assert first != second
    app.run()
    assert meta_of(app)["ticket"] == first  # the same as long as the text is
    app.button(key="example_1").click().run()
    assert meta_of(app)["ticket"] != first
    place = f"tile/{meta_of(other)['layer']}/0/0/0/0"
    assert TICKETS.answer(first, place)[0] == 403
    assert TICKETS.answer(second, place)[0] == 200


def test_what_the_map_tells_is_in_the_address_and_comes_back():
    app = open_app(page=PAGE, text=MEDIUM, layer="3", head="5")
    send(app, "long_map", "cell", [200, 17])
    send(app, "long_map", "window", [100, 180, 40, 120])
    assert (app.query_params["query"], app.query_params["key"]) == ("200", "17")
    assert app.query_params["window"] == "100-180-40-120"
    assert meta_of(app)["window"] == [100, 180, 40, 120]
    assert meta_of(app)["selected"] == [200, 17]
    send(app, "long_map", "window", None)
    assert "window" not in app.query_params
    assert meta_of(app)["window"] is None


@pytest.mark.parametrize("window", ["0-5-7-3", "0-99999-0-99999", "5-5-5-5", "900-901-0-1"])
def test_a_window_that_there_is_not_is_replaced_by_one_that_there_is(window):
    app = open_app(page=PAGE, text=MEDIUM, window=window)
    meta = meta_of(app)
    if meta["window"] is not None:
        q0, q1, k0, k1 = meta["window"]
        assert 0 <= q0 < q1 <= meta["tokens"]
        assert q1 - q0 == k1 - k0


def test_a_text_beyond_the_context_is_said_before_it_runs_and_can_be_cut():
    app = open_app(page=PAGE, text=chapter().whole)
    assert any("but 2,048 fit" in sentence for sentence in sentences(app))
    assert components(app).count("long_map") == 0
    app.button(key="long_cut").click().run()
    assert sentences(app) == []
    assert chapter().whole.startswith(app.session_state["text"])
    assert 2000 < meta_of(app)["tokens"] <= 2048


@pytest.mark.parametrize(
    "name, edit", [pytest.param("NTK", NtkTheta(2.0), marks=pytest.mark.long), ("YaRN", YarnTheta(2.0, 2048))]
)
def test_a_text_beyond_the_context_can_be_read_with_the_rotation_stretched_and_says_so(name, edit):
    app = open_app(page=PAGE, text=chapter().whole)
    app.button(key=f"long_{name}").click().run()
    assert f"changed: {name} × 2" in html(app)
    meta = meta_of(app)
    wanted = embedded().capture(CaptureRequest(text=chapter().whole, edits=(edit,)))
    assert meta["tokens"] == len(wanted.tokens) == 2946
    layer, head = meta["layer"], meta["head"]
    body = TICKETS.answer(meta["ticket"], f"tile/{layer}/{head}/4/0/11")[1]
    rows = slice(11 * SIDE, len(wanted.tokens))
    found = unpacked(body)["max"][: rows.stop - rows.start]
    np.testing.assert_allclose(found, wanted.weights(layer, head, queries=rows, keys=slice(0, SIDE)), atol=1e-3)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_half_of_the_long_text_fits_the_model_and_all_of_it_does_not(language):
    found = chapter(language)
    half, whole = (len(embedded().ids_of(text)) for text in (found.half, found.whole))
    assert half < embedded().info.max_tokens < whole
    assert text_of(parts_of(found.whole)) == found.whole  # an address holds it


def test_in_chinese_the_long_text_and_the_needle_are_chinese():
    app = open_app(page=PAGE, lang="zh", **{"long_texts.view": "needle"})
    assert chapter("zh").title in html(app)
    assert app.selectbox(key="long_texts.needle").value == next(at for at, one in enumerate(NEEDLES) if one.end == "。")
    assert "is" not in NEEDLES[app.selectbox(key="long_texts.needle").value].sentence
    chosen = open_app(page=PAGE, lang="zh", **{"long_texts.view": "needle", "long_texts.needle": "0"})
    assert chosen.selectbox(key="long_texts.needle").value == 0


def part(app: Any, name: str) -> Any:
    """The page after a click on a part of the chapter, or on the reader's own text."""
    control = next(one for one in app.button_group if "long_texts.shown" in one.key)
    return control.set_value(name).run()


def test_an_example_gives_way_to_half_a_chapter_and_a_text_that_was_typed_does_not():
    app = open_app(page=PAGE)
    assert meta_of(app)["tokens"] == 1537
    assert sentences(app) == []
    assert meta_of(part(app, "own"))["tokens"] == len(embedded().capture(CaptureRequest(DEFAULT_TEXT)).tokens)
    assert meta_of(open_app(page=PAGE, text="a text of my own"))["tokens"] < 10


def test_a_cell_of_the_chapter_is_pinned_in_the_chapter_alone():
    app = open_app(page=PAGE)
    send(app, "long_map", "cell", [1200, 900])
    assert meta_of(app)["selected"] == [1200, 900]
    assert app.query_params["long_texts.query"] == "1200"
    assert "query" not in app.query_params
    app = part(app, "own")
    assert sentences(app) == []
    assert meta_of(app)["selected"][0] < 10
    assert meta_of(part(app, "half"))["selected"][0] == 1536  # not a place of another text


def test_all_of_the_chapter_is_cut_where_the_model_ends_and_the_rotation_can_be_stretched():
    app = part(open_app(page=PAGE), "whole")
    assert sentences(app) == []
    assert meta_of(app)["tokens"] == 2048
    assert "The chapter has 2,946 tokens." in html(app)
    app.button(key="long_NTK").click().run()
    assert meta_of(app)["tokens"] == 2946


@pytest.mark.parametrize(
    "view, text", [("map", "a"), ("map", "😀"), ("heads", "a"), ("curves", "a"), ("curves", "春天")]
)
def test_every_view_takes_the_shortest_texts(view, text):
    app = open_app(page=PAGE, text=text, **{"long_texts.view": view})
    until(app, lambda app: not app.get("progress"))
    assert sentences(app) == []


def test_every_head_is_drawn_and_a_click_opens_its_map():
    app = open_app(page=PAGE, text=MEDIUM, **{"long_texts.view": "heads", "long_texts.measure": "first"})
    until(app, lambda app: not app.get("progress"))
    capture = embedded().capture(CaptureRequest(text=MEDIUM))
    metric = payload(app, "head_grid")[1]["metric"]
    wanted = capture.weights(3, 5)[1:, 0].mean()
    assert metric[3, 5] == pytest.approx(float(wanted), rel=1e-5)
    layer, head = np.unravel_index(np.nanargmax(metric), metric.shape)
    most = f"{share_digits(float(metric[layer, head]))} %"
    assert f"L{layer}H{head} has most of “first token (sink)”: {most}</b>" in html(app)
    send(app, "head_grid", "head", [3, 5])
    assert (meta_of(app)["layer"], meta_of(app)["head"]) == (3, 5)


def test_the_curves_say_in_which_layer_the_first_token_gets_most():
    app = open_app(page=PAGE, text=MEDIUM, **{"long_texts.view": "curves"})
    until(app, lambda app: not app.get("progress"))
    capture = embedded().capture(CaptureRequest(text=MEDIUM))
    shares = [float(capture.weights(layer)[:, 1:, 0].mean()) for layer in range(capture.n_layers)]
    most, least = int(np.argmax(shares)), int(np.argmin(shares))
    share = f"{share_digits(shares[most])} %"
    assert f"The first token gets {share} of layer {most}’s attention</b>" in html(app)
    assert f"least in layer {least}, " in html(app)


@pytest.mark.table
@pytest.mark.parametrize(
    "text, hay",
    [pytest.param(MEDIUM, "the text", marks=pytest.mark.long), (MEDIUM[:200], "the chapter, not of the text")],
)
def test_the_needle_names_the_heads_that_copied_it_and_its_files_the_hay(monkeypatch, text, hay):
    taken = offers(monkeypatch)
    app = open_app(page=PAGE, layer="5", head="5", text=text, **{"long_texts.view": "needle"})
    until(app, lambda app: not app.get("progress"))
    assert sentences(app) == []
    copied = payload(app, "head_grid")[1]["metric"]
    (layer, head), *_ = strongest_heads(copied, copied, 1)
    assert f"L{layer}H{head} (" in html(app)
    assert copied.max() >= 0.5
    right, asked = re.search(r"The model recalls (\d+) of the needle’s (\d+) tokens</b>", html(app)).groups()
    said = re.search(r"→ <bdi>(.*?)</bdi>", html(app)).group(1)
    assert (int(right), int(asked)) == (said.split("<s>")[0].count("<b>"), said.count("<b>") + said.count("<s>"))
    assert f"stone window green apple in the first 250 characters of {hay}, each token" in taken[-1].csv


OWN = {"long_texts.view": "needle", "long_texts.needle": "4", "long_texts.question": "The castle door opens with"}


@pytest.mark.table
def test_a_needle_of_ones_own_is_hidden_and_asked_for():
    app = open_app(page=PAGE, layer="5", head="5", **OWN, **{"long_texts.answer": "three blue keys"})
    until(app, lambda app: not app.get("progress"))
    assert sentences(app) == []
    text = hidden(chapter().half, Trial(Needle("The castle door opens with", " three blue keys"), 0.5, 250))
    assert f"{len(embedded().capture(CaptureRequest(text=text)).tokens)} tokens, needle at 50 %" in html(app)
    app.button(key="needle_open").click().run()
    assert meta_of(app)["tokens"] == len(embedded().capture(CaptureRequest(text=text)).tokens)
    assert (meta_of(app)["layer"], meta_of(app)["head"]) == (5, 5)


@pytest.mark.parametrize(
    "answer, said",
    [
        ("", "Type how the sentence begins and how it continues: the model has to predict the continuation."),
        ("Alice", "“Alice” is in the text already: hide something that is not."),
    ],
)
def test_a_needle_that_is_none_is_one_sentence_and_what_was_typed_stays(answer, said):
    app = open_app(page=PAGE, **OWN, **{"long_texts.answer": answer})
    assert sentences(app) == [said]
    assert [box.value for box in app.text_input if "long_texts" in box.key] == [OWN["long_texts.question"], answer]


def test_far_is_an_eighth_of_any_text_until_another_number_is_chosen():
    app = open_app(page=PAGE, text=MEDIUM, **{"long_texts.far": "4"})
    n_tokens = meta_of(app)["tokens"]
    assert app.number_input(key="long_texts.far").value == 4
    app.number_input(key="long_texts.far").set_value(n_tokens // 8).run()
    app = part(app, "half")
    assert app.number_input(key="long_texts.far").value == meta_of(app)["tokens"] // 8 == 1537 // 8
    app = open_app(page=PAGE, text="a short one", **{"long_texts.far": "400"})
    assert sentences(app) == [f"The text has {meta_of(app)['tokens']} tokens: no two are 400 apart."]


def test_another_text_keeps_the_head_that_is_looked_at():
    app = open_app(page=PAGE, layer="3", head="5")
    for name in ("whole", "own", "half"):
        app = part(app, name)
        assert (meta_of(app)["layer"], meta_of(app)["head"]) == (3, 5)


@pytest.mark.parametrize("model, near", [("default", "last 64 tokens"), ("encoder", "tokens less than 64 away")])
def test_what_is_near_a_token_is_said_as_its_model_looks(monkeypatch, model, near):
    found = offers(monkeypatch)
    open_app(page=PAGE, model=model, **{"long_texts.view": "curves"})
    assert near in found[-1].csv
    app = open_app(page=PAGE, model=model, **{"long_texts.view": "heads", "long_texts.measure": "recent"})
    assert f"share of attention on the {near}".replace("the tokens", "tokens") in html(app)


def test_an_encoder_has_a_map_and_no_needle():
    app = open_app(page=PAGE, model="encoder")
    assert not meta_of(app)["causal"]
    app = open_app(page=PAGE, model="encoder", **{"long_texts.view": "needle"})
    assert sentences(app) == ["No needle: this model sees the tokens that it has to predict."]


@pytest.mark.long  # three models of others, each tried in a process of its own first
def test_models_with_two_stacks_or_without_attention_say_so_in_one_sentence(folder_of):
    assert len(sentences(open_app(page=PAGE, model="translator"))) == 1
    assert len(sentences(open_app(page=PAGE, model=folder_of("fnet"), text="some text"))) == 1


@pytest.mark.parametrize("family", ["gpt2", pytest.param("gptj", marks=pytest.mark.long)])
def test_a_model_whose_rotation_cannot_be_changed_is_offered_the_cut_alone(folder_of, family):
    app = open_app(page=PAGE, model=folder_of(family), text="x" * 600)
    assert button(app, "long_cut")
    assert not button(app, "long_NTK")
    assert not button(app, "long_YaRN")
    assert not any("Stretched" in one.value for one in app.caption)
    app.button(key="long_cut").click().run()
    assert "long_map" in components(app)


# -- in a browser -----------------------------------------------------------------------------------------------------


def ask(url: str, ticket: str) -> int:
    try:
        with urlopen(Request(url, headers={"x-atlas-ticket": ticket})) as answer:
            return answer.status
    except HTTPError as error:
        return error.code


@pytest.mark.browser
def test_the_map_is_painted_from_tiles_moved_searched_and_follows_a_far_look(server, page):
    sent: list[Any] = []
    page.on("request", lambda request: sent.append(request) if "/maps/tile/" in request.url else None)
    visit(page, server, "long_texts", layer="5", head="5", **parts_of(chapter().half))
    root = page.locator(".long-map[data-missing='0']")
    root.wait_for(timeout=PATIENCE)
    ticket, url = sent[0].headers["x-atlas-ticket"], sent[0].url
    assert ticket not in page.url
    assert ticket not in url
    assert [ask(url, one) for one in (ticket, "", "a" * 43, ticket[:-1])] == [200, 403, 403, 403]
    base = url.rsplit("/tile/", 1)[0]
    missing = ("tile/5/5/9/0/0", "tile/5/5/0/1/0", "tile/0/0/0/0/0", "x")
    assert [ask(f"{base}/{place}", ticket) for place in missing] == [404] * 4
    page.locator("[data-look]").first.click()
    page.locator(".long-map[data-zoom='3'][data-missing='0']").wait_for(timeout=PATIENCE)
    page.wait_for_url(lambda url: "window=" in url and "key=" in url, timeout=PATIENCE)
    query, key = map(int, (page.locator(".long-map").get_attribute("data-selected") or "").split(","))
    assert query - key >= 192
    page.locator(".long-map input").fill("white rabbit")
    page.locator(".long-map .count").get_by_text("found: ").wait_for(timeout=PATIENCE)
    before = page.locator(".long-map").get_attribute("data-view")
    page.locator(".long-map input").press("Enter")
    page.wait_for_function(
        "before => document.querySelector('.stApp') && [...document.querySelectorAll('*')].some(one => "
        "one.shadowRoot?.querySelector('.long-map')?.dataset.view !== undefined && "
        "one.shadowRoot.querySelector('.long-map').dataset.view !== before)", arg=before,
    )  # fmt: skip
    geometry = json.loads(page.locator(".long-map").get_attribute("data-geometry") or "{}")
    box = page.locator(".long-map .figure canvas").bounding_box()
    assert box is not None
    at = (box["x"] + geometry["x"] + 200, box["y"] + geometry["y"] + 200)
    view = page.locator(".long-map").get_attribute("data-view") or ""
    page.mouse.move(*at)
    page.mouse.down()
    page.mouse.move(at[0] + 90, at[1] + 60, steps=5)
    page.mouse.up()
    page.wait_for_timeout(100)
    moved = [float(edge) for edge in (page.locator(".long-map").get_attribute("data-view") or "").split(",")]
    q0, _, k0, _ = map(float, view.split(","))
    assert moved[0] < q0
    assert moved[2] < k0
