"""Models downloaded for real, by the hub's own library, from a hub on this machine."""

from __future__ import annotations

import errno
import json
import math
import shutil
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NoReturn

import pytest
import torch
from huggingface_hub import constants, file_download
from safetensors import safe_open
from safetensors.torch import load_file, save_file
from transformers import AutoConfig, AutoModelForMaskedLM

from model_runner import CaptureRequest, load_runner, memory
from model_runner.adapter import BaseNotAsked
from model_runner.errors import (
    Cancelled,
    DiskFull,
    DownloadBroken,
    HubNotAsked,
    ModelGated,
    ModelNameInvalid,
    ModelNotFound,
    ModelRevisionMissing,
    ModelTooLarge,
    NotCapturable,
    RunnerError,
)
from model_runner.local.loading import dtypes
from model_runner.local.loading.dtypes import Precision
from model_runner.local.loading.known_families import can_be_captured
from model_runner.local.loading.model_folder import EMBEDDED
from model_runner.preview import ModelPreview
from tests.hub_server import LocalHub, local_hub
from tests.model_runner.tiny import byte_tokenizer, tiny

NAME = "someone/tiny-llama"
WEIGHTS = "model.safetensors"


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Two versions of a model, the second with other weights."""
    made: dict[str, Path] = {}
    for version, heads in (("main", 4), ("v1.0", 2)):
        folder = made[f"{NAME}@{version}"] = tmp_path_factory.mktemp("model")
        tiny("llama", num_attention_heads=heads)().save_pretrained(folder)
        byte_tokenizer().save_pretrained(folder)
    return made


@pytest.fixture
def hub(folders: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[LocalHub]:
    """The hub that the library believes to be the only one, and an empty cache."""
    with local_hub() as hub:
        hub.models = dict(folders)
        monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
        monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
        monkeypatch.setattr(constants, "ENDPOINT", hub.url)
        template = hub.url + "/{repo_id}/resolve/{revision}/{filename}"
        monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", template)
        monkeypatch.setattr(file_download, "HUGGINGFACE_CO_URL_TEMPLATE", template, raising=False)
        monkeypatch.setattr(constants, "DOWNLOAD_CHUNK_SIZE", 8192)  # bytes written at once; 10 MB, usually
        no_pause = SimpleNamespace(sleep=lambda _: None)  # between its attempts
        monkeypatch.setattr("huggingface_hub.file_download.time", no_pause)
        yield hub


def _said(error: type[RunnerError], name: str = NAME, **options: Any) -> str:
    with pytest.raises(error) as raised:
        load_runner(name, device="cpu", **options)
    return str(raised.value)


def test_a_model_of_the_hub_is_the_model_that_was_put_there(hub: LocalHub, folders: dict[str, Path]) -> None:
    heard: list[tuple[str, int, int]] = []
    runner = load_runner(NAME, device="cpu", progress=lambda *stage: heard.append(stage), sandboxed=True)
    here = load_runner(str(folders[f"{NAME}@main"]), device="cpu")
    assert (runner.info.name, runner.info.revision) == (NAME, None)
    request = CaptureRequest("The hub and the folder agree.")
    assert torch.equal(runner.capture(request).logits(-1), here.capture(request).logits(-1))
    size = (folders[f"{NAME}@main"] / WEIGHTS).stat().st_size
    assert max(done for stage, done, _ in heard if stage == "downloading") >= size
    fetched = len(hub.fetched(WEIGHTS))
    load_runner(NAME, device="cpu")
    assert len(hub.fetched(WEIGHTS)) == fetched


@pytest.mark.parametrize("asked", [(f"{NAME}@v1.0", None), (NAME, "v1.0")], ids=["behind the name", "by itself"])
def test_a_version_is_the_one_that_is_asked_for(hub: LocalHub, asked: tuple[str, str | None]) -> None:
    runner = load_runner(asked[0], revision=asked[1], device="cpu")
    assert (runner.info.name, runner.info.revision) == (NAME, "v1.0")
    assert runner.capture(CaptureRequest("v1.0")).record(0).q.shape[0] == 2
    assert load_runner(NAME, device="cpu").capture(CaptureRequest("main")).record(0).q.shape[0] == 4


def test_a_commit_is_a_version(hub: LocalHub) -> None:
    commit = hub.sha(NAME, "v1.0")
    assert load_runner(f"{NAME}@{commit}", device="cpu").info.revision == commit


def test_a_model_that_does_not_fit_into_memory_is_refused_before_the_download(
    hub: LocalHub, folders: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it is going to need counts: in int8 it may fit where its files do not."""
    in_float32 = 4 * sum(one.numel() for one in load_file(folders[f"{NAME}@main"] / WEIGHTS).values())
    free, downloaded = in_float32 - 1, lambda: [given for given in hub.fetched(WEIGHTS) if given is None]
    monkeypatch.setattr(memory, "available", lambda _device: free)
    assert f"only {memory.readable(free)} are free" in _said(ModelTooLarge)
    assert not downloaded()  # of its weights no more than their header was asked for
    monkeypatch.setattr(dtypes, "PACKAGES", {"int8": ()})
    monkeypatch.setattr(Precision, "options", lambda *_: {})  # what is tested ends with the download
    told: list[ModelPreview] = []
    with suppress(RunnerError):
        load_runner(NAME, device="cpu", dtype="int8", preview=told.append)
    assert told[0].needed < free
    assert downloaded()


