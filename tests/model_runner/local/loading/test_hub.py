"""A hub id becomes a folder or one sentence; no test reaches a network, and most run the hub's own library for real."""

from __future__ import annotations

import importlib
import socket
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NoReturn

import huggingface_hub
import pytest
from huggingface_hub import constants, errors

from model_runner.errors import (
    DownloadBroken,
    HubUnreachable,
    ModelGated,
    ModelNotFound,
    ModelPickled,
    ModelRevisionMissing,
    RunnerError,
)
from model_runner.local.loading import hub
from model_runner.local.loading.config_preview import StoredWeights
from model_runner.local.loading.hub import fetch

NAME = "owner/model"
SHA = "0123456789012345678901234567890123456789"
Raised = Callable[[str], BaseException]


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache for the hub's library, which believes to be online, in a machine whose network is down."""

    def refuse(*_: object, **__: object) -> NoReturn:
        raise OSError(101, "Network is unreachable")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    return tmp_path / "hub"


def _ignore(*_: object) -> None:
    pass


def _said(error: type[RunnerError], name: str = NAME) -> str:
    with pytest.raises(error) as raised:
        fetch(name, None, _ignore, _ignore)
    return str(raised.value)


def _put_in(cache: Path, revision: str = "main") -> Path:
    """A model as an earlier download left it."""
    place = cache / f"models--{NAME.replace('/', '--')}"
    folder = place / "snapshots" / SHA
    folder.mkdir(parents=True)
    (folder / "config.json").write_text("{}")
    (folder / "model.safetensors").touch()
    (place / "refs").mkdir()
    (place / "refs" / revision).write_text(SHA)
    return folder


def _answer(status: int, kind: type[errors.HfHubHTTPError], message: str = "as the hub says") -> errors.HfHubHTTPError:
    """What the hub's library makes of an answer of the hub."""
    http: Any = importlib.import_module(errors.Response.__module__.partition(".")[0])  # pyright: ignore[reportPrivateImportUsage]
    response = http.Response(status, request=http.Request("GET", f"https://huggingface.co/api/models/{NAME}"))
    return kind(message, response=response)


