"""The embedded translator in the app: three attentions of two texts, and its biases on Positions."""

from __future__ import annotations

import functools
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from analysis.examples import OF_MODEL, examples_of
from analysis.joined import joined
from analysis.opening import opening_query
from analysis.stories import seen_in
from attention.position_biases import t5_bias
from model_runner import CaptureRequest, GenerateRequest, Sampling, load_runner
from model_runner.local.loading.model_folder import EMBEDDED
from model_runner.trained_positions import T5_BIAS
from pages.next_token.export import drawn_tokens
from pages.next_token.views import Bench
from tests.ui.driving import beside_head, html, open_app, payload, send, sentences
from ui.state.selection import MOST_WRITTEN

TEXT = OF_MODEL["translator"][0].text
ADDRESS = {"model": "translator", "text": TEXT}
SHOWN = ("heads", "cell", "next_token", "film", "positions", "edit_heads", "kv_cache")

pytestmark = pytest.mark.table  # every page


@functools.cache
def capture(attention):
    return load_runner("translator").capture(CaptureRequest(TEXT, attention=attention))


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_its_examples_come_with_it_in_the_readers_language_first(lang):
    app = open_app(lang=lang)
    app.selectbox(key="model_box").set_value("translator").run()
    first = examples_of("translator", lang)[0]
    assert first.text.isascii() is (lang == "en")
    assert beside_head(app) == {"lang": lang, "model": "translator", "text": first.text}
    assert "atlas-badge ok" in html(app)
    app.selectbox(key="model_box").set_value("default").run()
    assert not [one for one in app.segmented_control if one.key == "attention"]


def test_a_text_that_it_had_to_stop_writing_says_so(monkeypatch):
    words = "The model was stopped after {count} tokens; it had not finished."
    assert words.format(count=128) not in html(open_app(**ADDRESS))
    monkeypatch.setattr("ui.shared.two_texts.FREE_RUN", 2)
    assert words.format(count=2) in html(open_app(**ADDRESS))


def test_it_opens_where_the_word_that_is_written_next_is_looked_at():
    app = open_app(**ADDRESS)
    seen = seen_in(joined(capture("cross")))
    meta, arrays = payload(app, "head_map")
    cross = capture("cross")
    assert (meta["window"], meta["total"]) == (
        [0, len(cross.tokens), 0, len(cross.keys)],
        [len(cross.tokens), len(cross.keys)],
    )
    assert meta["row_labels"] == [token.text for token in cross.tokens]
    assert meta["col_labels"] == [token.text for token in cross.keys]
    assert meta["selected"][0] == seen.query - len(cross.keys)
    np.testing.assert_allclose(arrays["values"], cross.weights(seen.layer, seen.head), atol=1e-3)
    assert "its translation is written next" in html(app)
    strip, _ = payload(app, "token_strip")
    assert strip["labels"] == [token.text for token in (*cross.keys, *cross.tokens)]


@pytest.mark.parametrize("attention", ["encoder", "decoder"])
def test_the_other_attentions_are_those_of_the_same_forward_and_the_address_holds_which(attention):
    app = open_app(**ADDRESS)
    app.segmented_control(key="attention").set_value(attention).run()
    assert beside_head(app)["attention"] == attention
    meta, arrays = payload(app, "head_map")
    own = capture(attention)
    assert meta["row_labels"] == meta["col_labels"] == [token.text for token in own.tokens]
    copied = open_app(**beside_head(app) | {"layer": "1", "head": "2"})
    _, arrays = payload(copied, "head_map")
    expected = own.weights(1, 2).numpy()
    np.testing.assert_allclose(np.nan_to_num(arrays["values"]), expected, atol=1e-3)
    assert ("all other tokens" in html(app)) == (attention == "decoder")  # an encoder predicts nothing


def test_what_is_typed_is_what_the_decoder_has_written_and_stays_in_the_address():
    typed = "那只猫。"
    app = open_app(**ADDRESS)
    assert app.text_input(key="target").max_chars == MOST_WRITTEN  # more could not be kept
    app.text_input(key="target").set_value(typed).run()
    forced = load_runner("translator").capture(CaptureRequest(TEXT, target=typed, attention="cross"))
    meta, _ = payload(app, "head_map")
    assert meta["row_labels"] == [token.text for token in forced.tokens] == ["⟨pad⟩", "那", "只", "猫", "。"]
    assert beside_head(app)["target"] == typed
    copied = open_app(**beside_head(app) | {"layer": "3", "head": "1"})
    np.testing.assert_allclose(payload(copied, "head_map")[1]["values"], forced.weights(3, 1), atol=1e-3)
    app.text_area(key="text_box").set_value("The wolf loves Mary.").run()
    assert "target" not in beside_head(app)  # it was another text's
    assert app.text_input(key="target").value == ""
    assert payload(app, "head_map")[0]["row_labels"][-1] == "。"
    film = open_app(page="pages/film/page.py", **ADDRESS, target="那只", temperature="0")
    assert payload(film, "film")[0]["frames"][1]["label"] == "狗"


