"""The page Next token without a browser: the model's logits, settings by the address, one sentence for the rest."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from streamlit.testing.v1 import AppTest

from analysis.examples import OPEN, first_text
from model_runner import Capture, Sampling
from model_runner.python_lines import python_start
from model_runner.sampling import draw, stages, uniforms
from pages.next_token.export import arrays as arrays_of
from pages.next_token.export import drawn_tokens, next_token_view
from pages.next_token.export import rows as rows_of
from pages.next_token.export import svg as svg_of
from pages.next_token.views import Bench
from tests.pages.expected import capture, runner
from tests.ui import driving
from tests.ui.driving import beside_head, button, components, go, html, open_app, payload, send, sentences
from tests.ui.taken import ran
from ui.state import session
from ui.state.url_state import DEFAULT_TEXT
from ui.wording import i18n
from viz.share_text import share_digits

PAGE = "pages/next_token/page.py"
LAST = 7  # of the default text's eight tokens
BROKEN = "The model's logits are not numbers (NaN or infinite), so no token can be chosen from them."


def shown(app: AppTest) -> dict[str, Any]:
    return payload(app, "sampling_bench")[0]


def told(app: AppTest, **changes: Any) -> dict[str, Any]:
    """What the picture would say after these changes of its settings A."""
    start = shown(app)["start"]
    return {**start, "a": {**start["a"], **changes}}


def bench(query: int = 2, of: Capture | None = None, **changes: Any) -> Bench:
    """The bench as the page makes it."""
    of = of or capture()
    opened: Any = type("PageContext", (), {"capture": of, "runner": runner(), "layer": 0, "head": 0})()
    given: dict[str, Any] = {
        "opened": opened,
        "query": query,
        "previous": tuple(token.id for token in of.tokens[: query + 1]),
        "labels": [runner().token_text(token) for token in range(runner().info.n_vocab)],
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
    assert sentences(app) == []
    meta, arrays = payload(app, "sampling_bench")
    np.testing.assert_array_equal(arrays["logits"], capture().logits(-1).numpy())
    assert arrays["previous"].tolist() == [token.id for token in capture().tokens]
    assert len(meta["labels"]) == runner().info.n_vocab
    assert meta["labels"][300] == runner().token_text(300)
    assert (meta["position"], meta["actual"], meta["after"]) == (LAST + 1, None, "squirrel because it")
    assert driving.beside_head(app) == {}


def test_an_earlier_token_shows_what_was_expected_after_it_and_what_came():
    app = send(open_app(page=PAGE), "token_strip", "token", 2)
    meta, arrays = payload(app, "sampling_bench")
    np.testing.assert_array_equal(arrays["logits"], capture().logits(2).numpy())
    assert arrays["previous"].tolist() == [token.id for token in capture().tokens[:3]]
    assert (meta["position"], meta["actual"]) == (3, capture().tokens[3].id)
    assert shown(open_app(page=PAGE, query="none"))["position"] == LAST + 1  # none pinned: the last


# -- settings and the address -----------------------------------------------------------------------------------------

ORDER = "temperature-top_p-top_k-min_p-typical_p-repetition_penalty"
OLD_ADDRESS = {
    "temperature": "0.7", "top_k": "50", "top_p": "0.9", "min_p": "0.05", "typical_p": "0.8", "seed": "12",
    "repetition_penalty": "1.2", "transforms": ORDER, "compare": "1", "top_k_b": "9000", "draws": "100", "find": "300",
}  # fmt: skip
ADDRESS = {
    "sampling.temperature": "0.7", "sampling.top_k": "50", "sampling.top_p": "0.9", "sampling.min_p": "0.05",
    "sampling.typical_p": "0.8", "sampling.seed": "12", "sampling.repetition_penalty": "1.2",
    "sampling.order": ORDER.replace("-", "."), "next_token.compare": "1", "sampling_b.top_k": "9000",
    "next_token.draws": "100", "next_token.find": "300",
}  # fmt: skip


@pytest.mark.parametrize("given", [ADDRESS, OLD_ADDRESS], ids=["now", "old"])
def test_every_setting_of_an_address_is_shown_and_stays_in_it(given):
    app = open_app(page=PAGE, **given)
    assert sentences(app) == []
    start = shown(app)["start"]
    settings = {
        "temperature": 0.7, "top_k": 50, "top_p": 0.9, "min_p": 0.05, "typical_p": 0.8, "seed": "12",
        "repetition_penalty": 1.2,
    }  # fmt: skip
    assert start["a"].items() >= settings.items()
    assert [name for name in start["a"]["order"] if name in ORDER.split("-")] == ORDER.split("-")
    assert start["b"]["top_k"] == 9000  # more than the vocabulary has
    assert (start["compare"], start["draws"], start["find"]) == (True, 100, 300)
    assert driving.beside_head(app) == ADDRESS


def test_what_was_set_in_the_picture_is_in_the_address_and_the_picture_is_not_sent_again():
    app = open_app(page=PAGE)
    before = driving._proto(app, "sampling_bench").bytes
    value = told(app, temperature=0.55, top_p=0.95, seed="-3") | {"draws": 10, "find": 300}
    send(app, "sampling_bench", "settings", value)
    assert driving.beside_head(app) == {
        "sampling.temperature": "0.55", "sampling.top_p": "0.95", "sampling.seed": "-3",
        "next_token.draws": "10", "next_token.find": "300",
    }  # fmt: skip
    assert driving._proto(app, "sampling_bench").bytes == before
    send(app, "sampling_bench", "settings", told(app))  # back to the defaults it began with
    assert driving.beside_head(app) == {}


def by_address(app: AppTest, monkeypatch: pytest.MonkeyPatch, **given: str) -> AppTest:
    """The run that Back asks for, or a lesson's next step: the same text at another address."""
    app.query_params = given
    with monkeypatch.context() as patch:
        patch.setattr(session, "is_history_navigation", lambda: True)
        return app.run()


