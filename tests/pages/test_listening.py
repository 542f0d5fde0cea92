"""A model that listens, on the pages: what they show is of the sound that is heard now, and their words say so."""

from __future__ import annotations

import pytest

from model_runner import CaptureRequest, load_runner
from model_runner.sound import rising_tone
from tests.model_runner.listening import tone
from tests.ui.driving import beside_head, html, open_app, payload, sentences
from ui.state.session_sound import SOUND
from viz.token_text import lone_spaces

LONG = "x" * 70  # tokens of bytes; 64 positions are there, four of the task


@pytest.fixture(scope="module")
def whisper(folder_of) -> str:
    return folder_of("whisper")


def expected(app) -> list[dict[str, object]]:
    """Of every frame of the film, what it shows; how long it took aside."""
    return [
        {name: value for name, value in one.items() if name != "seconds"} for one in payload(app, "film")[0]["frames"]
    ]


@pytest.mark.long
def test_the_film_is_of_the_sound_that_is_heard_now(whisper):
    app = open_app(page="pages/film/page.py", model=whisper, target="two", **{"film.forced": "0.65"})
    of_tone = expected(app)
    app.session_state[SOUND] = tone()
    app.run()
    fresh = open_app(page="pages/film/page.py", model=whisper, target="two")
    fresh.session_state[SOUND] = tone()
    assert expected(app)[0] != of_tone[0]
    assert expected(app) == expected(fresh.run())
    assert "film.forced" not in beside_head(app)  # it was written of the other sound


def test_what_is_too_long_to_be_written_is_said_and_can_be_made_shorter(whisper):
    app = open_app(model=whisper, target=LONG)
    said = "The output is 75 tokens long, and this model has 64 positions for it: no token can follow. Write less"
    assert any(words.startswith(said) for words in sentences(app))
    assert app.text_input(key="target").value == LONG
    app.text_input(key="target").set_value("two").run()
    assert sentences(app) == []
    heard = load_runner(whisper).capture(CaptureRequest(sound=rising_tone(), target="two", attention="cross"))
    assert payload(app, "head_map")[0]["row_labels"] == [lone_spaces(token.text) for token in heard.tokens]
    assert beside_head(app)["target"] == "two"


def test_a_film_after_all_that_can_be_written_says_so(whisper):
    app = open_app(page="pages/film/page.py", model=whisper, target="x" * 59)
    assert any(words.startswith("The output is 64 tokens long") for words in sentences(app))


def test_what_is_looked_at_is_a_sound_and_no_text(whisper):
    app = open_app(model=whisper, target="two")
    assert "Each row is a token looking at the sound that was heard, to write the next token" in html(app)
    cache = {"page": "pages/kv_cache/page.py", "kv_cache.view": "bytes", "model": whisper, "target": "two"}
    assert "The cache of this sound: " in html(open_app(**cache))
    assert "The cache of this text: " in html(open_app(attention="decoder", **cache))
    app = open_app(page="pages/families/page.py", model=whisper, target="two", text="A fox ran.")
    assert "The embedded models read the text “A fox ran.”; the open one listens to the sound." in html(app)
    assert "listens to the sound" not in html(open_app(page="pages/families/page.py", model="translator"))