def test_a_click_on_what_was_read_is_the_key_and_on_what_is_written_the_query():
    app = open_app(**ADDRESS)
    n_read = len(capture("cross").keys)
    send(app, "token_strip", "token", n_read + 2)
    assert beside_head(app)["query"] == str(n_read + 2)
    send(app, "token_strip", "token", 3)
    assert (beside_head(app)["query"], beside_head(app)["key"]) == (str(n_read + 2), "3")
    send(app, "head_map", "cell", [4, 1])
    assert (beside_head(app)["query"], beside_head(app)["key"]) == (str(n_read + 4), "1")
    send(app, "head_map", "window", [1, 7, 2, 8])
    assert beside_head(app)["window"] == f"{n_read + 1}-{n_read + 7}-2-8"
    assert payload(app, "head_map")[0]["window"] == [1, 7, 2, 8]


@pytest.mark.parametrize("page", SHOWN)
@pytest.mark.parametrize(
    "attention", [*(pytest.param(one, marks=pytest.mark.long) for one in ("encoder", "decoder")), "cross"]
)
def test_the_pages_that_know_two_texts_show_them_with_a_place_that_does_not_exist_too(page, attention):
    for place in ({}, {"query": "-2", "key": "99", "layer": "9", "head": "9"}):
        app = open_app(page=f"pages/{page}/page.py", **ADDRESS, attention=attention, **place)
        says_nothing = page in ("next_token", "film") and attention == "encoder"
        assert "atlas-badge ok" in html(app) or says_nothing
        if says_nothing:
            assert any(one.startswith("An encoder only reads: it predicts no token.") for one in sentences(app))


@pytest.mark.parametrize("attention", ["decoder", "cross"])
def test_the_film_writes_the_translation_token_by_token_and_shows_where_each_looks(attention):
    app = open_app(
        page="pages/film/page.py", **ADDRESS, attention=attention, layer="3", head="1", **{"film.temperature": "0"}
    )
    for ask in range(1, 20):
        meta, _ = payload(app, "film")
        if meta["stop"]:
            break
        send(app, "film", "more", {"film": meta["film"], "have": 0, "wanted": 4, "ask": ask})
    meta, arrays = payload(app, "film")
    own = capture(attention)
    wanted = [token.text for token in own.tokens]
    assert [frame["label"] for frame in meta["frames"]] == [*wanted, "⟨/s⟩"]
    assert meta["stop"] == "end"
    rows = np.split(arrays["rows"], np.cumsum(meta["widths"])[:-1])
    n_read = len(own.keys) if attention == "cross" else 0
    for at in (0, 5):
        expected = own.weights(3, 1)[at].numpy()[: n_read or at + 1]
        np.testing.assert_allclose(rows[at][: len(expected)], expected, atol=1e-3)
        assert not n_read or np.isnan(rows[at][n_read:]).all()
    keys = [own.k(3)[1], capture("decoder").k(3)[1]] if attention == "cross" else [own.k(3)[1]]
    expected = np.concatenate([key.numpy() for key in keys])
    np.testing.assert_allclose(arrays["k"][: len(expected)], expected[: len(arrays["k"])], atol=1e-4)


def test_only_what_is_written_counts_for_the_repetition_penalty():
    app = open_app(page="pages/next_token/page.py", **ADDRESS)
    _, arrays = payload(app, "sampling_bench")
    cross = capture("cross")
    at = opening_query(joined(cross)) - len(cross.keys)
    assert arrays["previous"].tolist() == [token.id for token in cross.tokens[: at + 1]]


@pytest.mark.parametrize("at", [1, 3, 5])
def test_a_draw_of_next_token_is_the_films_next_token(at):
    sampling = Sampling(temperature=20.0, seed=5)  # near to even: another random number is another token
    runner = load_runner("translator")
    ids = tuple(step.token.id for step in runner.generate(GenerateRequest(TEXT, max_new_tokens=6, sampling=sampling)))
    read = runner.capture(CaptureRequest(TEXT, target="", continuation=ids[:at], attention="cross"))
    opened: Any = SimpleNamespace(capture=joined(read), runner=runner)
    previous = tuple(token.id for token in read.tokens)
    query = len(opened.capture.tokens) - 1
    bench = Bench(opened, query, previous, labels=[], a=sampling, b=sampling, compare=False, draws=1, find=None)
    assert drawn_tokens(bench, sampling) == [ids[at]]