def test_settings_that_another_address_brings_are_shown(monkeypatch):
    app = open_app(page=PAGE)
    send(app, "sampling_bench", "settings", told(app, temperature=0.5))
    by_address(app, monkeypatch, **{"sampling.temperature": "2", "sampling.seed": "7", "next_token.draws": "100"})
    start = shown(app)["start"]
    assert (start["a"]["temperature"], start["a"]["seed"], start["draws"]) == (2, "7", 100)
    back = shown(by_address(app, monkeypatch))["start"]
    assert (back["a"]["temperature"], back["a"]["seed"], back["draws"]) == (1, "0", 0)
    assert back["number"] != start["number"]  # or the picture takes them for an answer to what was set in it before


def test_what_is_set_while_other_settings_are_on_their_way_is_sent_back(monkeypatch):
    app = open_app(page=PAGE)
    late = told(app, temperature=0.5)
    by_address(app, monkeypatch, **{"sampling.temperature": "2"})
    send(app, "sampling_bench", "settings", late)
    assert driving.beside_head(app) == {"sampling.temperature": "0.5"}
    assert shown(app)["start"]["a"]["temperature"] == 0.5


def test_whoever_comes_back_to_the_page_finds_what_was_set_and_the_film_draws_by_it():
    app = open_app(page=PAGE)
    send(app, "sampling_bench", "settings", told(app, temperature=0.0))
    go(app, "pages/heads/page.py")
    go(app, PAGE)
    assert shown(app)["start"]["a"]["temperature"] == 0
    go(app, "pages/film/page.py")
    assert payload(app, "film")[0]["frames"][1]["how"] == "greedy"
    app.slider(key="sampling.temperature").set_value(0.5).run()
    go(app, PAGE)
    assert shown(app)["start"]["a"]["temperature"] == 0.5


def test_what_is_wrong_with_both_settings_is_said_of_both():
    said = " ".join(sentences(open_app(page=PAGE, **{"sampling.top_p": "0", "sampling_b.min_p": "7", "draws": "x"})))
    assert all(words in said for words in ("Top-p is 0", "Min-p is 7", "“x” is not a number for number of draws"))


