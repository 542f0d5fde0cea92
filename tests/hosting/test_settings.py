"""The settings file: what it may contain, and one error message for everything else."""

from __future__ import annotations

import tomllib
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from hosting import settings
from hosting.listed import silence_setting
from hosting.serve import EXAMPLE, options
from hosting.settings import Settings, WrongSetting, in_bytes, read


def written(folder: Path, text: str) -> Path:
    path = folder / "hosting.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_the_example_has_every_setting_at_its_default():
    told = {name: list(section) for name, section in tomllib.loads(EXAMPLE.read_text(encoding="utf-8")).items()}
    assert told == {name: list(section) for name, section in asdict(Settings()).items()}
    assert read(EXAMPLE) == Settings()


def test_an_empty_file_is_all_defaults(tmp_path):
    assert read(written(tmp_path, "")) == Settings()


@pytest.mark.parametrize(
    "text, words",
    [
        ("[limits", "is no TOML"),
        ("[limit]\ntext = 5", "has a part “limit”"),
        ("limits = 5", "has a part “limits”"),
        ("[limits]\ntexts = 50", "no setting “texts” in [limits]; did you mean “text”?"),
        ("[server]\nzebra = 1", "no setting “zebra” in [server]; there are address, port"),
        ("[limits]\ntext = 'long'", "limits.text is 'long'; it must be a whole number from 10 to 10,000,000."),
        ("[limits]\nsessions = 0", "limits.sessions is 0; it must be a whole number from 1 to"),
        ("[limits]\nsessions = true", "limits.sessions is True; it must be a whole number"),
        ("[server]\naddress = 5", "server.address is 5; it must be a text."),
        ("[limits]\nmemory = '2 miles'", "limits.memory is “2 miles”; it must be a size"),
        ("[models]\nlisted = 'default'", "models.listed must be a list of texts"),
        ("[models]\nlisted = []", "models.listed is empty"),
        ("[models]\nlisted = ['/srv/llama']", "models.listed has “/srv/llama”, a folder"),
        ("[models]\nlisted = ['../llama']", "models.listed has “../llama”, a folder"),
        ("[server]\nkey = 'a.pem'", "server.certificate and server.key go together"),
        (
            "[server]\nkey = 'a.pem'\ncertificate = 'b.pem'",
            "server.certificate names b.pem, and there is no such file.",
        ),
        ("[server]\nstate = '/no/such/folder'", "server.state names /no/such/folder, and there is no such folder"),
        ("[server]\nurl = 'atlas.school.org'", "server.url is “atlas.school.org”; it must be like https://"),
        ("[server]\naddress = '0.0.0.0'", "server.url is missing: server.address is “0.0.0.0”"),
        ("[server]\nshared = ['our school']", "server.shared has “our school”; it must be an address or a network"),
        ("[server]\nproxies = ['10.0.0.300']", "server.proxies has “10.0.0.300”"),
        ("[limits]\nunfinished = '5'", "limits.unfinished is “5”; it must be a size"),
        ("[limits]\nhandshake = 0", "limits.handshake is 0; it must be a whole number from 1 to 600."),
        ("[limits]\naddress_phones = 501", "limits.address_phones is 501; it must be a whole number from 1 to 500."),
        ("[sign_in]\nmetadata = 'https://id'", "sign_in.client is missing"),
    ],
)
def test_a_wrong_file_is_one_sentence(tmp_path, text, words):
    with pytest.raises(WrongSetting) as caught:
        read(written(tmp_path, text))
    assert words in str(caught.value)
    assert str(caught.value).count("\n") == 0


def test_a_file_that_is_not_there_is_a_sentence(tmp_path):
    with pytest.raises(WrongSetting, match="cannot be read"):
        read(tmp_path / "none.toml")


def test_signing_in_needs_tls_but_on_this_machine(tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("s")
    sign_in = f"[sign_in]\nmetadata = 'https://id'\nclient = 'c'\nclient_secret_file = '{secret}'\n"
    sign_in += "teachers = ['@a.b']\n"
    with pytest.raises(WrongSetting, match="needs TLS"):
        read(written(tmp_path, sign_in + "[server]\nurl = 'http://school.org'"))
    for fine in ("https://school.org", "http://127.0.0.1:8000"):
        assert read(written(tmp_path, sign_in + f"[server]\nurl = '{fine}'")).sign_in.client == "c"


@pytest.mark.parametrize(
    "url, origin, base, secure",
    [
        ("", "http://127.0.0.1:8501", "", False),
        ("https://a.org/atlas/", "https://a.org", "/atlas", True),
        ("http://a.org:80", "http://a.org:80", "", False),
    ],
)
def test_one_address_says_origin_base_path_and_tls(tmp_path, url, origin, base, secure):
    server = read(written(tmp_path, f"[server]\nurl = '{url}'")).server
    assert (server.origin, server.base, server.secure) == (origin, base, secure)


def test_streamlit_is_started_as_the_file_says(tmp_path):
    told = options(read(written(tmp_path, "[server]\nport = 9000\nurl = 'https://a.org/at/las'\n[limits]\nforget = 5")))
    for option in ("port=9000", "baseUrlPath=at/las", "allowedHosts=a.org", "disconnectedSessionTTL=5"):
        assert f"--server.{option}" in told
    assert "--client.showErrorDetails=none" in told


@pytest.mark.parametrize("size, expected", [("512 MB", 512 * 2**20), ("1.5 gb", 3 * 2**29), ("10 KB", 10240)])
def test_sizes_are_read(size, expected):
    assert in_bytes(size) == expected


def test_a_model_may_be_silent_for_as_long_as_the_file_says_else_the_environment(monkeypatch):
    monkeypatch.setattr(settings, "current", lambda: None)
    monkeypatch.delenv("ATLAS_SILENCE", raising=False)
    assert silence_setting() == Settings().limits.silence == 300
    monkeypatch.setenv("ATLAS_SILENCE", "900")
    assert silence_setting() == 900
    hosted = replace(Settings(), limits=replace(Settings().limits, silence=450))
    monkeypatch.setattr(settings, "current", lambda: hosted)
    assert (silence_setting(), type(silence_setting())) == (450, float)
