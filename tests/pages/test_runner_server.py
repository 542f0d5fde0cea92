"""The app with its models at a server: pages as before, and one sentence where the server is not as it should be."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from hosting import runner_server
from model_runner import load_runner
from model_runner.local.runner import LocalRunner
from model_runner.remote import server_link
from model_runner.remote.runner import RemoteRunner
from tests.model_runner.remote.test_remote_runner import answering, said
from tests.served.server import KEY, free_port, serving, settings
from tests.ui.driving import App, open_app, sentences
from ui.state import session

TEXT = "The dog chased the cat because it was late"
FILM, BLOCK, CELL = (f"pages/{name}/page.py" for name in ("film", "block", "cell"))


@pytest.fixture(scope="module")
def model() -> LocalRunner:
    return load_runner("default", device="cpu")


@pytest.fixture
def app_of(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., App]]:
    """The app, asking the server of this URL."""
    monkeypatch.setattr(server_link, "WAIT", 0.01)
    monkeypatch.setattr(runner_server, "NAMES", runner_server._Names())

    def opened(url: str, key: str = KEY, **other: str) -> App:
        monkeypatch.setenv("ATLAS_RUNNER", url)
        monkeypatch.setenv("ATLAS_RUNNER_KEY", key)
        session.model_cache.clear()
        return open_app(**other)

    yield opened
    session.model_cache.clear()


@pytest.mark.parametrize("page", [None, CELL, BLOCK, FILM])
def test_a_page_shows_what_the_server_computed(app_of, model, page):
    with serving({"default": model}, settings(("default",))) as url:
        app = app_of(url, page=page, text=TEXT)
        assert sentences(app) == []
        assert "Embedded small Llama" in str([box.options for box in app.selectbox])


def test_of_a_text_the_page_heads_fetches_one_head_and_no_whole_layer(app_of, model, monkeypatch):
    fetched, plain = list[tuple[int, int]](), RemoteRunner._part

    def noticed(self: RemoteRunner, written: bytes, near: str, number: int, start: int, stop: int, beside: Any) -> Any:
        fetched.append((start, stop))
        return plain(self, written, near, number, start, stop, beside)

    monkeypatch.setattr(RemoteRunner, "_part", noticed)
    with serving({"default": model}, settings(("default",))) as url:
        app = app_of(url, text=f"{TEXT} and nobody came")
        assert sentences(app) == []
    assert [stop - start for start, stop in fetched] == [1]


@pytest.mark.parametrize(
    "key, version, words",
    [
        ("another", None, "does not accept this key. Ask whoever runs it for a key."),
        (KEY, "attention atlas 1", "writes “attention atlas 1”, but this version of Attention Atlas reads"),
    ],
)
def test_a_wrong_key_or_version_is_one_sentence_and_the_page_stays(app_of, model, key, version, words):
    with ExitStack() as stack:
        if version is None:
            url = stack.enter_context(serving({"default": model}, settings(("default",))))
        else:
            url, _ = stack.enter_context(answering(said("200 OK", version=version)))
        app = app_of(url, key)
        (sentence,) = sentences(app)
        assert words in sentence
        assert app.sidebar.text_area  # the sidebar is there, and another text can be typed


def test_no_server_is_one_sentence_and_the_page_is_drawn_once_there_is_one(app_of, model):
    port = free_port()
    app = app_of(f"http://127.0.0.1:{port}")
    (sentence,) = sentences(app)
    assert sentence.startswith("The model’s server does not answer (Connection refused).")
    with serving({"default": model}, settings(("default",), port=port)):
        app.run()
        assert sentences(app) == []


def test_a_model_that_is_not_listed_is_named_with_those_that_are(app_of, model):
    with serving({"a": model}, settings(("a",))) as url:
        (sentence,) = sentences(app_of(url))
        assert sentence.startswith("This server offers only these models: a.")


def test_a_text_beyond_the_servers_limit_is_one_sentence(app_of, model):
    with serving({"default": model}, settings(("default",), text=20)) as url:
        (sentence,) = sentences(app_of(url, text="a text that is longer than this"))
        assert sentence == "The text has 31 characters, and this server reads up to 20. Shorten it."


@pytest.mark.parametrize("page", [None, CELL, BLOCK])
def test_a_server_that_ends_while_a_page_is_open_is_one_sentence(app_of, model, page):
    """What is looked at next is fetched while the page is drawn."""
    with serving({"default": model}, settings(("default",))) as url:
        app = app_of(url, page=page, text=TEXT)
        assert sentences(app) == []
    for layer in ("1", "3"):
        app = open_app(page=page, text=TEXT, layer=layer, head="1")
        assert not app.exception
        assert any("does not answer" in sentence for sentence in sentences(app)), sentences(app)