def test_a_download_that_is_cut_off_goes_on_where_it_was(hub: LocalHub) -> None:
    hub.cuts[WEIGHTS] = [70_000, 10_000]
    load_runner(NAME, device="cpu")
    ranges = hub.fetched(WEIGHTS)
    assert ranges[0] is None
    assert len(ranges) == 3
    starts = [int(str(given).removeprefix("bytes=").rstrip("-")) for given in ranges[1:]]
    assert 0 < starts[0] <= 70_000
    assert starts[0] < starts[1] <= 80_000


def test_a_download_that_breaks_off_says_so_and_can_be_tried_again(hub: LocalHub, tmp_path: Path) -> None:
    hub.cuts[WEIGHTS] = [0] * 20
    assert _said(DownloadBroken).startswith(f"The download of {NAME} was interrupted. Try again")
    assert not list(tmp_path.rglob("*.incomplete"))
    hub.cuts.clear()
    asked = len(hub.asked)
    load_runner(NAME, device="cpu")
    fetched = [
        path.rpartition("/")[2] for method, path, _ in hub.asked[asked:] if method == "GET" and "resolve" in path
    ]
    assert WEIGHTS in fetched
    assert "config.json" not in fetched  # it had arrived whole


@pytest.mark.parametrize(
    "name, error, sentence",
    [
        ("someone/nothing", ModelNotFound, "The hub has no model someone/nothing, or it is private."),
        (f"{NAME}@v9", ModelRevisionMissing, f"The hub has the model {NAME}, but no version v9 of it."),
        (f"{NAME}@../../x", ModelNameInvalid, f"“{NAME}@../../x” is neither a folder nor a model id."),
        (f"{NAME}@", ModelNameInvalid, f"“{NAME}@” is neither"),
        ("default@v1", ModelNameInvalid, "“default@v1” is neither"),
    ],
)
def test_what_the_hub_does_not_have_is_one_sentence(
    hub: LocalHub, name: str, error: type[RunnerError], sentence: str
) -> None:
    assert sentence in _said(error, name)


def test_a_folder_has_no_versions(folders: dict[str, Path]) -> None:
    folder = str(folders[f"{NAME}@main"])
    assert f"“{folder}@v1” is neither" in _said(ModelNameInvalid, folder, revision="v1")


def test_a_gated_model_says_whose_terms_are_to_be_accepted(hub: LocalHub) -> None:
    hub.gated.add(NAME)
    assert "may only be downloaded after its owner's terms were accepted" in _said(ModelGated)


