"""``attention-atlas check`` prints a line for everything in a settings file, and an error for each possible mistake."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace

import pytest

from hosting.check import findings, main
from hosting.checks import machine as machine_check
from hosting.checks import models as models_check
from hosting.checks import network as network_check
from hosting.checks import state as state_check
from hosting.checks.certificate import certificate
from hosting.checks.finding import Finding
from hosting.checks.machine import machine
from hosting.checks.models import models
from hosting.checks.network import network
from hosting.checks.sign_in import sign_in
from hosting.checks.state import state
from hosting.settings import Limits, Server, Settings, SignIn
from hosting.sizing import SIZES, fitting
from tests.browser import ROOT, free_port
from tests.hosting.visitors.oidc_provider import oidc_provider
from tests.hosting.visitors.own_certificate import own_certificate

GB = 2**30


def lines(found: Iterator[Finding]) -> str:
    return "\n".join(one.line for one in found)


def errors(found: Iterator[Finding]) -> str:
    return lines(one for one in found if one.level == "error")


def served(**more) -> Server:
    return Server(**{"port": free_port(), "local_port": free_port(), **more})


@pytest.fixture
def resolved(monkeypatch: pytest.MonkeyPatch) -> None:
    """atlas.school.org is somewhere, and no other name is."""

    def looked_up(host: str, *_more: object, **_others: object):
        if host in ("127.0.0.1", "localhost"):
            return [(0, 0, 0, "", ("127.0.0.1", 0))]
        if host == "atlas.school.org":
            return [(0, 0, 0, "", ("203.0.113.5", 0))]
        raise socket.gaierror

    monkeypatch.setattr(network_check.socket, "getaddrinfo", looked_up)


# -- all of it --------------------------------------------------------------------------------------------------------


def test_a_good_file_is_ok_from_the_command_on_and_nothing_is_written(tmp_path: Path):
    file = tmp_path / "hosting.toml"
    file.write_text(f"[server]\nport = {free_port()}\nlocal_port = {free_port()}\n[models]\nlisted = ['encoder']\n"
                    "[limits]\nprocess_memory = '700 MB'\nmemory = '64 MB'\nconnections = 20")  # fmt: skip
    before = subprocess.run(["git", "status", "--porcelain"], cwd=ROOT, capture_output=True, text=True).stdout
    command = [sys.executable, "-m", "hosting.check", str(file)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, env={**os.environ, "HF_HUB_OFFLINE": "1"})
    said = done.stdout.splitlines()
    assert (done.returncode, done.stderr, said[-1]) == (0, "", "The server can start.")
    assert "ok       model encoder: " in done.stdout
    assert "opened and verified in" in done.stdout
    assert all(line.split()[0] in ("ok", "warning") for line in said[:-1])
    assert list(tmp_path.iterdir()) == [file]
    after = subprocess.run(["git", "status", "--porcelain"], cwd=ROOT, capture_output=True, text=True).stdout
    assert after == before


@pytest.mark.parametrize(
    "text, words", [("[limits]\ntexts = 5", "did you mean “text”?"), ("[server", "is no TOML"), (None, "No such file")]
)
def test_a_wrong_file_is_one_error_and_the_status_1(tmp_path: Path, capsys, text, words):
    file = tmp_path / "hosting.toml"
    if text is not None:
        file.write_text(text)
    assert main([str(file)]) == 1
    first, last = capsys.readouterr().out.splitlines()
    assert first.startswith("error    settings: ")
    assert words in first
    assert last == "1 error"


def test_everything_is_tried(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(models_check, "_opened", lambda *_: {"error": "broken", "missing": False})
    file = tmp_path / "hosting.toml"
    file.write_text("")
    tried = {one.what for one in findings(file)}
    assert tried >= {"settings", "server.port", "server.local_port", "server.url", "sign_in", "limits.process_memory",
                     "class size", "limits.connections", "model default", "model translator"}  # fmt: skip


# -- network ----------------------------------------------------------------------------------------------------------


def test_a_taken_port_is_an_error_and_a_free_one_stays_free():
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        taken = other.getsockname()[1]
        assert f"127.0.0.1:{taken} is taken" in errors(network(served(port=taken)))
        assert f"127.0.0.1:{taken} is taken" in errors(network(served(local_port=taken)))
    free = served()
    for _ in range(2):
        assert errors(network(free)) == ""
    for port in (free.port, free.local_port):
        with socket.socket() as mine:
            mine.bind(("127.0.0.1", port))


@pytest.mark.parametrize(
    "more, words",
    [
        ({"address": "203.0.113.9"}, "this machine does not have the address 203.0.113.9"),
        ({"local_port": 0}, "no way to drain the server"),
        ({"url": "https://nowhere.invalid", "proxies": ("127.0.0.1",)}, "the name nowhere.invalid leads to no address"),
        ({"url": "http://atlas.school.org:8501", "port": 8501}, "the server listens on 127.0.0.1 alone"),
        (
            {"url": "https://atlas.school.org", "address": "0.0.0.0", "certificate": "a", "key": "b"},
            "visitors come to port 443, but the server listens at",
        ),
        ({"url": "http://atlas.school.org:8501", "address": "0.0.0.0", "port": 8501}, "a router has to lead here"),
        ({"url": "http://atlas.school.org:8501", "address": "0.0.0.0", "port": 8501}, "can read what visitors type"),
        ({"url": "https://atlas.school.org", "address": "0.0.0.0"}, "neither a certificate nor a proxy"),
        ({"proxies": ("0.0.0.0/0",)}, "0.0.0.0/0 is nearly everybody"),
        ({"proxies": ("10.0.0.7",)}, "10.0.0.7 cannot reach a server that listens on 127.0.0.1"),
        ({"proxies": ("10.0.0.0/24",), "address": "0.0.0.0"}, "every machine of 10.0.0.0/24 is believed"),
        ({"proxies": ("127.0.0.1",), "certificate": "a"}, "usually only one of them speaks TLS"),
    ],
)
def test_what_visitors_would_not_reach_is_said(resolved, more, words):
    assert words in lines(one for one in network(served(**more)) if one.level != "ok")


def test_a_port_and_the_local_port_are_two():
    one = free_port()
    assert "is also server.port" in errors(network(Server(port=one, local_port=one)))


def test_a_server_behind_a_proxy_is_in_order(resolved):
    behind = served(url="https://atlas.school.org/attention", proxies=("127.0.0.1",))
    assert [one.level for one in network(behind)] == ["ok"] * 4


# -- certificate ------------------------------------------------------------------------------------------------------


def certified(folder: Path, url: str = "https://127.0.0.1:8443", **how) -> str:
    folder.mkdir(exist_ok=True)
    made, key = own_certificate(folder, **how)
    key.chmod(0o600)
    return lines(certificate(Server(url=url, certificate=str(made), key=str(key))))


def test_a_certificate_that_a_browser_would_accept_says_how_long_it_lasts(tmp_path: Path):
    said = certified(tmp_path, ends=timedelta(days=60, hours=1)).splitlines()
    assert (
        said[0] == "ok       server.certificate: it and its key match, it names 127.0.0.1, and lasts for 60 more days."
    )
    assert len(said) == 2
    assert said[1].startswith("warning  server.certificate: this machine does not trust its issuer")
    assert "lasts for 3 more days. Renew it." in certified(tmp_path, ends=timedelta(days=3, hours=1))


def test_a_certificate_that_browsers_refuse_is_an_error(tmp_path: Path):
    assert "certificate has expired" in certified(tmp_path, ends=-timedelta(days=1))
    assert "IP address mismatch" in certified(tmp_path, host="10.0.0.1")
    assert "Hostname mismatch" in certified(tmp_path, url="https://atlas.school.org")


def test_a_key_of_another_certificate_and_files_that_are_none_are_errors(tmp_path: Path):
    one, _ = own_certificate(tmp_path)
    (tmp_path / "other").mkdir()
    _, other = own_certificate(tmp_path / "other")
    url = "https://127.0.0.1"
    assert "the key belongs to another certificate" in errors(
        certificate(Server(url=url, certificate=str(one), key=str(other)))
    )
    other.write_text("no key")
    assert "are not files of PEM" in errors(certificate(Server(url=url, certificate=str(one), key=str(other))))
    assert "cannot be read" in errors(certificate(Server(url=url, certificate=str(one), key=str(tmp_path / "none"))))


def test_a_key_that_everybody_reads_is_a_warning_and_one_with_a_password_an_error(tmp_path: Path):
    made, key = own_certificate(tmp_path)
    key.chmod(0o644)
    server = Server(url="https://127.0.0.1", certificate=str(made), key=str(key))
    assert "everybody on this machine can read it" in lines(certificate(server))
    from cryptography.hazmat.primitives import serialization as form

    plain = form.load_pem_private_key(key.read_bytes(), None)
    locked = form.BestAvailableEncryption(b"secret")
    key.write_bytes(plain.private_bytes(form.Encoding.PEM, form.PrivateFormat.PKCS8, locked))
    assert "it is locked with a password" in errors(certificate(server))


# -- sign-in ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def provided(tmp_path: Path) -> Iterator[SignIn]:
    """A provider that answers, and secrets of this server alone."""
    secret, cookie = tmp_path / "secret", tmp_path / "cookie"
    secret.write_text("s3cret")
    cookie.write_text("c" * 32)
    for one in (secret, cookie):
        one.chmod(0o600)
    with oidc_provider(email="ada@school.org", name="Ada", email_verified=True) as provider:
        yield SignIn(provider.metadata, "atlas", str(secret), str(cookie), ("@school.org",))


def signed(held: SignIn, **more) -> str:
    given = {name: getattr(held, name) for name in held.__dataclass_fields__}
    return lines(one for one in sign_in(Settings(sign_in=SignIn(**{**given, **more}))) if one.level != "ok")


def test_a_provider_that_answers_and_secrets_of_the_servers_own_are_ok(provided: SignIn):
    assert signed(provided) == ""


def test_what_keeps_teachers_out_is_said(provided: SignIn, tmp_path: Path):
    nowhere = f"http://127.0.0.1:{free_port()}/x"
    assert "does not answer as a provider does" in signed(provided, metadata=nowhere)
    assert "must begin with https://" in signed(provided, metadata="http://id.school.org/x")
    assert "the list is empty" in signed(provided, teachers=())
    assert "“school.org” is neither an e-mail address nor a domain" in signed(provided, teachers=("school.org",))
    assert "a restart signs every teacher out" in signed(provided, cookie_secret_file="")
    assert "nobody can open a room" in signed(provided, metadata="")
    cookie, secret = Path(provided.cookie_secret_file), Path(provided.client_secret_file)
    cookie.write_text("short")
    assert "has 5 characters; it needs 32 random ones" in signed(provided)
    cookie.write_text("c" * 32)
    secret.write_text("\n")
    assert "is empty" in signed(provided)
    secret.write_text("s3cret")
    secret.chmod(0o604)
    assert "everybody on this machine can read" in signed(provided)
    assert "cannot be read: No such file" in signed(provided, client_secret_file=str(tmp_path / "none"))


def test_an_answer_that_is_no_provider_is_an_error(provided: SignIn, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("hosting.checks.sign_in.json.loads", lambda _: {"issuer": "x"})
    assert "it lacks authorization_endpoint, token_endpoint, jwks_uri" in signed(provided)
    monkeypatch.setattr("hosting.checks.sign_in.json.loads", lambda _: ["x"])
    assert "is no OpenID Connect configuration" in signed(provided)


# -- rooms on disk ----------------------------------------------------------------------------------------------------


def test_where_rooms_are_kept_is_for_the_server_alone_and_has_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    assert "a restart loses the questions and answers" in lines(state(Server()))
    kept = Server(state=str(tmp_path))
    tmp_path.chmod(0o755)
    assert "others on this machine can look into it" in lines(state(kept))
    tmp_path.chmod(0o700)
    assert lines(state(kept)) == "ok       server.state: open rooms are kept there over a restart."
    monkeypatch.setattr(state_check.shutil, "disk_usage", lambda _: SimpleNamespace(free=2**20))
    assert "only 1 MB are free there" in lines(state(kept))


# -- machine ----------------------------------------------------------------------------------------------------------


def measured(monkeypatch: pytest.MonkeyPatch, cores: int, ram: float | None, **limits) -> str:
    monkeypatch.setattr(machine_check, "available_cores", lambda: cores)
    monkeypatch.setattr(machine_check, "available_memory", lambda: None if ram is None else int(ram * GB))
    return lines(machine(Limits(**{"connections": 20, **limits})))


def test_limits_beyond_the_machine_are_errors(monkeypatch: pytest.MonkeyPatch):
    said = measured(monkeypatch, 8, 8, process_memory="8 GB")
    assert "error    limits.process_memory: visitors are let in up to 8 GB; this machine has 8.0 GB" in said
    assert "ok       limits.process_memory" in measured(monkeypatch, 8, 16, process_memory="8 GB")
    assert "over half of limits.process_memory" in measured(monkeypatch, 8, 16, process_memory="1 GB", memory="1 GB")
    assert "does not say how much memory" in measured(monkeypatch, 8, None)


def test_the_class_that_fits_is_said(monkeypatch: pytest.MonkeyPatch):
    for size in SIZES:
        assert f"are enough for {size.phones} phones" in measured(monkeypatch, size.cores, size.memory * 0.95)
    assert "error    class size: 1 core and 64.0 GB are too little" in measured(monkeypatch, 1, 64)
    assert fitting(100, 100 * GB) == SIZES[-1]
    assert fitting(2, GB) is None


def test_more_connections_than_files_are_an_error(monkeypatch: pytest.MonkeyPatch):
    resource = pytest.importorskip("resource")
    monkeypatch.setattr(resource, "getrlimit", lambda _: (1024, 2000))
    assert "set LimitNOFILE=3512" in measured(monkeypatch, 2, 8, connections=3000)
    assert "ok       limits.connections: 1,000" in measured(monkeypatch, 2, 8, connections=1000)


def test_a_container_has_no_more_than_it_may(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    limit = tmp_path / "memory.max"
    monkeypatch.setattr(machine_check, "CGROUP", limit)
    limit.write_text("max\n")
    whole = machine_check.available_memory()
    limit.write_text(f"{GB}\n")
    assert machine_check.available_memory() == GB
    assert whole > GB


# -- models -----------------------------------------------------------------------------------------------------------


def test_a_model_that_is_not_here_is_an_error_offline_and_else_a_warning(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    assert "error    model nobody/nothing: it is not on this machine, and HF_HUB_OFFLINE=1" in lines(
        models(("nobody/nothing",))
    )
    monkeypatch.setenv("HF_HUB_OFFLINE", "0")
    monkeypatch.setattr(models_check, "_opened", lambda *_: {"error": "not here", "missing": True})
    assert "warning  model nobody/nothing: it is not on this machine yet" in lines(models(("nobody/nothing",)))


@pytest.mark.parametrize(
    "told, words",
    [
        ({"error": "The file /srv/a/b.safetensors is cut off.", "missing": False}, "The file … is cut off."),
        (
            {"parameters": 1, "dtype": "float32", "seconds": 1.0, "bytes": 0, "verified": False},
            "do not reproduce its own attention output",
        ),
    ],
)
def test_a_model_that_fails_is_an_error_without_a_path(monkeypatch: pytest.MonkeyPatch, told, words):
    monkeypatch.setattr(models_check, "_opened", lambda *_: told)
    assert words in errors(models(("a/b",)))


def test_a_model_that_takes_too_long_or_ends_its_process_is_an_error(monkeypatch: pytest.MonkeyPatch):
    assert "it was not open after 0 seconds" in errors(models(("default",), patience=0.01))
    monkeypatch.setattr(models_check, "MODULE", "tests.no_such_module")
    assert "ended with status 1" in errors(models(("default",)))


def test_models_of_another_server_are_not_opened_here(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("ATLAS_RUNNER", "https://gpu.example.org")
    assert "are another server's" in lines(models(("default",)))


def test_the_sizes_are_those_of_the_document():
    text = (ROOT / "docs" / "hosting.md").read_text(encoding="utf-8")
    for size in SIZES:
        assert f"| {size.phones} | {size.cores} | {size.memory} GB |" in text
