"""The entrance admits sessions, without a browser; the app in single-user mode has no entrance."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.testclient import TestClient
from streamlit.web.server.starlette.starlette_app_utils import generate_xsrf_token_string

from classroom.desk import DESK as ROOMS
from hosting import settings
from hosting.drain import DRAIN
from hosting.meter import METER
from hosting.settings import VARIABLE
from hosting.visitors.entrance import _visitor, entrance
from hosting.visitors.server import failed, options
from tests.ui.driving import html, open_app, sentences, type_text
from ui.state import session


@pytest.fixture
def hosted(tmp_path, monkeypatch):
    """The app hosted as this text of a file says."""

    def set_to(text: str) -> None:
        path = tmp_path / "hosting.toml"
        path.write_text(text)
        monkeypatch.setenv(VARIABLE, str(path))
        session.model_cache.clear()

    yield set_to
    session.model_cache.clear()
    monkeypatch.undo()


def test_an_app_of_ones_own_has_no_entrance_and_stands_in_no_frame():
    assert set(options(ROOMS)) == {"middleware"}

    def page(_request: Request) -> Response:
        return Response("")

    with TestClient(Starlette(routes=[Route("/", page)], **options(ROOMS))) as browser:
        assert browser.get("/").headers["content-security-policy"].startswith("frame-ancestors 'self'")
    app = open_app()
    assert "privacy" not in html(app)


def test_a_text_and_tokens_beyond_the_limits_are_a_sentence_and_nothing_is_lost(hosted):
    hosted("[limits]\ntext = 100\ntokens = 30")
    app = open_app()
    assert "privacy?lang=en" in html(app)
    type_text(app, "a b " * 26)
    assert sentences(app) == ["The text has 104 characters, and this server reads up to 100. Shorten it."]
    app = open_app(page="pages/film/page.py", **{"film.length": "31"})
    assert sentences(app) == ["You asked for 31 tokens; this server generates up to 30. Ask for fewer."]
    app = open_app(continuation=".".join(["5"] * 31))
    assert sentences(app) == ["You asked for 31 tokens; this server generates up to 30. Ask for fewer."]
    app = open_app(text="short", target="w " * 60, model="translator")
    assert sentences(app) == ["The text has 120 characters, and this server reads up to 100. Shorten it."]


def test_a_device_of_the_readers_choice_is_not_offered_and_not_taken(hosted):
    hosted("")
    app = open_app(model="default", device="mps", dtype="float16")
    assert sentences(app) == []


def test_who_looks_too_often_pauses_and_goes_on(hosted):
    hosted("[limits]\nlooks = 3")
    app = open_app()
    for _ in range(2):
        app.run()
    app.checked = False  # what is to be waited for has no frame
    app.run()
    assert sentences(app) == ["More than 3 requests in a minute. Nothing is lost; the page continues by itself soon."]
    entrance(settings.current()).looks._clock = lambda: 1e9  # type: ignore[arg-type]
    app.checked = True
    app.run()
    assert sentences(app) == []


@pytest.mark.parametrize(
    "lang, words", [("en", "2 ahead of you."), pytest.param("zh", "你前面还有 2 人。", marks=pytest.mark.long)]
)
def test_who_waits_is_told_how_many_are_before(hosted, lang, words):
    hosted(f"[limits]\nsessions = 1\nidle = {60 if lang == 'en' else 61}")  # a door of its own
    door = entrance(settings.current()).queue
    for other in ("first", "second", "third"):
        door.ask(other)
    app = open_app(lang=lang, checked=False)
    assert words in sentences(app)[0]
    for other in ("first", "second", "third"):
        door.leave(other)
    app.checked = True
    app.run()
    assert sentences(app) == []


def test_a_server_that_drains_lets_nobody_new_in_and_who_is_in_goes_on(hosted, monkeypatch):
    hosted("[limits]\nidle = 63")
    inside = open_app()
    monkeypatch.setattr(DRAIN, "_until", DRAIN._clock() + 1800)
    inside.run()
    assert sentences(inside) == []
    assert "This server restarts within 30 min." in " ".join(one.value for one in inside.caption)
    assert [one.value for one in inside.toast] == ["This server restarts within 30 min. Save what you still need."]
    inside.run()
    assert len(inside.toast) == 0  # once is enough
    door = entrance(settings.current()).queue
    door.leave(next(iter(door._in)))  # every session of these tests has the same name
    app = open_app(checked=False)
    assert sentences(app) == [
        "This server restarts when the lessons that are running have ended. The page then opens by itself."
    ]
    assert "This server restarts within" not in " ".join(one.value for one in app.caption)  # nothing to save yet
    assert METER.text().count('atlas_refused_total{by="draining"}') == 1
    assert "\natlas_draining 1\n" in METER.text()
    DRAIN.cancel()
    app.checked = True
    app.run()
    assert sentences(app) == []


SIGN_IN = """
[sign_in]
metadata = "https://id.school.org"
client = "c"
client_secret_file = "{secret}"
teachers = ["@school.org"]
"""


def test_a_teacher_may_sign_in_where_guests_wait_and_then_waits_no_more(hosted, tmp_path, monkeypatch):
    secret = tmp_path / "secret"
    secret.write_text("s")
    hosted("[limits]\nsessions = 1\nidle = 62" + SIGN_IN.format(secret=secret))
    entrance(settings.current()).queue.ask("a guest")
    app = open_app(checked=False)
    assert "You are next." in sentences(app)[0]
    assert [one.label for one in app.button] == ["For teachers: sign in"]
    monkeypatch.setattr("hosting.visitors.entrance.may_teach", lambda: True)
    app.run()
    assert sentences(app) == []


def test_whose_browser_looks_is_known_by_the_cookie_that_streamlit_gives_it(monkeypatch):
    """Masked anew each time it is sent."""
    token, seen = bytes(range(16)), set[str]()
    for _ in range(2):
        context = {"cookies": {"_streamlit_xsrf": generate_xsrf_token_string(token)}, "ip_address": "2001:db8::1"}
        monkeypatch.setattr("hosting.visitors.entrance.st.context", SimpleNamespace(**context))
        seen.add(context["cookies"]["_streamlit_xsrf"])
        assert _visitor() == ("2001:db8::/64", token.hex(), True)
    assert len(seen) == 2
    context = {"cookies": {"_streamlit_xsrf": "nonsense"}, "ip_address": None}
    monkeypatch.setattr("hosting.visitors.entrance.st.context", SimpleNamespace(**context))
    assert _visitor() == ("127.0.0.1", "", True)


def test_numbers_are_of_the_models_that_answered(hosted):
    hosted("")
    open_app()
    told = dict(line.rsplit(" ", 1) for line in METER.text().splitlines() if not line.startswith("#"))
    assert float(told["atlas_work_seconds_total"]) > 0
    assert told["atlas_queue"] == "0"


def test_an_error_of_the_app_itself_is_a_sentence_and_counted(monkeypatch):
    shown: list[str] = []
    monkeypatch.setattr("hosting.visitors.server.st.error", shown.append)
    monkeypatch.setattr("hosting.visitors.server._", str)
    assert failed(KeyError("secret of a student")) is True
    assert len(shown) == 1
    assert "secret" not in shown[0]
    assert "atlas_failures_total 1" in METER.text()
