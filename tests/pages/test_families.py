"""The page Families: each kind's numbers are its own model's, controls are in the address, bad input is a sentence."""

from __future__ import annotations

import functools

import numpy as np
import pytest

from analysis.examples import examples_of
from analysis.families import family_mask
from analysis.joined import joined
from analysis.next_token import next_tokens
from analysis.stories import first_head
from analysis.teacher_forcing import end_of, loss, teacher_forced
from model_runner import CaptureRequest, load_runner
from model_runner.edits import Masked
from model_runner.local.loading.model_folder import EMBEDDED
from tests.pages.visiting import PATIENCE, visit
from tests.ui.driving import (
    beside_head,
    button,
    components,
    html,
    open_app,
    payload,
    payloads,
    send,
    sentences,
)
from ui.state import session
from ui.state.selection import MOST_WRITTEN
from ui.state.url_state import DEFAULT_TEXT
from viz.distribution import percent

pytestmark = pytest.mark.table  # its tests take a second each

PAGE = "pages/families/page.py"
HIDDEN = "The dog chased the [MASK] because it"
FORCED = "那只狗追了那只松鼠。"


def opened(**address: str):
    return open_app(page=PAGE, **{f"families.{name}" if name in OWN else name: one for name, one in address.items()})


OWN = ("part", "view", "family", "head", "query", "key", "window", "word", "length")


@functools.cache
def capture(name, text=DEFAULT_TEXT, length=None, **more):
    edits = () if length is None else (Masked("prefix", (("length", length),)),)
    return load_runner(name).capture(CaptureRequest(text, edits=edits, **more))


WHOLE = {
    "causal": lambda: capture("default"),
    "prefix": lambda: capture("default", length=4),
    "encoder": lambda: capture("encoder", HIDDEN),
    "two": lambda: capture("translator"),
}


def test_every_card_is_the_mask_of_its_own_model_at_the_tokens_of_this_text():
    app = opened()
    meta, arrays = payload(app, "family_masks")
    assert (meta["selected"], [one["name"] for one in meta["kinds"]]) == ("causal", list(WHOLE))
    for one, cells, make in zip(meta["kinds"], arrays["cells"], WHOLE.values(), strict=True):
        expected = family_mask(make())
        n_tokens = len(expected.tokens)
        assert (tuple(one["tokens"]), one["n_read"]) == (expected.tokens, expected.n_read)
        np.testing.assert_array_equal(cells[:n_tokens, :n_tokens], expected.cells)


@pytest.mark.parametrize("kind", ["causal", "prefix", "encoder"])
def test_the_open_kind_shows_its_models_weights_and_what_it_says(kind):
    app = opened(family=kind)
    made = WHOLE[kind]()
    layer, head = (6, 4) if kind == "prefix" else first_head(made)  # a prefix: the head of the causal model
    meta, arrays = payload(app, "head_map")
    assert meta["row_labels"] == [token.text for token in made.tokens]
    np.testing.assert_allclose(np.nan_to_num(arrays["values"]), made.weights(layer, head), atol=1e-3)
    found = next_tokens(made, 5 if kind == "encoder" else -1)
    page = html(app)
    for token, probability in zip(found.ids, found.probabilities, strict=True):
        assert load_runner(made.request.model).token_text(token) in page
        assert percent(probability).replace("<", "&lt;") in page
    assert ("in place of ⟨MASK⟩" in page) == (kind == "encoder")
    assert "atlas-badge ok" in page
    assert "undo" not in page


def test_an_encoder_decoder_shows_where_it_looks_across_and_what_it_is_forced_to_say():
    app = opened(family="two")
    made = capture("translator", attention="cross")
    _meta, arrays = payload(app, "head_map")
    np.testing.assert_allclose(arrays["values"], made.weights(*first_head(joined(made))), atol=1e-3)
    free = capture("translator")
    assert app.text_input(key="family_target").placeholder == f"it writes: {free.text}"
    assert app.text_input(key="family_target").max_chars == MOST_WRITTEN  # more could not be kept
    assert f"mean −ln p: {loss(teacher_forced(free, end_of(free))):.3g} nats" in html(app)
    assert "differs" not in html(app).split("</style>")[-1]
    app.text_input(key="family_target").set_value(FORCED).run()
    forced = capture("translator", target=FORCED)
    rows = teacher_forced(forced, end_of(forced))
    page = html(app)
    assert f"mean −ln p: {loss(rows):.3g} nats" in page
    assert page.count('<tr class="differs">') == sum(one.own != one.wanted for one in rows) == 3
    assert beside_head(app)["target"] == FORCED
    assert payload(app, "family_masks")[0]["kinds"][3]["tokens"][-10:] == [token.text for token in forced.tokens]
    app.button(key="family_free").click().run()
    assert "target" not in beside_head(app)
    app.button(key="family_force").click().run()  # one that it offers, a word another than its own
    other = beside_head(app)["target"]
    assert other != free.text
    assert f"mean −ln p: {loss(teacher_forced(free, end_of(free))):.3g} nats" not in html(app)
    assert "has never seen “it”: what it writes here is not a translation" in html(app)
    app.button(key="family_known").click().run()  # and so it is no nonsense any more
    assert beside_head(app)["text"] == examples_of("translator", "en")[0].text
    assert "has never seen" not in html(app)