@pytest.mark.parametrize("place", [{"query": "3"}, {"key": "14"}])
def test_a_token_that_does_not_look_is_no_query_and_one_that_is_not_looked_at_no_key(place):
    for page in ("heads", "cell", "positions"):
        app = open_app(page=f"pages/{page}/page.py", **ADDRESS, **place)
        (said,) = sentences(app) if page != "positions" else sentences(app)[:1]
        assert said.startswith("Keys come from the first text and queries from the second: token ")
        assert "key" not in beside_head(app)
        assert beside_head(app).get("query") != "3"


def test_a_cell_across_has_the_keys_that_are_read_and_its_controls_reach_no_others():
    app = open_app(page="pages/cell/page.py", **ADDRESS)
    cross = capture("cross")
    n_read, n_all = len(cross.keys), len(cross.keys) + len(cross.tokens)
    query, key = (app.number_input(key=f"place_{name}") for name in ("query", "key"))
    assert ((query.min, query.max), (key.min, key.max)) == ((n_read, n_all - 1), (0, n_read - 1))
    meta, arrays = payload(app, "cell_steps")
    assert (meta["total"], meta["n_visible"], len(arrays["positions"])) == (n_read, n_read, n_read)
    assert meta["rest"] < 1e-12
    send(app, "token_strip", "token", 3)  # whatever a click sets: what is read is a key
    assert (beside_head(app)["key"], payload(app, "cell_steps")[0]["key"]) == ("3", 3)
    send(app, "token_strip", "token", n_read + 2)
    assert payload(app, "cell_steps")[0]["query"][1] == n_read + 2


def test_its_address_without_a_text_opens_on_its_own_first_example():
    assert open_app(model="translator").text_area(key="text_box").value == TEXT
    app = open_app(model="translator", text="The dog chased the squirrel because it")
    assert beside_head(app)["text"] == "The dog chased the squirrel because it"  # no copy of it shows another


def test_a_text_of_no_sense_to_it_is_translated_all_the_same():
    for text in ("Hello 👋 世界", "x", "a " * 300):
        app = open_app(model="translator", text=text)
        assert "atlas-badge ok" in html(app)


def test_the_model_box_lists_it_with_what_it_is_good_for():
    box = open_app().selectbox(key="model_box")
    assert box.options[:3] == ["Embedded small Llama", "Embedded encoder", "Embedded translator"]
    assert "- **Embedded translator** · short sentences between English and Chinese" in box.help


@pytest.mark.parametrize("attention", ["encoder", "decoder"])
def test_positions_shows_its_own_biases(attention):
    app = open_app(page="pages/positions/page.py", **ADDRESS, attention=attention)
    meta, arrays = payload(app, "position_schemes")
    at = next(i for i, scheme in enumerate(meta["schemes"]) if scheme["name"] == "t5")
    name = T5_BIAS.replace("decoder", attention)
    table = load_file(EMBEDDED["translator"] / "model.safetensors")[name].float()
    count = len(capture(attention).tokens)
    expected = t5_bias(torch.arange(count), table, bidirectional=attention == "encoder")
    np.testing.assert_allclose(arrays[f"curves{at}"], expected, atol=1e-3)
    assert meta["schemes"][at]["note"].startswith(f"This layer’s own biases, a line a head, over the {count} tokens")


def test_the_biases_of_t5_are_its_decoders_and_the_page_says_so():
    meta, arrays = payload(open_app(page="pages/positions/page.py", positions="others"), "position_schemes")
    at = next(i for i, scheme in enumerate(meta["schemes"]) if scheme["name"] == "t5")
    table = load_file(EMBEDDED["translator"] / "model.safetensors")[T5_BIAS].float().numpy()
    np.testing.assert_array_equal(arrays[f"curves{at}"][:, :16], table[:16].T)
    assert arrays[f"curves{at}"].shape == (4, 32)
    assert meta["schemes"][at]["note"] == (
        "Not this layer’s: the 32 buckets of the embedded translator’s decoder, learned on short sentences and "
        "drawn to distance 31; the matrix is head 0."
    )


def test_a_text_that_it_cannot_read_is_said_on_its_own_page_with_one_that_it_can():
    app = open_app(model="translator", text="猫看见了狗，它。", target="The dog.", lang="zh")
    assert "它" in html(app).split("text_unread")[-1]
    app.button(key="text_known").click().run()
    assert beside_head(app)["text"] == examples_of("translator", "zh")[0].text
    assert not [one for one in app.button if one.key == "text_known"]
