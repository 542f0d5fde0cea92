"""The page KV cache: its numbers are the model's, and bad input is one sentence in every view."""

from __future__ import annotations

from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from analysis.kv_bytes import cache_bytes
from analysis.kv_published import PUBLISHED
from analysis.kv_work import attention_work
from analysis.long_text import chapter
from jobs.race import RaceRun
from model_runner import CaptureRequest
from model_runner.errors import BrokenLogits
from model_runner.questions import CacheLayers
from pages.kv_cache.race import QUOTED
from tests.pages.expected import runner
from tests.pages.kv_driving import figure, opened
from tests.ui.driving import button, html, payloads, sentences, type_text, until
from tests.ui.taken import offers, ran
from ui.state.url_state import DEFAULT_TEXT

pytestmark = pytest.mark.table  # its tests take a second each


def raced(app: AppTest) -> AppTest:
    return until(app, lambda app: button(app, "race_again"))


# -- the race ---------------------------------------------------------------------------------------------------------


def test_the_race_begins_after_a_page_of_a_book_in_place_of_an_example_and_after_a_text_that_was_typed():
    app = opened(race_length="50")
    assert sentences(app) == []
    n_tokens = len(runner().capture(CaptureRequest(chapter().page)).tokens)
    assert 350 < n_tokens < 600
    without = figure(raced(app), "race_work")["data"][1]["y"]
    assert without[0] == attention_work(runner().capture(CaptureRequest(chapter().page)), n_tokens, 1).uncached[0]
    own = figure(raced(opened(text="The cat", race_length="50")), "race_work")["data"][1]["y"]
    assert own[0] < without[0] / 1000


def test_the_race_runs_by_itself_and_ends_with_equal_tokens_their_count_and_the_work_of_each():
    app = raced(opened(race_length="50", **{"kv_cache.shown": "own"}))
    assert sentences(app) == []
    assert "equal: 50 of 50" in html(app)
    with_cache, without = figure(app, "race_speed")["data"]
    assert [len(with_cache["y"]), len(without["y"])] == [50, 50]
    capture = runner().capture(CaptureRequest(DEFAULT_TEXT))
    expected = attention_work(capture, len(capture.tokens), 50)
    with_cache, without = figure(app, "race_work")["data"]
    assert with_cache["y"] == expected.cached.tolist()
    assert without["y"] == expected.uncached.tolist()


@pytest.mark.parametrize("seconds, said", [((2.0, 5.0), "2.5 times as fast"), ((5.0, 2.0), "2.5 times as slow")])
def test_the_finding_is_how_many_times_as_fast_the_cache_makes_it(monkeypatch, seconds, said):
    monkeypatch.setattr(RaceRun, "seconds", seconds)
    app = raced(opened(race_length="50", **{"kv_cache.shown": "own"}))
    assert f"{said} with the cache" in html(app)
    assert f"50 tokens in {seconds[0]:.2f} s instead of {seconds[1]:.2f} s" in html(app)


def test_the_books_times_are_quoted_as_such_on_a_scale_of_their_own():
    app = raced(opened(race_length="50"))
    here, book = (figure(app, name)["data"][0] for name in ("race_times", "race_times_book"))
    assert [word.split(" s")[0] for word in book["text"]] == [f"{seconds:.3g}" for seconds in QUOTED]
    assert list(book["x"]) == list(QUOTED)
    assert [word.split(" s")[0] for word in here["text"]] == [f"{seconds:.3g}" for seconds in here["x"]]
    assert any(caption.value.startswith("Here: 50 tokens of this model on this CPU.") for caption in app.caption)
    assert any("quoted, not measured here" in caption.value for caption in app.caption)


def test_a_race_can_be_stopped_and_run_again():
    app = opened(race_length="500")
    app.button(key="race_stop").click().run()
    assert button(app, "race_again")
    app.button(key="race_again").click().run()
    assert button(app, "race_stop")
    app.button(key="race_stop").click().run()


@pytest.mark.long
def test_another_text_begins_another_race():
    app = raced(opened(race_length="50"))
    app = type_text(app, "The capital of France is")
    assert "equal: 50 of 50" not in html(app)
    app = raced(app)
    assert "Paris" in html(app)


def test_a_race_that_the_context_cuts_short_says_so():
    text = "word " * 2040
    app = opened(text=text, race_length="50")
    count = 2048 - len(runner().capture(CaptureRequest(text)).tokens)
    assert 0 < count < 50
    assert f"Only {count} tokens fit after the text: this model was built for 2048 positions." in html(app)


def test_tokens_that_differ_are_said_and_marked(monkeypatch):
    from model_runner.local.answers import kv_race

    honest = kv_race.forward

    def wrong_without_a_cache(model: Any, ids: Any, cache: Any) -> Any:
        logits = honest(model, ids, cache)
        return logits.roll(1) if cache is None and len(ids) == 11 else logits

    monkeypatch.setattr(kv_race, "forward", wrong_without_a_cache)
    app = raced(opened(race_length="50", **{"kv_cache.shown": "own"}))
    assert "equal up to token 3" in html(app)
    assert html(app).count("<mark>") == 2