def test_a_disk_without_room_is_said_before_the_download(hub: LocalHub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=1000))
    said = _said(DiskFull)
    assert said.startswith(f"There is no room on the disk for {NAME}:")
    assert "1,000 B are free" in said
    assert not hub.fetched(WEIGHTS)


def test_a_disk_that_fills_up_meanwhile_is_said(hub: LocalHub, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> NoReturn:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(file_download, "http_get", full)
    assert _said(DiskFull).startswith("There is no room on the disk")


def test_a_download_that_is_given_up_ends_and_leaves_nothing_half(hub: LocalHub, tmp_path: Path) -> None:
    hub.slow = threading.Event()
    left = threading.Event()

    def check() -> None:
        if left.is_set():
            raise Cancelled

    ended: list[BaseException] = []

    def load() -> None:
        try:
            load_runner(NAME, device="cpu", check=check)
        except Cancelled as error:
            ended.append(error)

    thread = threading.Thread(target=load)
    thread.start()
    while not any("resolve" in path and method == "GET" for method, path, _ in hub.asked):
        time.sleep(0.01)
    left.set()
    hub.slow.set()
    thread.join(20)
    assert [type(error) for error in ended] == [Cancelled]
    assert not list(tmp_path.rglob("*.incomplete"))


def test_what_it_is_going_to_be_is_told_before_its_weights_are_downloaded(hub: LocalHub) -> None:
    asked: list[bool] = []
    heard: list[ModelPreview] = []

    def hear(preview: ModelPreview) -> None:
        heard.append(preview)
        asked.append(bool(hub.fetched(WEIGHTS)))

    info = load_runner(NAME, device="cpu", preview=hear).info
    before, here = heard
    assert asked == [False, True]
    assert (before.family, before.n_layers, before.n_heads) == ("llama", info.n_layers, info.n_heads)
    assert before == replace(here, missing=before.missing, free=before.free)
    assert before.missing > before.needed
    assert here.missing == 0


def test_what_cannot_be_captured_is_not_downloaded(hub: LocalHub, tmp_path: Path) -> None:
    folder = tmp_path / "hears"
    shutil.copytree(EMBEDDED["translator"], folder)
    config = json.loads((folder / "config.json").read_text("utf-8"))
    sizes = {"encoder_layers": 2, "decoder_layers": 2, "encoder_attention_heads": 2, "decoder_attention_heads": 2}
    written = json.dumps({**config, **sizes, "model_type": "speech_to_text"})
    (folder / "config.json").write_text(written, "utf-8")
    hub.models["someone/hears@main"] = folder
    heard: list[ModelPreview] = []
    assert "its encoder reads sound" in _said(NotCapturable, "someone/hears", preview=heard.append)
    (preview,) = heard
    with safe_open(folder / WEIGHTS, "pt") as file:  # of float16, whatever config.json says
        shapes = [file.get_slice(key).get_shape() for key in file.keys()]  # noqa: SIM118  # it is no dict
    assert preview.n_parameters == sum(map(math.prod, shapes))
    assert not hub.fetched(WEIGHTS)
    assert "is not on this machine" in _said(HubNotAsked, "someone/hears", ask_hub=False)


@pytest.mark.parametrize(
    "family, settings, reason",
    [
        ("fnet", {}, "none of its layers uses transformers' attention interface for softmax attention"),
    ],
)
def test_the_weights_of_a_family_that_is_never_captured_are_not_asked_for(
    hub: LocalHub, tmp_path: Path, family: str, settings: dict[str, Any], reason: str
) -> None:
    tiny(family, AutoModelForMaskedLM, **settings)().save_pretrained(tmp_path / family)
    byte_tokenizer().save_pretrained(tmp_path / family)
    hub.models[f"someone/{family}@main"] = tmp_path / family
    heard: list[ModelPreview] = []
    assert f"The attention of someone/{family} ({family}) cannot be captured: {reason}" in _said(
        NotCapturable, f"someone/{family}", preview=heard.append
    )
    assert [(one.capturable, one.refused is not None) for one in heard] == [(False, True)]
    assert not hub.fetched(WEIGHTS)


def test_what_is_known_of_a_family_is_told_before_the_download(hub: LocalHub, tmp_path: Path) -> None:
    for family, capturable in [("llama", True), ("albert", True), ("deepseek_v4", True)]:
        config = AutoConfig.for_model(family)
        assert can_be_captured(json.loads(config.to_json_string(use_diff=False))) is capturable
    heard: list[ModelPreview] = []
    load_runner(NAME, device="cpu", preview=heard.append)
    assert heard[0].missing > 0
    assert (heard[0].capturable, heard[0].refused) == (True, None)


# -- folders of a model, and adapters ----------------------------------------------------------------------------------


def test_a_folder_inside_a_model_is_a_model(hub: LocalHub, folders: dict[str, Path], tmp_path: Path) -> None:
    """owner/name/folder: of the rest of it nothing is downloaded."""
    whole = tmp_path / "checkpoints"
    for version, step in (("main", "step-1"), ("v1.0", "more/step-2")):
        shutil.copytree(folders[f"{NAME}@{version}"], whole / step)
    hub.models["someone/steps@main"] = whole
    for name, step in (("step-1", "step-1"), ("more/step-2", "more/step-2")):
        runner = load_runner(f"someone/steps/{name}")
        held = load_file(whole / step / WEIGHTS)["model.layers.0.self_attn.q_proj.weight"]
        assert torch.equal(runner.engine.model.get_submodule("model.layers.0.self_attn.q_proj").weight, held)
        assert not [path for _, path, _ in hub.asked if f"/{step}/" not in path and path.endswith(WEIGHTS)]
        hub.asked.clear()
    load_runner("someone/steps/step-1", ask_hub=False)
    with pytest.raises(HubNotAsked, match="The model someone/steps/none is not on this machine"):
        load_runner("someone/steps/none", ask_hub=False)


@pytest.mark.parametrize("name", ["someone/steps/../other", "someone/steps/.", "someone/steps//x", "someone/steps/..."])
def test_no_folder_leads_out_of_a_model(name: str, hub: LocalHub) -> None:
    with pytest.raises(ModelNameInvalid):
        load_runner(name)
    assert not hub.asked


def test_an_adapter_of_the_hub_asks_for_its_base(hub: LocalHub, tmp_path: Path) -> None:
    adapter = tmp_path / "adapter"
    adapter.mkdir()
    at = "base_model.model.model.layers.{}.self_attn.q_proj.lora_{}.weight"
    shapes = {"A": (2, 32), "B": (32, 2)}
    tensors = {at.format(layer, part): torch.ones(shape) for layer in range(3) for part, shape in shapes.items()}
    save_file(tensors, adapter / "adapter_model.safetensors")
    settings = {"peft_type": "LORA", "r": 2, "lora_alpha": 2, "target_modules": ["q_proj"]}
    settings |= {"base_model_name_or_path": NAME, "revision": "main"}
    (adapter / "adapter_config.json").write_text(json.dumps(settings))
    hub.models["someone/lora@main"] = adapter
    with pytest.raises(BaseNotAsked, match=f"The adapter in someone/lora changes the model {NAME}"):
        load_runner("someone/lora", sandboxed=True, agreed=())
    assert not hub.fetched(WEIGHTS)
    runner = load_runner("someone/lora", sandboxed=True, agreed=(NAME,))
    assert runner.info.adapter is not None
    assert runner.base is not None
    text = CaptureRequest("some text")
    assert torch.equal(runner.base.capture(text).logits(-1), load_runner(NAME).capture(text).logits(-1))
    load_runner("someone/lora", sandboxed=True, ask_hub=False, agreed=())  # which is on this machine by now
