"""The model cache holds few models, loads each once, forgets failures, and frees evicted models."""

from __future__ import annotations

import gc
import threading
import time
import weakref
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from model_runner.errors import (
    Cancelled,
    LoadingTooLong,
    ModelFolderMissing,
    ModelNotListed,
    ModelSilent,
    NotCapturable,
    RunnerError,
)
from model_runner.local import local_models as module
from model_runner.local.loading.config_preview import StoredWeights, preview_config
from model_runner.local.loading.dtypes import Precision
from model_runner.local.local_models import MOST_LOADINGS, MOST_MODELS, LocalModels, PendingLoad
from model_runner.local.runner import LocalRunner
from model_runner.request import CaptureRequest
from tests.model_runner.cases import FAMILY, runner_of
from tests.model_runner.folders import save
from tests.model_runner.tiny import byte_tokenizer, tiny

pytestmark = pytest.mark.table  # its tests take a second each

SOON = 20.0  # seconds after which a test that waits in vain gives up
Progress = Callable[[str, int, int], None]


PREVIEW = preview_config(
    "a", {"model_type": "llama"}, StoredWeights(4000, 1000), numbers=Precision(torch.float32), device="cpu"
)


class Loader:
    """Stands in for load_runner: gives a tiny model under any name, and remembers what it was asked for."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.given: list[tuple[str, str]] = []
        self.failing: set[str] = set()
        self.cancelling = False
        self.begun, self.go = threading.Event(), threading.Event()
        self.go.set()

    def __call__(
        self,
        name: str,
        *,
        progress: Progress,
        preview: Callable[[Any], None],
        make_room: Callable[[], None],
        check: Callable[[], None],
        device: str,
        dtype: str,
        **_: Any,
    ) -> LocalRunner:
        self.asked.append(name)
        self.given.append((device, dtype))
        preview(PREVIEW if name != "bad" else replace(PREVIEW, name="bad"))
        while self.cancelling:
            check()
        progress("downloading", 5, 10)
        self.begun.set()
        assert self.go.wait(SOON)
        if name in self.failing:
            raise ModelFolderMissing(name=name)
        make_room()
        return LocalRunner(tiny("llama", num_hidden_layers=1)(), byte_tokenizer(), name=name, device="cpu")


@pytest.fixture
def loader(monkeypatch: pytest.MonkeyPatch) -> Loader:
    loader = Loader()
    monkeypatch.setattr(module, "load_runner", loader)
    return loader


def _held(cache: LocalModels) -> list[str]:
    return [asked.name for asked in cache._held]


def test_a_model_is_loaded_once_and_shared(loader: Loader) -> None:
    cache = LocalModels()
    first = cache.open("a")
    assert cache.open("a") is first
    assert first.result() is cache.open("a").result()
    assert first.result().info.name == "a"
    assert loader.asked == ["a"]


def test_one_model_in_two_dtypes_is_two(loader: Loader) -> None:
    cache = LocalModels()
    assert cache.open("a", dtype="bfloat16").result() is not cache.open("a").result()
    assert loader.given == [("auto", "bfloat16"), ("auto", "auto")]


def test_a_listed_model_is_loaded_in_one_way_alone(loader: Loader) -> None:
    cache = LocalModels(("a",))
    assert cache.open("a", device="cpu", dtype="float16").result() is cache.open("a").result()
    assert loader.given == [("auto", "auto")]


def test_opening_returns_at_once_and_tells_how_far_loading_is(loader: Loader) -> None:
    loader.go.clear()
    cache = LocalModels()
    loading = cache.open("a")
    assert not loading.wait(0.01)
    assert loader.begun.wait(SOON)
    assert loading.progress == ("downloading", 5, 10)
    others = [cache.open(f"other {i}") for i in range(MOST_LOADINGS - 1)]  # nobody waits for another's loading
    while len(loader.asked) < MOST_LOADINGS:
        others[-1].wait(0.01)
    queued = cache.open("b")
    assert queued.progress == ("waiting", 0, 0)
    loader.go.set()
    assert loading.wait(SOON)
    assert loading.result().info.name == "a"
    assert queued.result().info.name == "b"


def test_a_loading_tells_its_stages_in_order(tmp_path: Path) -> None:
    heard: list[str] = []

    class Listening(PendingLoad):
        def report(self, stage: str, done: int, total: int) -> None:
            heard.append(stage)
            super().report(stage, done, total)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "PendingLoad", Listening)
        LocalModels().open(str(save(tmp_path / "model"))).result()
    assert heard == ["checking", "loading", "preparing"]


def test_what_it_is_going_to_be_is_shown_while_it_loads_and_where_it_cannot_be_loaded(loader: Loader) -> None:
    cache, shown = LocalModels(), list[Any]()

    def say(*_: object) -> None:
        if shown:
            loader.go.set()

    loader.go.clear()
    cache.runner("a", say, shown.append)
    assert shown == [PREVIEW]
    cache.runner("a", say, shown.append)
    assert len(shown) == 1  # it is there: its numbers are seen on every page
    loader.failing.add("bad")
    with pytest.raises(ModelFolderMissing):
        cache.runner("bad", say, shown.append)
    assert shown[-1].name == "bad"


def test_a_failure_is_told_to_all_who_wait_and_can_be_tried_again(loader: Loader) -> None:
    loader.failing.add("a")
    loader.go.clear()
    cache = LocalModels()
    both = [cache.open("a"), cache.open("a")]
    loader.go.set()
    for loading in both:
        with pytest.raises(ModelFolderMissing, match="There is no folder a"):
            loading.result()
        assert loading.wait(0.0)
    assert loader.asked == ["a"]
    with pytest.raises(ModelFolderMissing):
        cache.open("a").result()
    loader.failing.clear()
    assert cache.open("a").result().info.name == "a"
    assert loader.asked == ["a", "a", "a"]


def test_a_failure_is_not_kept_and_neither_is_what_it_had_loaded(loader: Loader) -> None:
    loader.failing.add("bad")
    cache = LocalModels()
    cache.open("good").result()
    with pytest.raises(ModelFolderMissing):
        cache.open("bad").result()
    assert _held(cache) == ["good"]
    assert cache.open("good").result().worker.submit(lambda _: 1).result() == 1  # and costs no other its place


def test_a_loading_that_nobody_waits_for_ends_and_others_go_on(loader: Loader, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PATIENCE", 0.2)
    cache = LocalModels()
    left = cache.open("left")
    left.result()
    loading = PendingLoad(asked=left.asked - 1)
    with pytest.raises(Cancelled):
        loading.check()
    loading.future = left.future
    assert loading.wait(0.0)
    loading.check()  # asked for again
    loader.cancelling = True
    abandoned = cache.open("abandoned")
    with pytest.raises(Cancelled):
        abandoned.future.result(SOON)  # which does not ask as wait() does
    assert _held(cache) == ["left"]
    loader.cancelling = False
    assert cache.open("abandoned").result().info.name == "abandoned"


def test_a_loading_that_takes_for_ever_ends_but_a_download_may(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LONGEST", -1.0)
    loading = PendingLoad()
    loading.report("downloading", 1, 10**12)
    loading.check()
    loading.report("preparing", 0, 0)
    with pytest.raises(LoadingTooLong):
        loading.check()


def test_only_listed_models_are_loaded_where_there_is_a_list(loader: Loader) -> None:
    cache = LocalModels(("default", "a"))
    assert cache.open("a").result().info.name == "a"
    for name in ("b", "/etc", "/etc/nosuch", "~root", " a"):
        with pytest.raises(ModelNotListed, match="This server offers only these models: default, a"):
            cache.open(name)
    assert loader.asked == ["a"]


def test_a_model_refused_after_loading_is_freed(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[weakref.ref[Any]] = []

    def refuse(name: str, **_: Any) -> LocalRunner:
        model = tiny("llama", num_hidden_layers=1)()
        seen.append(weakref.ref(model))
        raise NotCapturable(name=name, family="llama", reason=f"of {type(model).__name__}")

    monkeypatch.setattr(module, "load_runner", refuse)
    cache = LocalModels()
    with pytest.raises(NotCapturable):
        cache.open("a").result()
    gc.collect()
    assert seen[0]() is None


def test_the_model_used_longest_ago_is_given_up_for_a_new_one(loader: Loader) -> None:
    cache = LocalModels()
    names = [f"model {i}" for i in range(MOST_MODELS)]
    runners = {name: cache.open(name).result() for name in names}
    cache.open(names[0])  # used again
    cache.open("new").result()
    assert _held(cache) == [names[0], "new"]
    assert cache.open(names[0]).result() is runners[names[0]]
    assert cache.open(names[1]).result() is not runners[names[1]]  # loaded anew


@pytest.mark.long
def test_a_name_that_there_is_not_costs_no_model_its_place(tmp_path: Path) -> None:
    folders = [str(save(tmp_path / name)) for name in "ab"]
    wrong = (str(tmp_path / "mistyped"), "not a name at all", str(tmp_path))
    cache = LocalModels((*folders, *wrong))
    held = [cache.open(name).result() for name in folders]
    for name in wrong:
        with pytest.raises(RunnerError):
            cache.open(name).result()
    assert _held(cache) == folders
    assert [cache.open(name).result() for name in folders] == held


def test_a_model_that_was_given_up_answers_that_it_was_cancelled(loader: Loader) -> None:
    cache = LocalModels()
    old = cache.open("old").result()
    capture = old.capture(CaptureRequest(text="hello"))
    for i in range(MOST_MODELS):
        cache.open(f"model {i}").result()
    with pytest.raises(Cancelled):
        old.capture(CaptureRequest(text="more"))
    with pytest.raises(Cancelled):
        capture.logits(-1)
    assert capture.verify(0).ok  # what needs no model is still there


def test_a_model_whose_forward_hangs_is_given_up_and_loaded_anew(loader: Loader) -> None:
    cache, go = LocalModels(silence=0.3), threading.Event()
    hung, other = cache.open("hung").result(), cache.open("other").result()
    stuck = hung.engine.model.get_submodule("model.layers.0.mlp").register_forward_pre_hook(lambda *_: go.wait(SOON))
    waiting = [hung.submit(CaptureRequest(text=text), session=text) for text in ("first", "second")]
    began = time.monotonic()
    for job in waiting:
        with pytest.raises(ModelSilent, match="The model hung stopped answering"):
            job.result()
    with pytest.raises(ModelSilent):
        hung.capture(CaptureRequest(text="third"))
    anew = cache.open("hung").result()
    assert anew is not hung
    assert anew.capture(CaptureRequest(text="first")).verify(0).ok
    assert anew.capture(CaptureRequest(text="second")).verify(0).ok
    assert time.monotonic() - began < SOON / 2
    assert cache.open("other").result() is other  # others go on as before
    assert loader.asked == ["hung", "other", "hung"]
    kept = cache.kept.nbytes
    go.set()
    hung.worker._thread.join(SOON)
    assert not hung.worker._thread.is_alive()
    assert cache.kept.nbytes == kept  # what hung keeps nothing
    stuck.remove()


def test_a_model_that_is_slow_between_its_layers_is_not_given_up() -> None:
    slow = runner_of(FAMILY["llama"])
    slow.worker.silence = 0.5
    layers = range(slow.info.n_layers)
    for layer in layers:
        slow.engine.model.get_submodule(f"model.layers.{layer}.mlp").register_forward_pre_hook(
            lambda *_: time.sleep(0.35)
        )
    began = time.monotonic()
    job = slow.submit(CaptureRequest(text="hello"))
    while not job.wait(0.02):
        pass
    assert job.result().verify(0).ok
    assert time.monotonic() - began >= 0.35 * len(layers) > 0.5  # longer than it may be silent
    assert not slow.lost
    slow.close()


def test_a_model_that_was_given_up_is_freed(tmp_path: Path) -> None:
    # With the real loader, which freezes what it loaded; and captures, which hold their runner that holds them.
    folders = [str(save(tmp_path / f"model {i}")) for i in range(MOST_MODELS + 1)]
    cache = LocalModels(tuple(folders))
    seen: list[weakref.ref[Any]] = []
    for folder in folders:
        runner = cache.open(folder).result()
        runner.capture(CaptureRequest(text="hello")).direct_logits(0, 0, -1)
        seen.append(weakref.ref(runner.engine.model))
        del runner
    assert [model() is None for model in seen] == [True] + [False] * MOST_MODELS
