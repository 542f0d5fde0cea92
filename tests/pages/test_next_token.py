"""The page Next token without a browser: the model's logits, settings by the address, one sentence for the rest."""

from __future__ import annotations

import functools
import io
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from streamlit.testing.v1 import AppTest
from transformers import AutoModel

from model_runner import Capture, CaptureRequest, Sampling, load_runner
from model_runner.edits import ScaledHead
from model_runner.sampling import draw, stages, uniforms
from tests.model_runner.families import FAMILIES
from tests.model_runner.tiny import byte_tokenizer, tiny
from tests.ui.driving import _proto, components, html, no_failure, open_app, payload, send, sentences, type_text
from ui import next_token_export as export
from ui import next_token_views
from ui.next_token_views import Bench, tables_of
from ui.session import DEFAULT_TEXT
from viz.components.sampling_bench.sampling_bench import TEXTS

PAGE = "pages/next_token.py"
LAST = 7  # of the default text's eight tokens
BROKEN = "The model's logits are not numbers (NaN or infinite), so no token can be chosen from them."


@functools.cache
def capture() -> Capture:
    return load_runner("default").capture(CaptureRequest(text=DEFAULT_TEXT))


def shown(app: AppTest) -> dict[str, Any]:
    return payload(app, "sampling_bench")[0]


def told(app: AppTest, **changes: Any) -> dict[str, Any]:
    """What the picture would say after these changes of its settings A."""
    start = shown(app)["start"]
    return {**start, "a": {**start["a"], **changes}}


def bench(query: int = 2, **changes: Any) -> Bench:
    """The bench as the page makes it."""
    runner = load_runner("default")
    opened: Any = type("Opened", (), {"capture": capture(), "runner": runner, "layer": 0, "head": 0})()
    given: dict[str, Any] = {
        "opened": opened,
        "query": query,
        "previous": tuple(token.id for token in capture().tokens[: query + 1]),
        "labels": [runner.token_text(token) for token in range(runner.info.n_vocab)],
        "a": Sampling(),
        "b": Sampling(),
        "compare": False,
        "draws": 0,
        "find": None,
    }
    return Bench(**{**given, **changes})


# -- the picture ------------------------------------------------------------------------------------------------------


def test_the_picture_has_the_models_logits_over_the_whole_vocabulary():
    app = open_app(page=PAGE)
    no_failure(app)
    assert sentences(app) == []
    meta, arrays = payload(app, "sampling_bench")
    np.testing.assert_array_equal(arrays["logits"], capture().logits(-1).numpy())
    assert arrays["previous"].tolist() == [token.id for token in capture().tokens]
    assert len(meta["labels"]) == load_runner("default").info.n_vocab
    assert meta["labels"][300] == load_runner("default").token_text(300)
    assert (meta["position"], meta["actual"], meta["after"]) == (LAST + 1, None, "squirrel because it")
    assert app.query_params == {}


def test_an_earlier_token_shows_what_was_expected_after_it_and_what_came():
    app = send(open_app(page=PAGE), "token_strip", "token", 2)
    no_failure(app)
    meta, arrays = payload(app, "sampling_bench")
    np.testing.assert_array_equal(arrays["logits"], capture().logits(2).numpy())
    assert arrays["previous"].tolist() == [token.id for token in capture().tokens[:3]]
    assert (meta["position"], meta["actual"]) == (3, capture().tokens[3].id)


def test_no_pinned_query_means_the_last_token():
    assert shown(open_app(page=PAGE, query="none"))["position"] == LAST + 1


# -- settings and the address -----------------------------------------------------------------------------------------

ORDER = "temperature-top_p-top_k-min_p-typical_p-repetition_penalty"
ADDRESS = {
    "temperature": "0.7", "top_k": "50", "top_p": "0.9", "min_p": "0.05", "typical_p": "0.8", "seed": "12",
    "repetition_penalty": "1.2", "transforms": ORDER, "compare": "1", "top_k_b": "3", "draws": "100", "find": "300",
}  # fmt: skip


def test_every_setting_of_an_address_is_shown_and_stays_in_it():
    app = open_app(page=PAGE, **ADDRESS)
    no_failure(app)
    assert sentences(app) == []
    start = shown(app)["start"]
    assert start["a"] == {
        "temperature": 0.7, "top_k": 50, "top_p": 0.9, "min_p": 0.05, "typical_p": 0.8, "seed": "12",
        "repetition_penalty": 1.2, "order": ORDER.split("-"),
    }  # fmt: skip
    assert (start["b"]["top_k"], start["compare"], start["draws"], start["find"]) == (3, True, 100, 300)
    assert app.query_params == ADDRESS


