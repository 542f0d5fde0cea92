"""A model server answers clients with a key, within its limits, and refuses others before it reads a body."""

from __future__ import annotations

import gc
import socket
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from typing import Any
from urllib.parse import quote

import httpx2
import numpy as np
import pytest
import torch

from analysis.cell_ranking import cell_ranking
from analysis.head_grid import head_grid
from analysis.joined import decoder_side, joined
from analysis.next_token import next_tokens
from analysis.opening import opening_head
from attention import own_metrics
from attention.own_metrics import Offset, register_metric
from model_runner import load_runner
from model_runner.errors import (
    AnswerTooLarge,
    AnswerTooLate,
    Cancelled,
    EncoderSaysNothing,
    KeyRefused,
    ModelNotListed,
    NoSuchPlace,
    OtherVersion,
    QuestionEndsServer,
    QuestionTooLarge,
    RunnerBusy,
    TextTooLongHere,
    TooManyTokensHere,
    Unreadable,
)
from model_runner.local.cancellation import pause
from model_runner.local.engine import Engine
from model_runner.local.local_models import ModelKey, PendingLoad
from model_runner.local.runner import LocalRunner
from model_runner.question import Logits
from model_runner.questions import EndRun, NextToken
from model_runner.remote import server_link
from model_runner.remote.frames import REFUSAL, VERSION, last_frame
from model_runner.request import CaptureRequest, GenerateRequest
from model_runner.wire import FORMAT, from_bytes, to_bytes
from served import answering
from tests.model_runner.cases import FAMILY, TEXT, runner_of
from tests.served.server import KEY, TheseModels, access, remote, serving, settings

HEADERS = {"authorization": f"Bearer {KEY}", VERSION: FORMAT}


@pytest.fixture(scope="module")
def model() -> LocalRunner:
    return runner_of(FAMILY["llama"])


@pytest.fixture(scope="module")
def url(model: LocalRunner) -> Iterator[str]:
    with serving({"llama": model}, settings(text=1000, tokens=50, body="1 MB")) as url:
        yield url


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> Iterator[LocalRunner]:
    """A model whose every capture takes twenty seconds, unless it is left between two of its layers."""
    runner = runner_of(FAMILY["llama"])

    def capture(request: CaptureRequest) -> Any:
        for _ in range(200):
            time.sleep(0.1)
            pause()

    monkeypatch.setattr(runner.engine, "capture", capture)
    yield runner
    runner.close()


def ask(url: str, body: bytes, path: str = "/v1/models/llama/ask", **headers: str) -> tuple[int, Any]:
    """The status, and what is in the last frame or in the refusal."""
    answer = httpx2.post(url + path, content=body, headers=HEADERS | headers, timeout=30)
    if answer.status_code != 200:
        return answer.status_code, from_bytes(answer.content)
    return 200, from_bytes(last_frame([answer.content], lambda _: None)[1], fetch=lambda _: lambda *_: None)


def waited(condition: Any, seconds: float = 10.0) -> float:
    """How long it took until this held."""
    began = time.monotonic()
    while not condition():
        assert time.monotonic() - began < seconds
        time.sleep(0.01)
    return time.monotonic() - began


@pytest.mark.parametrize(
    "headers, status, kind",
    [
        ({"authorization": ""}, 401, KeyRefused),
        ({"authorization": "Bearer another"}, 401, KeyRefused),
        ({"authorization": KEY}, 401, KeyRefused),
        ({VERSION: "attention atlas 1"}, 426, OtherVersion),
    ],
)
def test_whoever_has_no_key_or_another_version_is_refused_before_the_body_is_read(url, headers, status, kind):
    host, port = url.removeprefix("http://").split(":")
    told = HEADERS | headers | {"host": host, "content-length": "900000"}
    with socket.create_connection((host, int(port)), timeout=10) as line:
        head = "".join(f"{name}: {value}\r\n" for name, value in told.items())
        line.sendall(f"POST /v1/models/llama/ask HTTP/1.1\r\n{head}\r\n".encode())  # and nothing of the body
        answer = b""
        while piece := line.recv(65536):
            answer += piece
    head, _, body = answer.partition(b"\r\n\r\n")
    assert head.split()[1] == str(status).encode()
    assert type(from_bytes(body)) is kind


def test_a_body_beyond_the_limit_is_refused_whether_its_length_is_told_or_not(url):
    status, error = ask(url, b"x" * (2 << 20))
    assert (status, type(error)) == (413, QuestionTooLarge)
    assert "1 MB" in str(error)
    pieces = (b"x" * 65536 for _ in range(32))
    answer = httpx2.post(f"{url}/v1/models/llama/ask", content=pieces, headers=HEADERS)
    assert answer.status_code == 413


