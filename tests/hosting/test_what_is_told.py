"""What a hosted server reveals in its log, messages and metrics, and who may teach."""

from __future__ import annotations

import logging
import urllib.error
import urllib.request

import pytest

from hosting.drain import Drain
from hosting.logs import keep_texts_out
from hosting.meter import Meter
from hosting.metrics_server import listen
from hosting.redaction import redact_paths
from hosting.settings import VARIABLE, Settings, SignIn
from hosting.teachers import may_teach
from model_runner.errors import ModelIncomplete
from tests.browser import free_port
from ui.wording.sentences import sentence

SECRET = "My grandmother's name is Quokka"


@pytest.fixture
def hosted(tmp_path, monkeypatch):
    path = tmp_path / "hosting.toml"
    path.write_text("")
    monkeypatch.setenv(VARIABLE, str(path))


@pytest.fixture
def clean_log():
    before = logging.getLogRecordFactory()
    keep_texts_out()
    yield
    logging.setLogRecordFactory(before)


def fail() -> None:
    raise KeyError(SECRET)


def test_the_log_has_the_place_of_an_error_and_not_what_was_typed(caplog, clean_log):
    try:
        fail()
    except KeyError as error:
        logging.getLogger("streamlit").error("Uncaught app execution", exc_info=error)
        logging.getLogger("uvicorn").exception("%s", error)
    assert "KeyError at tests/hosting/test_what_is_told.py:" in caplog.text
    assert SECRET not in caplog.text
    assert "Traceback" not in caplog.text


@pytest.mark.parametrize(
    "words, left",
    [
        ("The model in /srv/models/llama is broken.", "The model in … is broken."),
        ("No file named /root/.cache/hub/models--a--b/x.safetensors", "No file named …"),
        ("in ~/models/one and C:\\models\\two", "in … and …"),
        ("owner/name at 3 tokens/s, https://a.org/b/c", "owner/name at 3 tokens/s, https://a.org/b/c"),
    ],
)
def test_no_sentence_has_a_path(hosted, words, left):
    assert redact_paths(words) == left


def test_sentences_of_errors_are_among_them_and_only_on_a_hosted_server(hosted, monkeypatch):
    monkeypatch.setattr("ui.wording.sentences._", str)  # outside a run there is no language
    error = ModelIncomplete(name="a/b", reason="no file /srv/models/b/config.json")
    assert "/srv" not in sentence(error)
    monkeypatch.delenv(VARIABLE)
    assert "/srv/models/b/config.json" in sentence(error)


def test_the_local_port_says_health_and_numbers():
    meter, well = Meter(), [True]
    meter.watch(sessions=lambda: 3)
    meter.count("refused_total", 'by="looks"')
    port = free_port()
    server = listen(port, meter, lambda: well[0], Drain())
    try:
        told = urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics").read().decode()
        assert "\natlas_sessions 3\n" in told
        assert '\natlas_refused_total{by="looks"} 1\n' in told
        for line in told.splitlines():  # the text format: comments, or a name, labels and a number
            assert line.startswith("# ") or float(line.split(" ")[1]) >= 0
        assert urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz").read() == b"ok\n"
        well[0] = False
        with pytest.raises(urllib.error.HTTPError, match="503"):
            urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz")
    finally:
        server.shutdown()
        server.server_close()


HOSTED = Settings(sign_in=SignIn(teachers=("Head@Elsewhere.org", "@school.org")))


@pytest.mark.parametrize(
    "user, expected",
    [
        ({"is_logged_in": True, "email": "ada@school.org"}, True),
        ({"is_logged_in": True, "email": "HEAD@elsewhere.org"}, True),
        ({"is_logged_in": True, "email": "other@elsewhere.org"}, False),
        ({"is_logged_in": True, "email": "ada@sub.school.org"}, False),
        ({"is_logged_in": True, "email": "ada@school.org", "email_verified": False}, False),
        ({"is_logged_in": True, "email": "x@evil.org@school.org"}, False),
        ({"is_logged_in": True}, False),
        ({"is_logged_in": False, "email": "ada@school.org"}, False),
        ({}, False),
    ],
)
def test_who_may_teach(user, expected):
    assert may_teach(HOSTED, user) is expected
    assert may_teach(None, user) is True  # one's own machine