def test_what_was_set_in_the_picture_is_in_the_address_and_the_picture_is_not_sent_again():
    app = open_app(page=PAGE)
    before = _proto(app, "sampling_bench").bytes
    value = told(app, temperature=0.55, top_p=0.95, seed="-3") | {"draws": 10, "find": 300}
    send(app, "sampling_bench", "settings", value)
    no_failure(app)
    assert app.query_params == {"temperature": "0.55", "top_p": "0.95", "seed": "-3", "draws": "10", "find": "300"}
    assert _proto(app, "sampling_bench").bytes == before
    send(app, "sampling_bench", "settings", told(app))  # back to the defaults it began with
    assert app.query_params == {}


def test_whoever_comes_back_to_the_page_finds_what_was_set():
    app = open_app(page=PAGE)
    send(app, "sampling_bench", "settings", told(app, temperature=0.55))
    app.switch_page("pages/heads.py").run()
    app.switch_page(PAGE).run()
    assert shown(app)["start"]["a"]["temperature"] == 0.55


def test_the_generation_film_draws_by_the_same_settings():
    app = open_app(page=PAGE)
    send(app, "sampling_bench", "settings", told(app, temperature=0.0))
    app.switch_page("pages/film.py").run()
    no_failure(app)
    assert payload(app, "film")[0]["frames"][1]["how"] == "greedy"
    app.slider(key="film_temperature").set_value(0.5).run()
    app.switch_page(PAGE).run()
    assert shown(app)["start"]["a"]["temperature"] == 0.5


def test_the_first_draw_is_the_films_next_token():
    app = open_app(page="pages/film.py", seed="5", temperature="1.5")
    token = payload(app, "film")[0]["frames"][1]["token"]
    last = stages(capture().logits(-1), Sampling(temperature=1.5), [token.id for token in capture().tokens])[-1]
    assert draw(last.probabilities, uniforms(5, LAST + 1, 1)[0]) == token


@pytest.mark.parametrize(
    "given, said",
    [
        ({"temperature": "-1"}, "The temperature is -1"),
        ({"temperature": "nan"}, "The temperature is nan"),
        ({"temperature": "1e999"}, "The temperature is inf"),
        ({"temperature": "warm"}, "“warm” is not a number for temperature."),
        ({"top_p": "0"}, "Top-p is 0"),
        ({"top_p_b": "1.5"}, "Top-p is 1.5"),
        ({"top_k": "2.5"}, "“2.5” is not a number for top_k."),
        ({"min_p": "1"}, "Min-p is 1"),
        ({"transforms": "top_k-top_k"}, "The order of the transforms is top_k, top_k"),
        ({"draws": "-1"}, "draws is “-1”; it must be from 0 to 10000."),
        ({"draws": "99999"}, "draws is “99999”; it must be from 0 to 10000."),
        ({"find": "4096"}, "find is “4096”; it must be from 0 to 4095."),
    ],
    ids=str,
)
def test_an_impossible_part_of_the_address_is_told_and_its_default_taken(given, said):
    app = open_app(page=PAGE, **given)
    no_failure(app)
    (sentence,) = sentences(app)
    assert said in sentence
    assert app.query_params == {}
    start = shown(app)["start"]
    assert (start["a"]["temperature"], start["a"]["top_p"], start["b"]["top_p"]) == (1.0, 1.0, 1.0)
    assert (start["draws"], start["find"]) == (0, None)


def test_a_top_k_beyond_the_vocabulary_is_possible():
    app = open_app(page=PAGE, top_k="9000")
    assert sentences(app) == []
    assert shown(app)["start"]["a"]["top_k"] == 9000


# -- models that predict nothing, or nonsense -------------------------------------------------------------------------


@pytest.fixture(scope="module")
def folder_of(tmp_path_factory: pytest.TempPathFactory):
    @functools.cache
    def save(name: str) -> str:
        folder = tmp_path_factory.mktemp(name)
        build = tiny("bert", AutoModel) if name == "base" else next(one for one in FAMILIES if one.name == name).build
        build().save_pretrained(folder)
        byte_tokenizer().save_pretrained(folder)
        return str(folder)

    return save


def test_a_model_that_looks_both_ways_has_no_next_token(folder_of):
    app = open_app(page=PAGE, model=folder_of("bert"))
    no_failure(app)
    (said,) = sentences(app)
    assert "cannot continue a text: its tokens also look at those after them, so none is the next one." in said
    assert "sampling_bench" not in components(app)