def test_the_first_draw_is_the_films_next_token():
    app = open_app(page="pages/film/page.py", seed="5", temperature="1.5")
    token = payload(app, "film")[0]["frames"][1]["token"]
    last = stages(capture().logits(-1), Sampling(temperature=1.5), [token.id for token in capture().tokens])[-1]
    assert draw(last.probabilities, uniforms(5, LAST + 1, 1)[0]) == token


@pytest.mark.parametrize(
    "given, said",
    [
        ({"temperature": "-1"}, "The temperature is -1"),
        ({"temperature": "nan"}, "“nan” is not a number for temperature."),
        ({"temperature": "warm"}, "“warm” is not a number for temperature."),
        ({"sampling.top_p": "0"}, "Top-p is 0"),
        ({"top_p_b": "1.5"}, "Top-p is 1.5"),
        ({"top_k": "2.5"}, "“2.5” is not a whole number for top-k."),
        ({"min_p": "1"}, "Min-p is 1"),
        ({"transforms": "top_k-top_k"}, "The order of the transforms is top_k, top_k"),
        ({"transforms": "top_k-warmth"}, "“warmth” is not an option for order of the transforms."),
        ({"draws": "99999"}, "The number of draws is 99999; it may be at most 10000."),
        ({"find": "8192"}, "The number of the marked token is 8192; it may be at most 8191."),
        ({"find": "-1"}, "The number of the marked token is -1; it must be at least 0."),
    ],
    ids=str,
)
def test_an_impossible_part_of_the_address_is_told_and_its_default_taken(given, said):
    app = open_app(page=PAGE, **given)
    (sentence,) = sentences(app)
    assert said in sentence
    assert driving.beside_head(app) == {}
    start = shown(app)["start"]
    assert (start["a"]["temperature"], start["a"]["top_p"], start["b"]["top_p"]) == (1.0, 1.0, 1.0)
    assert (start["draws"], start["find"]) == (0, None)


# -- models that predict nothing, or nonsense -------------------------------------------------------------------------


BOTH_WAYS = "cannot continue a text: its tokens also look at those after them, so none is the next one."


@pytest.mark.parametrize(
    "given, words", [({"model": "bert"}, BOTH_WAYS), ({"model": "bert-base"}, ""), ({"text": " "}, "")]
)
def test_what_has_no_next_token_says_so(folder_of, given, words):
    app = open_app(page=PAGE, **{name: value if name == "text" else folder_of(value) for name, value in given.items()})
    (said,) = sentences(app)
    assert words in said
    assert "sampling_bench" not in components(app)


@pytest.mark.parametrize("value", [torch.nan, torch.inf, -torch.inf])
def test_logits_that_are_no_numbers_are_said_and_nothing_is_drawn(monkeypatch, value):
    monkeypatch.setattr(Capture, "logits", lambda *_: torch.full((8192,), value))
    app = open_app(page=PAGE)
    (said,) = sentences(app)
    assert said.startswith(BROKEN)
    assert "sampling_bench" not in components(app)
    assert "atlas-badge ok" in html(app)


# -- tables and files -------------------------------------------------------------------------------------------------


@pytest.fixture
def in_english(monkeypatch):
    """As in a run whose language is settled."""
    monkeypatch.setattr(i18n, "language", lambda: "en")


def test_the_tables_hold_every_stage(in_english):
    given = bench(a=Sampling(temperature=0.7, top_k=5), b=Sampling(top_p=0.5), compare=True, find=4000)
    tables = list(next_token_view(given).tables().values())
    done = stages(capture().logits(2), given.a, given.previous)
    assert tables[0]["tokens kept"].tolist() == [stage.kept for stage in done]
    assert tables[0]["entropy, bits"].tolist() == pytest.approx([stage.entropy for stage in done])
    assert len(tables[1]) == 21  # twenty and the one that is marked
    assert tables[1].iloc[0].tolist() == pytest.approx([float(stage.probabilities.max()) for stage in done])
    assert tables[1].index[-1] == f"4000 {given.labels[4000]}"
    other = stages(capture().logits(2), given.b, given.previous)
    assert tables[2]["kept mass"].tolist() == pytest.approx([stage.kept_mass for stage in other])