@pytest.mark.parametrize("attention", ["encoder", "decoder"])
def test_the_other_attentions_of_two_texts_can_be_chosen(attention):
    app = opened(family="two", head="1.2")
    app.segmented_control(key="family_attention").set_value(attention).run()
    assert beside_head(app)["attention"] == attention
    assert "families.head" not in beside_head(app)  # that of another attention
    made = capture("translator", attention=attention)
    _meta, arrays = payload(app, "head_map")
    np.testing.assert_allclose(np.nan_to_num(arrays["values"]), made.weights(*first_head(made)), atol=1e-3)


def test_a_card_opens_its_kind_and_drops_the_place_of_the_one_before():
    app = opened(family="causal", head="2.3", query="5", key="1", window="2-6-0-4")
    meta, arrays = payload(app, "head_map")
    np.testing.assert_allclose(np.nan_to_num(arrays["values"]), capture("default").weights(2, 3)[2:6, :4], atol=1e-3)
    assert (meta["window"], meta["selected"]) == ([2, 6, 0, 4], [5, 1])
    send(app, "family_masks", "kind", "encoder")
    assert beside_head(app) == {"families.family": "encoder"}
    assert payload(app, "family_masks")[0]["selected"] == "encoder"


def test_the_same_model_under_another_mask_is_looked_at_in_the_same_place():
    app = opened(family="causal", head="2.3", query="5", key="1")
    send(app, "family_masks", "kind", "prefix")
    held = {"families.family": "prefix", "families.head": "2.3", "families.query": "5", "families.key": "1"}
    assert beside_head(app) == held
    send(app, "family_masks", "kind", "causal")
    assert beside_head(app) == held | {"families.family": "causal"}
    np.testing.assert_allclose(
        np.nan_to_num(payload(app, "head_map")[1]["values"]), capture("default").weights(2, 3), atol=1e-3
    )


def test_clicks_in_the_map_stay_in_the_address_of_this_page():
    app = opened(family="encoder")
    send(app, "head_map", "cell", [2, 4])
    assert beside_head(app) == {"families.family": "encoder", "families.query": "2", "families.key": "4"}
    send(app, "head_map", "window", [0, 3, 0, 5])
    assert beside_head(app)["families.window"] == "0-3-0-5"
    assert payload(app, "head_map")[0]["selected"] == [2, 4]
    copied = opened(family="encoder", query="2", key="4", window="0-3-0-5")
    np.testing.assert_array_equal(payload(copied, "head_map")[1]["values"], payload(app, "head_map")[1]["values"])


def test_another_word_is_hidden_and_a_text_that_hides_one_itself_is_read_as_it_is():
    app = opened(family="encoder", word="1")
    assert payload(app, "head_map")[0]["row_labels"][1:4] == ["The", "⟨MASK⟩", "·chased"]
    app = opened(model="encoder", text="Monday, Tuesday, [MASK], Thursday.")
    assert payload(app, "family_masks")[0]["selected"] == "encoder"
    assert not [one for one in app.selectbox if one.key == "families.word"]
    assert "·Wednesday" in html(app)
    send(app, "family_masks", "kind", "causal")
    assert payload(app, "head_map")[0]["row_labels"][-1] == ","
    assert "It reads up to the hidden word" in html(app)


def test_the_length_of_the_prefix_is_the_masks():
    app = opened(family="prefix", length="6")
    _meta, arrays = payload(app, "family_masks")
    np.testing.assert_array_equal(arrays["cells"][1, :8, :8], family_mask(capture("default", length=6)).cells)
    app = opened(family="prefix", length="900")  # as far as the text goes
    assert (payload(app, "family_masks")[1]["cells"][1, :8, :8] > 0).all()


