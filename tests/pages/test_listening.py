"""A model that listens, on the pages: what they show is of the sound that is heard now, and their words say so."""

from __future__ import annotations

import pytest

from tests.model_runner.listening import tone
from tests.ui.driving import beside_head, open_app, payload
from ui.hearing import SOUND


@pytest.fixture(scope="module")
def whisper(folder_of) -> str:
    return folder_of("whisper")


def expected(app) -> list[dict[str, object]]:
    """Of every frame of the film, what it shows; how long it took aside."""
    return [
        {name: value for name, value in one.items() if name != "seconds"} for one in payload(app, "film")[0]["frames"]
    ]


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