def test_a_model_without_an_output_layer_says_so(folder_of):
    app = open_app(page=PAGE, model=folder_of("base"))
    no_failure(app)
    assert len(sentences(app)) == 1
    assert "sampling_bench" not in components(app)


@pytest.mark.parametrize("value", [torch.nan, torch.inf, -torch.inf])
def test_logits_that_are_no_numbers_are_said_and_nothing_is_drawn(monkeypatch, value):
    monkeypatch.setattr(Capture, "logits", lambda *_: torch.full((4096,), value))
    app = open_app(page=PAGE)
    no_failure(app)
    (said,) = sentences(app)
    assert said.startswith(BROKEN)
    assert "sampling_bench" not in components(app)
    assert "atlas-badge ok" in html(app)


def test_a_text_without_tokens_is_one_sentence():
    app = type_text(open_app(page=PAGE), " ")
    no_failure(app)
    assert "sampling_bench" not in components(app)
    assert len(sentences(app)) == 1


# -- tables and files -------------------------------------------------------------------------------------------------


def test_the_tables_hold_every_stage(monkeypatch):
    monkeypatch.setattr(next_token_views, "_", str)
    given = bench(a=Sampling(temperature=0.7, top_k=5), b=Sampling(top_p=0.5), compare=True, find=4000)
    tables = list(tables_of(given).values())
    done = stages(capture().logits(2), given.a, given.previous)
    assert tables[0]["tokens kept"].tolist() == [stage.kept for stage in done]
    assert tables[0]["entropy, bits"].tolist() == pytest.approx([stage.entropy for stage in done])
    assert len(tables[1]) == 21  # twenty and the one that is marked
    assert tables[1].iloc[0].tolist() == pytest.approx([float(stage.probabilities.max()) for stage in done])
    assert tables[1].index[-1] == f"4000 {given.labels[4000]}"
    other = stages(capture().logits(2), given.b, given.previous)
    assert tables[2]["kept mass"].tolist() == pytest.approx([stage.kept_mass for stage in other])


@pytest.mark.parametrize("compare", [False, True])
def test_the_snippet_gives_the_numbers_of_the_picture(compare):
    given = bench(a=Sampling(temperature=0.7, top_p=0.9, seed=3), b=Sampling(top_k=4), compare=compare, draws=20)
    names: dict[str, Any] = {}
    exec(compile(export.snippet(given), "snippet", "exec"), names)
    end = "_a" if compare else ""
    want = given.stages(given.a)[-1].probabilities
    torch.testing.assert_close(names[f"probabilities{end}"], want)
    assert names[f"drawn{end}"] == export.drawn_tokens(given, given.a)
    if compare:
        torch.testing.assert_close(names["probabilities_b"], given.stages(given.b)[-1].probabilities)


def test_the_files_hold_every_token_at_every_stage():
    given = bench(a=Sampling(temperature=0.7, top_k=5), draws=6)
    arrays = np.load(io.BytesIO(export.npz(given)))
    done = given.stages(given.a)
    assert arrays["A_stages"].tolist() == [stage.name for stage in done]
    np.testing.assert_array_equal(arrays["A_probabilities"][-1], done[-1].probabilities.numpy())
    assert arrays["A_drawn"].tolist() == export.drawn_tokens(given, given.a)
    np.testing.assert_array_equal(arrays["logits"], capture().logits(2).numpy())
    lines = export.csv(given).decode("utf-8-sig").splitlines()
    rows = [line for line in lines if not line.startswith("#")]
    assert len(rows) == 1 + len(given.labels)
    best = int(done[-1].probabilities.argmax())
    assert float(rows[1 + best].rsplit(",", 1)[1]) == pytest.approx(float(done[-1].probabilities[best]))


def test_the_files_of_a_changed_model_say_so():
    given = bench(a=Sampling())
    edits = (ScaledHead(7, 1, 0.0),)
    changed = load_runner("default").capture(replace(given.opened.capture.request, edits=edits))
    opened: Any = given.opened
    opened.capture = changed
    files = export.csv(given).decode("utf-8-sig"), export.svg(given, TEXTS), export.snippet(given)
    assert all("ScaledHead(layer=7, head=1, factor=0.0)" in text for text in files)


def test_the_picture_as_a_file_draws_the_likeliest_tokens():
    given = bench(a=Sampling(top_k=2), draws=10)
    svg = export.svg(given, TEXTS)
    assert svg.count("<circle") == 2
    assert given.labels[given.likeliest(1)[0]] in svg