@pytest.mark.long
def test_a_model_of_the_visitors_own_stands_beside_the_embedded_one_of_its_kind(folder_of):
    app = opened(model=folder_of("bert"), text="some text here")
    meta, _ = payload(app, "family_masks")
    assert meta["selected"] == "encoder"
    assert "The open model is of this kind" in meta["kinds"][2]["note"]
    assert "The open model is of this kind" not in meta["kinds"][0]["note"]
    own, embedded = payloads(app, "head_map")
    assert len(own[0]["row_labels"]) != len(embedded[0]["row_labels"])
    send(app, "family_masks", "kind", "causal")
    assert components(app).count("head_map") == 1


@pytest.mark.long  # a folder is tried in a process of its own first
def test_an_encoder_decoder_of_the_visitors_own_has_its_controls_above():
    app = opened(model=str(EMBEDDED["translator"]), text="The wolf loves Mary.")
    assert payload(app, "family_masks")[0]["selected"] == "two"
    assert components(app).count("head_map") == 2
    assert [one.key for one in app.text_input] == ["target"]


@pytest.mark.parametrize("name", ["", "known"])
def test_the_embedded_translator_is_opened_with_its_own_text(name):
    app = opened(model="translator", **({"view": "known"} if name == "known" else {}))
    assert sentences(app) == []
    assert "has never seen" not in html(app)
    if name != "known":
        assert payload(app, "family_masks")[0]["selected"] == "two"
        assert not button(app, "family_target")


def test_what_a_server_does_not_show_is_drawn_by_its_rule_and_said(monkeypatch):
    monkeypatch.setenv("ATLAS_MODELS", "default")
    session.model_cache.clear()
    try:
        app = opened(family="two")
        said = "This server shows no model of this kind: only the rule of its mask is drawn."
        assert [one.replace("\\", "") for one in sentences(app)] == [said]
        meta, arrays = payload(app, "family_masks")
        assert [said in one["note"] for one in meta["kinds"]] == [False, False, True, True]
        assert (arrays["cells"][2, :8, :8] > 0).all()
        assert "head_map" not in components(app)
    finally:
        session.model_cache.clear()


@pytest.mark.parametrize(
    "address, said",
    [
        ({"head": "99.0"}, "There is no layer 99"),
        pytest.param({"head": "3"}, "", marks=pytest.mark.long),
        pytest.param({"query": "99"}, "There is no position 99", marks=pytest.mark.long),
        ({"family": "decoder"}, "“decoder” is not an option for kind of model."),
        ({"family": "encoder", "word": "50"}, "The text has no word with the number 50 to hide; its words are 7."),
        ({"family": "two", "query": "2"}, "Keys come from the first text"),
        pytest.param({"length": "-1"}, "The prefix length is -1; it must be at least 0.", marks=pytest.mark.long),
    ],
)
def test_what_is_not_possible_is_one_sentence_and_the_rest_stays(address, said):
    app = opened(**address)
    assert any(said in one.replace("\\", "") for one in sentences(app)) or not said
    assert len(sentences(app)) == bool(said)
    assert {"family_masks", "head_map"} <= set(components(app))


NO_TEXT = "There is no text to look at. Type a sentence, or pick one of the examples."


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(one, marks=[pytest.mark.long] * (one != "[MASK]"))
        for one in ("x", "…", "👋 🌍", "狗", "[MASK]", "a " * 300)
    ],
)
def test_any_text_is_read_by_every_kind(text):
    for kind in WHOLE:
        app = opened(text=text, family=kind)
        nothing_left = text == "[MASK]" and kind != "encoder"
        assert sentences(app) == [NO_TEXT] * nothing_left
        assert "family_masks" in components(app)
        assert ("head_map" in components(app)) is not nothing_left


@pytest.mark.long
def test_a_text_too_long_for_one_kind_is_said_where_it_is_and_the_others_stay():
    app = opened(text="dog cat " * 400, family="encoder")
    (said,) = sentences(app)
    assert "512" in said
    assert said.startswith("Embedded encoder: ")
    send(app, "family_masks", "kind", "causal")
    assert sentences(app) == []
    assert "head_map" in components(app)


@pytest.mark.browser
@pytest.mark.long
def test_a_card_opens_a_kind_and_back_returns(server, page):
    visit(page, server, "families")
    page.locator(".family-masks[data-painted]").wait_for(timeout=PATIENCE)
    page.locator("[data-kind=two]").click()
    page.get_by_text("Teacher forcing").first.wait_for(timeout=PATIENCE)
    assert "families.family=two" in page.url
    page.locator(".st-key-family_force button").click()
    page.locator(".atlas-forced .differs").first.wait_for(timeout=PATIENCE)
    page.go_back()
    page.locator(".st-key-family_force button").wait_for(timeout=PATIENCE)