def _hub_says(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    def answer(*_: object, **__: object) -> NoReturn:
        raise error

    monkeypatch.setattr(huggingface_hub.HfApi, "repo_info", answer)


# -- without a network ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("offline", [True, False], ids=["told to stay offline", "network down"])
def test_a_model_that_is_not_here_cannot_be_had_without_a_network(
    offline: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", offline)
    said = _said(HubUnreachable)
    assert said.startswith(f"The hub cannot be reached, and {NAME} is not on this machine yet. Check the network")


@pytest.mark.parametrize("offline", [True, False], ids=["told to stay offline", "network down"])
def test_a_model_that_was_downloaded_before_needs_no_network(
    offline: bool, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = _put_in(cache)
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", offline)
    assert fetch(NAME, None, _ignore, _ignore).resolve() == folder.resolve()


def test_a_revision_that_was_not_downloaded_is_not_replaced_by_another(cache: Path) -> None:
    folder = _put_in(cache, revision="v1")
    assert fetch(NAME, "v1", _ignore, _ignore).resolve() == folder.resolve()
    with pytest.raises(HubUnreachable):
        fetch(NAME, "v2", _ignore, _ignore)


# -- what the hub answers ---------------------------------------------------------------------------------------------

ANSWERS: dict[str, tuple[int, type[errors.HfHubHTTPError], type[RunnerError], str]] = {
    "not found": (
        404,
        errors.RepositoryNotFoundError,
        ModelNotFound,
        "The hub has no model owner/model, or it is private",
    ),
    "private": (401, errors.RepositoryNotFoundError, ModelNotFound, "Check the spelling: owner/name."),
    "no such revision": (404, errors.RevisionNotFoundError, ModelRevisionMissing, "but no version main of it"),
    "gated": (403, errors.GatedRepoError, ModelGated, "may only be downloaded after its owner's terms were accepted"),
    "in trouble": (503, errors.HfHubHTTPError, HubUnreachable, "The hub cannot be reached"),
}


@pytest.mark.parametrize("status, kind, error, sentence", ANSWERS.values(), ids=ANSWERS)
def test_an_answer_of_the_hub_is_a_sentence(
    status: int,
    kind: type[errors.HfHubHTTPError],
    error: type[RunnerError],
    sentence: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    _hub_says(monkeypatch, _answer(status, kind))
    assert sentence in _said(error)


def test_a_model_on_this_machine_is_used_whatever_the_hub_says_now(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = _put_in(cache)
    _hub_says(monkeypatch, _answer(503, errors.HfHubHTTPError))
    assert fetch(NAME, None, _ignore, _ignore).resolve() == folder.resolve()


@pytest.mark.parametrize("name", ["-", "-a/b", "a..b/c", "none/such--x", "x.git", "a" * 97])
def test_a_name_that_no_model_can_have_is_not_found(name: str) -> None:
    assert f"The hub has no model {name}" in _said(ModelNotFound, name)


# -- downloading ------------------------------------------------------------------------------------------------------


class Hub:
    """Stands in for snapshot_download: two files of 600 and 400 bytes beside a configuration, then a folder."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder = folder
        self.files = {"config.json": 50, "model-1.safetensors": 600, "model-2.safetensors": 400}
        self.downloads, self.unreadable = 0, False
        self.failing: BaseException | None = None
        self.asked: list[dict[str, Any]] = []
        monkeypatch.setattr(hub, "snapshot_download", self)
        monkeypatch.setattr(huggingface_hub.HfApi, "parse_safetensors_file_metadata", self.header)

    def header(self, *_: object, **__: object) -> Any:
        if self.unreadable:
            raise errors.SafetensorsParsingError("no header")
        return SimpleNamespace(parameter_count={"F16": 200, "F32": 50})  # of the first file's 600 bytes

    def __call__(self, name: str, **wanted: Any) -> Any:
        self.asked.append({"name": name, **wanted})
        if wanted.get("local_files_only"):
            raise errors.LocalEntryNotFoundError("nothing here")
        if wanted.get("dry_run"):
            return [
                SimpleNamespace(filename=name, file_size=size, will_download=True) for name, size in self.files.items()
            ]
        if wanted["allow_patterns"] == ["config.json"]:
            self.folder.mkdir(exist_ok=True)
            (self.folder / "config.json").write_text('{"model_type": "llama", "dtype": "bfloat16"}')
            return str(self.folder)
        self.downloads += 1
        wanted["tqdm_class"](desc="Fetching", total=len(self.files), unit="it").update(1)  # files, not bytes
        # As huggingface_hub 2.4 does: bars whose totals grow while files begin, and may lag behind their bytes.
        with wanted["tqdm_class"](desc="Downloading", total=0, initial=0, unit="B", unit_scale=True) as bar:
            for size in self.files.values():
                bar.total += size
                bar.update(size / 2)
                if self.failing is not None:
                    raise self.failing
                bar.update(size / 2)
        return str(self.folder)


@pytest.fixture
def online(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Hub:
    return Hub(tmp_path / "downloaded", monkeypatch)


def test_a_download_tells_its_bytes_and_gives_the_folder(online: Hub, capfd: pytest.CaptureFixture[str]) -> None:
    heard: list[tuple[str, int, int]] = []
    assert fetch(NAME, "v1", lambda *stage: heard.append(stage), _ignore) == online.folder
    assert heard[0] == ("asking", 0, 0)
    assert heard[1] == ("downloading", 25, 50)
    assert {stage for stage, _, _ in heard[1:]} == {"downloading"}
    done = [done for _, done, _ in heard[1:]]
    assert done == sorted(done)
    assert heard[-1] == ("downloading", 1050, 1050)
    assert all(done <= total for _, done, total in heard)
    assert capfd.readouterr() == ("", "")  # and draws nothing
    assert {asked["revision"] for asked in online.asked} == {"v1"}


def test_of_several_files_the_numbers_are_told_by_the_first_ones_header(online: Hub) -> None:
    told: list[StoredWeights] = []
    fetch(NAME, None, _ignore, lambda _config, weights: told.append(weights))
    online.unreadable = True
    fetch(NAME, None, _ignore, lambda _config, weights: told.append(weights))
    assert told == [StoredWeights(1000, round(250 * 1000 / 600), missing=1050), StoredWeights(1000, None, missing=1050)]


def test_only_files_that_are_safe_to_open_are_downloaded(online: Hub) -> None:
    fetch(NAME, None, _ignore, _ignore)
    patterns = online.asked[-1]["allow_patterns"]
    assert "*.safetensors" in patterns
    assert not {"*", "*.bin", "*.pt", "*.pth", "*.ckpt", "*.py", "*.h5", "*.msgpack"} & set(patterns)


def test_a_model_with_pickled_weights_only_is_refused_before_the_download(online: Hub) -> None:
    online.files = {"config.json": 50}  # the pickled ones are not among those asked for
    assert "such a file can run any code, so it is not opened" in _said(ModelPickled)
    assert online.downloads == 0


def test_files_whose_size_the_hub_does_not_tell_do_no_harm(online: Hub) -> None:
    online.files["model-2.safetensors"] = None  # type: ignore[assignment]  # as the hub's type allows
    online.failing = KeyboardInterrupt()  # far enough: the sizes were added up
    with pytest.raises(KeyboardInterrupt):
        fetch(NAME, None, _ignore, _ignore)


def _http(name: str) -> Raised:
    library: Any = importlib.import_module(errors.HTTPError.__module__.partition(".")[0])  # pyright: ignore[reportPrivateImportUsage]
    return getattr(library, name)


@pytest.mark.parametrize(
    "error",
    [
        OSError("connection reset"),
        errors.OfflineModeIsEnabled("offline"),
        errors.XetDownloadError("broken off"),
        *(_http(name)("broken off") for name in ("ReadError", "ReadTimeout", "RemoteProtocolError", "ProxyError")),
    ],
    ids=lambda error: type(error).__name__,
)
def test_a_download_that_breaks_off_is_a_sentence(error: BaseException, online: Hub) -> None:
    online.failing = error
    assert "The download of owner/model was interrupted" in _said(DownloadBroken)


def test_a_model_may_be_gated_although_its_files_are_listed(online: Hub) -> None:
    online.failing = _answer(403, errors.GatedRepoError)
    assert "Accept them on its page on the hub, log in with “hf auth login”, and try again." in _said(ModelGated)