def test_logits_that_are_not_numbers_are_one_sentence_and_the_page_stays(monkeypatch):
    from model_runner.local.answers import kv_race

    def broken(self: Any, name: str) -> Any:
        raise BrokenLogits(name=name)

    monkeypatch.setattr(kv_race.Lane, "step", broken)
    app = until(opened(), lambda app: bool(sentences(app)))
    assert "not numbers" in sentences(app)[0]
    assert len(app.get("plotly_chart")) == 3


# -- its bytes --------------------------------------------------------------------------------------------------------


def test_the_bytes_are_measured_and_equal_to_the_formula():
    app = opened(kv="bytes")
    assert "2 × 8 layers × 4 kv heads × 32 numbers × 8 tokens × 4 bytes" in app.code[0].value
    assert "= 65,536 bytes" in app.code[0].value
    request = CaptureRequest(DEFAULT_TEXT)
    measured = cache_bytes(runner().capture(request), runner().submit(CacheLayers(request)).result()).measured
    assert measured == 65_536
    assert any("65,536 bytes, equal to the formula" in caption.value.replace("\\", "") for caption in app.caption)
    assert figure(app, "kv_sharing")["data"][0]["x"] == [2 * measured, measured, measured // 2, measured // 4]


@pytest.mark.parametrize("tokens", [128, 4096, 131_072])
def test_well_known_models_are_compared_at_the_chosen_length(tokens):
    app = opened(kv="bytes", kv_tokens=str(tokens))
    bars = figure(app, "kv_published")
    fitting = [place for place, one in enumerate(PUBLISHED) if tokens <= one.context]
    assert bars["data"][0]["y"] == fitting
    assert bars["data"][0]["x"] == [PUBLISHED[place].n_bytes(tokens) for place in fitting]
    said = [note["text"] for note in bars["layout"].get("annotations", [])]
    assert len(said) == len(PUBLISHED) - len(fitting)
    assert all("context ends at" in words for words in said)


def test_the_length_is_in_the_address():
    app = opened(kv="bytes")
    app.select_slider(key="kv_cache.published").set_value("8192").run()
    assert app.query_params["kv_cache.published"] == "8192"


# -- bad input --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "address, sentence",
    [
        ({"kv": "nonsense"}, "“nonsense” is not an option for view."),
        ({"kv": "what_if", "drop": "zzz"}, "“zzz” is not an option for what the cache keeps."),
        ({"kv": "what_if", "keep": "-3"}, "The window is -3; it must be at least 1."),
    ],
)
def test_a_bad_value_is_said_before_it_is_replaced(address, sentence):
    app = opened(**address)
    assert sentences(app) == [sentence]


@pytest.mark.parametrize("view", ["race", "bytes", "what_if"])
def test_a_text_of_one_token_is_enough(view):
    app = opened(kv=view, text="a")
    assert sentences(app) == []


def test_a_text_that_fills_the_context_cannot_race_but_has_its_bytes():
    text = "a" * 5000
    limit = runner().info.max_tokens
    words = next(
        "word " * count
        for count in range(limit, 0, -1)
        if len(runner().engine.tokenizer("word " * count)["input_ids"]) <= limit
    )
    words += next(
        tail for tail in ("", "a", "word") if len(runner().engine.tokenizer(words + tail)["input_ids"]) == limit
    )
    assert len(text) > limit
    app = opened(text=words)
    assert any("fills the 2,048 positions" in shown for shown in sentences(app)), sentences(app)
    assert sentences(opened(text=words, kv="bytes")) == []


@pytest.mark.parametrize("view", ["race", "bytes", "what_if"])
def test_an_encoder_says_that_it_keeps_no_cache(folder_of, view):
    app = opened(model=folder_of("bert"), kv=view)
    assert any("cannot continue a text" in shown for shown in sentences(app)), sentences(app)
    assert app.get("plotly_chart") == []


@pytest.mark.long
def test_the_lines_of_a_race_run_it_of_a_sound_too(folder_of, monkeypatch):
    found = offers(monkeypatch)
    app = opened(model=folder_of("whisper"), kv="race", race_length="50", reading="1")
    assert any("t · (t + 1) / 2 + n · t" in one.value for one in app.code)  # and what is read is looked at each time
    names = ran(found[-1].snippet)
    assert names["asked"].sound is not None
    assert len(names["steps"]) > 1
    assert names["equal"]


@pytest.mark.parametrize("view", ["race", "bytes", "what_if"])
@pytest.mark.parametrize(
    "name", ["gemma2", *(pytest.param(name, marks=pytest.mark.long) for name in ("deepseek-v3", "qwen3-next"))]
)
def test_other_families_are_shown_too(folder_of, name, view):
    app = opened(model=folder_of(name), kv=view, race_length="50")
    assert sentences(app) == []
    assert app.get("plotly_chart") or payloads(app, "chart")  # at rest, or while it grows
    if view == "bytes":
        assert any("equal to the formula" in caption.value.replace("\\", "") for caption in app.caption)