@pytest.mark.parametrize("compare", [False, True])
def test_the_snippet_gives_the_numbers_of_the_picture(compare, in_english):
    given = bench(a=Sampling(temperature=0.7, top_p=0.9, seed=3), b=Sampling(top_k=4), compare=compare, draws=20)
    names = ran(python_start(given.opened.capture.request) + next_token_view(given).code)
    end = "_a" if compare else ""
    want = given.stages(given.a)[-1].probabilities
    torch.testing.assert_close(names[f"probabilities{end}"], want)
    assert names[f"drawn{end}"] == drawn_tokens(given, given.a)
    if compare:
        torch.testing.assert_close(names["probabilities_b"], given.stages(given.b)[-1].probabilities)


def test_the_files_hold_every_token_at_every_stage_and_the_settings(in_english):
    given = bench(a=Sampling(temperature=0.7, top_k=5), draws=6)
    arrays, rows = arrays_of(given), rows_of(given)
    done = given.stages(given.a)
    assert arrays["A_stages"].tolist() == [stage.name for stage in done]
    np.testing.assert_array_equal(arrays["A_probabilities"][-1], done[-1].probabilities.numpy())
    assert arrays["A_drawn"].tolist() == drawn_tokens(given, given.a)
    np.testing.assert_array_equal(arrays["logits"], capture().logits(2).numpy())
    np.testing.assert_array_equal(rows.iloc[:, -1], done[-1].probabilities.numpy())
    assert rows.index[300] == f"300 {given.labels[300]}"
    assert next_token_view(given).what == "token at position 3 · A: Sampling(temperature=0.7, top_k=5) · 6 draws"


def test_the_picture_as_a_file_draws_the_likeliest_tokens(in_english):
    given = bench(a=Sampling(top_k=2), draws=10)
    svg, cold = svg_of(given, "title", "caption"), svg_of(bench(a=Sampling(temperature=1e-3)), "title", "caption")
    assert (svg.count("<circle"), *('class="removed"' in one for one in (svg, cold))) == (2, True, False)
    assert all(words in svg for words in ("title", "caption", given.labels[given.likeliest(1)[0]]))


@pytest.mark.parametrize(
    "text, query, words",
    [
        (DEFAULT_TEXT, 7, "after “… squirrel because it”"),
        (DEFAULT_TEXT, 2, "after “The dog”"),
        (DEFAULT_TEXT, 0, "after “⟨bos⟩”"),
        ("龘麤", 4, "after “龘麤”"),
    ],
)
def test_the_title_ends_the_text_before_the_token(in_english, text, query, words):
    assert next_token_view(bench(query, of=capture(text))).title == words


def test_a_session_that_begins_here_has_a_choice():
    assert first_text("film", "en") == OPEN["en"] != first_text("heads", "en")
    app = open_app(page=PAGE, lang="zh")
    assert beside_head(app)["text"] == OPEN["zh"]
    assert float(capture(OPEN["zh"]).logits(-1).softmax(-1).max()) < 0.2
    assert app.text_area(key="text_box").value == OPEN["zh"]
    assert not button(app, "take_open_text")


def test_where_an_example_is_all_but_certain_one_that_is_open_is_offered():
    assert float(capture(OPEN["en"]).logits(-1).softmax(-1).max()) < 0.2
    text = "The capital of Italy is Rome. The capital of France is"
    app = open_app(page=PAGE, text=text)
    largest = float(capture(text).logits(-1).double().softmax(-1).max())
    assert f"The model is {share_digits(largest)} % sure of the next token here" in html(app)
    app.button(key="take_open_text").click().run()
    assert beside_head(app)["text"] == OPEN["en"]
    assert not button(app, "take_open_text")