@pytest.mark.parametrize("name", ["gpt2", "", "../llama", "/etc/passwd", "llama/.."])
def test_only_the_models_of_the_list_are_served(url, name):
    written = quote(name).replace(".", "%2E")  # a client takes .. for the folder above
    status, error = ask(url, to_bytes(CaptureRequest(TEXT)), f"/v1/models/{written}/ask")
    assert (status, type(error)) == (404, ModelNotListed)


def test_a_key_asks_the_models_that_it_is_for(model):
    few = access("few", "one", models=("b",))
    with serving({"a": model, "b": model}, settings(("a", "b"), keys=(few, access("all", "two")))) as url:
        ours = {"authorization": "Bearer one"}
        assert ask(url, to_bytes(CaptureRequest(TEXT)), "/v1/models/b/ask?form=outline", **ours)[0] == 200
        assert type(ask(url, to_bytes(CaptureRequest(TEXT)), "/v1/models/a/ask", **ours)[1]) is ModelNotListed
        assert remote(url, "a", "two").capture(TEXT).n_layers == 3


@pytest.mark.parametrize(
    "question, kind",
    [
        (CaptureRequest("x" * 1001), TextTooLongHere),
        (NextToken(GenerateRequest(TEXT, 51), "run", 0), TooManyTokensHere),
        (Logits(torch.zeros(2_000_000 // 4 // 32, 32)[:7000]), AnswerTooLarge),
    ],
)
def test_a_question_beyond_a_limit_is_refused_in_its_own_sentence(model, question, kind):
    with serving({"llama": model}, settings(text=1000, tokens=50, answer="1 MB")) as url:
        assert type(ask(url, to_bytes(question))[1]) is kind


def test_a_key_has_so_many_questions_in_flight_and_no_more(slow):
    with serving({"llama": slow}, settings(keys=(access(in_flight=1), access("other", "two")))) as url:
        far = remote(url)
        first = far.submit(CaptureRequest(TEXT))
        waited(lambda: slow.worker.queue)
        assert type(ask(url, to_bytes(EndRun("none")))[1]) is RunnerBusy
        theirs = remote(url, key="two").submit(CaptureRequest(TEXT + "!"))
        waited(lambda: theirs.ahead == 1)  # and its reader sees that one is answered before
        first.cancel()
        waited(lambda: theirs.ahead == 0)
        theirs.cancel()


def test_hanging_up_frees_the_model_in_half_a_second(slow):
    with serving({"llama": slow}) as url:
        far = remote(url)
        for _ in range(3):
            job = far.submit(CaptureRequest(TEXT), session="a reader")
            waited(lambda: slow.worker.queue == 1)
            time.sleep(0.2)
            job.cancel()
            assert waited(lambda: slow.worker.queue == 0) <= 0.5
            with pytest.raises(Cancelled):
                job.result()
        older = far.submit(CaptureRequest(TEXT), session="a reader")
        waited(lambda: slow.worker.queue == 1)
        newer = far.submit(CaptureRequest(TEXT + "?"), session="a reader")  # which ends the older
        with pytest.raises(Cancelled):
            older.result()
        waited(lambda: slow.worker.queue == 1)
        far.cancel("a reader")
        assert newer.wait(0.5)
        waited(lambda: slow.worker.queue == 0)


def test_a_question_ends_at_its_deadline(slow):
    with serving({"llama": slow}, settings(seconds=1)) as url:
        with pytest.raises(AnswerTooLate, match="longer than 1 seconds"):
            remote(url).capture(TEXT)
        waited(lambda: slow.worker.queue == 0)


def test_a_text_that_grows_is_its_keys_own(model):
    with serving({"llama": model}, settings(runs=2, keys=(access(), access("other", "two")))) as url:
        theirs = {"authorization": "Bearer two"}
        first = NextToken(GenerateRequest(TEXT, 9), "run", 0)
        assert ask(url, to_bytes(first))[1].index == 0
        assert ask(url, to_bytes(EndRun("run")), **theirs)[1] is None
        assert type(ask(url, to_bytes(NextToken(first.request, "run", 1)), **theirs)[1]) is Cancelled
        assert ask(url, to_bytes(NextToken(first.request, "run", 1)))[1].index == 1
        for name in ("second", "third"):  # of three the one that was continued longest ago had to go
            ask(url, to_bytes(NextToken(first.request, name, 0)))
        assert type(ask(url, to_bytes(NextToken(first.request, "run", 2)))[1]) is Cancelled
        assert ask(url, to_bytes(NextToken(first.request, "second", 1)))[1].index == 1


def test_health_needs_no_key_and_tells_nothing(url, model, monkeypatch):
    assert httpx2.get(f"{url}/health").text == "ok"
    monkeypatch.setattr(model.worker, "lost", True)
    assert httpx2.get(f"{url}/health").status_code == 503


class Anew(TheseModels):
    """Loads another runner where one hangs: the first so many of them do, on texts with this word in them."""

    def __init__(self, sick: str, times: int) -> None:
        super().__init__({"llama": runner_of(FAMILY["llama"])})
        self._silence, self._sick, self._times = 0.5, sick, times
        self.go, self.loaded = threading.Event(), 0
        self._hurt(self._held[ModelKey("llama")].result())

    def _load(self, asked: ModelKey, loading: PendingLoad, ask_hub: bool, agreed: frozenset[str]) -> LocalRunner:
        runner = runner_of(FAMILY["llama"])
        self._hurt(runner)
        return runner

    def _hurt(self, runner: LocalRunner) -> None:
        runner.worker.silence = self._silence
        self.loaded += 1
        if self.loaded > self._times:
            return
        assert isinstance(runner.engine, Engine)
        write, mlp = runner.engine.write, runner.engine.model.get_submodule("model.layers.1.mlp")

        def hang(request: Any) -> Any:
            if self._sick in request.text:
                mlp.register_forward_pre_hook(lambda *_: self.go.wait(30))
            return write(request)

        runner.engine.write = hang


@pytest.fixture
def anew() -> Iterator[Callable[[int], Anew]]:
    made: list[Anew] = []

    def make(times: int) -> Anew:
        made.append(Anew("sick", times))
        return made[-1]

    yield make
    for one in made:
        one.go.set()


def test_a_model_that_hangs_is_loaded_anew_and_every_reader_gets_an_answer(anew):
    models = anew(1)
    with serving(models) as url:
        far, began = remote(url), time.monotonic()
        hangs = far.submit(CaptureRequest("sick"))
        waited(lambda: models.work()[0])
        others = [far.submit(CaptureRequest(f"reader {number}")) for number in range(3)]
        assert [one.result().text for one in others] == [f"reader {number}" for number in range(3)]
        assert hangs.result().text == "sick"  # the second time it did not hang
        assert far.capture("sick").verify(1).ok
        assert time.monotonic() - began < 15
        assert models.loaded == 2
        assert httpx2.get(f"{url}/health").text == "ok"


@pytest.mark.parametrize("ask", [
    lambda far: far.capture("sick"),
    lambda far: list(far.generate(GenerateRequest("sick", 3))),
], ids=["a capture", "a text that grows"])  # fmt: skip
def test_a_question_that_hangs_two_models_is_not_asked_a_third_time(anew, ask):
    models = anew(100)
    with serving(models) as url:
        far = remote(url)
        with pytest.raises(QuestionEndsServer, match="stopped 2 times while it worked on this question"):
            ask(far)
        assert models.loaded == 2
        assert far.capture("others").verify(1).ok  # who asks something else has the model anew
        assert models.loaded == 3


def test_a_server_that_works_longer_than_it_is_listened_to_says_so_all_the_while(slow, monkeypatch):
    monkeypatch.setattr(server_link, "SILENCE", 1.2)
    with serving({"llama": slow}) as url:
        job = remote(url).submit(CaptureRequest(TEXT))
        assert not job.wait(2.5)
        job.cancel()


def test_a_refusal_in_a_frame_is_a_sentence(url):
    answer = httpx2.post(f"{url}/v1/models/llama/ask", content=to_bytes(CaptureRequest("")), headers=HEADERS)
    kind, data = last_frame([answer.content], lambda _: None)
    assert kind == REFUSAL
    assert str(from_bytes(data)).startswith("There is no text to look at.")


def test_many_readers_at_once_get_their_own_answers(url):
    far, wrong = remote(url), []

    def read(number: int) -> None:
        capture = far.capture(f"reader {number} reads")
        if capture.text != f"reader {number} reads" or not capture.verify(1).ok:
            wrong.append(number)

    threads = [threading.Thread(target=read, args=(number,)) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert wrong == []


def test_the_parts_of_a_capture_are_listed_once_and_go_with_it(url, model, monkeypatch):
    listed, plain = list[object](), answering.parts
    monkeypatch.setattr(answering, "parts", lambda capture: listed.append(capture.text) or plain(capture))
    capture = remote(url).capture(TEXT + " in parts")
    for head in range(4):
        assert capture.weights(1, head) is not None
    assert listed == [capture.text]
    kept = weakref.ref(model.capture(TEXT + " in parts"))
    assert kept() in answering._PARTS
    model.forget()
    gc.collect()
    assert kept() is None


@pytest.mark.parametrize("family", ["llama", "gpt2", "bert", "deepseek-v3.2", "qwen3-next", "translator"])
def test_the_grid_of_every_head_is_made_at_the_server_and_is_the_same(family):
    """Of every attention that the model has; no tensor is sent for it."""
    own = load_runner(family, device="cpu") if family == "translator" else runner_of(FAMILY[family])
    with serving({"llama": own}) as url:
        far, words = remote(url), "the wolf saw the wolf and the cat " * 8
        for attention in own.info.attentions or ("",):
            request = CaptureRequest(words, **({"attention": attention} if attention else {}))
            here, there = own.capture(request), far.capture(request)
            if attention == "cross":  # two texts, which are joined here
                here, there = joined(here), joined(there)
            before = far.link.bytes_in
            found, expected = head_grid(there), head_grid(here)
            sent = far.link.bytes_in - before
            np.testing.assert_array_equal(found.thumbnails, expected.thumbnails)
            np.testing.assert_array_equal(found.keep, expected.keep)
            assert found.has_weights == expected.has_weights
            assert (found.left_out is None) == (expected.left_out is None)
            assert list(found.metrics) == list(expected.metrics)
            for name, values in expected.metrics.items():
                np.testing.assert_allclose(found.metrics[name], values, atol=1e-6)
            pixels = found.thumbnails.nbytes + found.keep.nbytes * 2
            assert attention == "cross" or sent < pixels + 20_000


@pytest.mark.parametrize("family", ["llama", "gpt2", "bert", "deepseek-v3.2", "qwen3-next", "translator"])
def test_the_head_to_open_and_a_cell_of_every_head_are_found_at_the_server_and_are_the_same(family):
    """A number a head is sent for them, but for two texts that are joined here."""
    own = load_runner(family, device="cpu") if family == "translator" else runner_of(FAMILY[family])
    with serving({"llama": own}) as url:
        far, words = remote(url), "the wolf saw the wolf and the cat"
        for attention in own.info.attentions or ("",):
            request = CaptureRequest(words, **({"attention": attention} if attention else {}))
            here, there = own.capture(request), far.capture(request)
            if attention == "cross":
                here, there = joined(here), joined(there)
            before = far.link.bytes_in
            assert opening_head(there) == opening_head(here)
            found, expected = cell_ranking(there, 5, 2), cell_ranking(here, 5, 2)
            np.testing.assert_allclose(found.weights, expected.weights, atol=1e-6)
            assert attention == "cross" or far.link.bytes_in - before < 500 + 4 * found.weights.size


def test_a_cell_that_there_is_not_is_refused(url):
    far = remote(url)
    request = far.capture(TEXT).request
    with pytest.raises(NoSuchPlace, match="position 9000"):
        far.cell(request, 9000, 0)
    for wrong in ("at=1", "at=1&at=-1", "at=x&at=1", ""):
        status, error = ask(url, to_bytes(request), path=f"/v1/models/llama/cell?{wrong}")
        assert (status, type(error)) == (422, Unreadable)


def test_a_grid_with_metrics_of_ones_own_or_of_tensors_that_are_here_is_made_here(url, model):
    far = remote(url)
    capture = far.capture(CaptureRequest(TEXT))
    register_metric("test_back", Offset(2))
    try:
        before = far.link.requests
        assert "test_back" in head_grid(capture).metrics
        assert far.link.requests > before + 1
    finally:
        own_metrics._own.clear()
    before = far.link.requests
    head_grid(capture)
    assert far.link.requests == before


@pytest.mark.parametrize("family", ["llama", "gpt2", "translator"])
def test_what_comes_next_is_sent_without_the_vocabulary_and_is_the_same(family):
    own = load_runner(family, device="cpu") if family == "translator" else runner_of(FAMILY[family])
    with serving({"llama": own}) as url:
        far, request = remote(url), CaptureRequest(TEXT)
        for whole in (decoder_side, lambda one: joined(one.attention("cross")) if one.attentions else one):
            here, there = whole(own.capture(request)), whole(far.capture(request))
            before, asked = far.link.bytes_in, far.link.requests
            for position in (-1, len(here.tokens) - 1, -1):
                found, expected = next_tokens(there, position), next_tokens(here, position)
                assert found.ids == expected.ids
                assert found.probabilities == pytest.approx(expected.probabilities, abs=1e-6)
                assert found.rest == pytest.approx(expected.rest, abs=1e-6)
                probabilities = torch.softmax(here.logits(position).double(), -1)
                assert found.probabilities == pytest.approx(probabilities[list(found.ids)].tolist(), abs=1e-9)
            assert far.link.requests - asked <= 1  # what was answered once is kept
            assert far.link.bytes_in - before < 1500
        with pytest.raises(EncoderSaysNothing) if family == "translator" else nullcontext():
            next_tokens(far.capture(CaptureRequest(TEXT, attention="encoder" if family == "translator" else None)))
