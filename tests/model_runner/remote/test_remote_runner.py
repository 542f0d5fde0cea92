"""A runner with a remote model: the same numbers, few bytes, and retries when servers end."""

from __future__ import annotations

import gc
import socket
import threading
import time
import weakref
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest
import torch

from model_runner.capture_file import load_capture
from model_runner.edits import SharpenedHead
from model_runner.errors import (
    Cancelled,
    KeyRefused,
    ModelNotListed,
    NoSuchMatrix,
    NoSuchPlace,
    OtherVersion,
    QuestionEndsServer,
    QuestionTooLarge,
    RunnerAway,
    RunnerBusy,
    Unreadable,
)
from model_runner.local.runner import LocalRunner
from model_runner.remote import server_link
from model_runner.remote.frames import ANSWER, FRAMES, HEAD, VALUE, VERSION, WAITING, frame
from model_runner.remote.job import RemoteJob
from model_runner.remote.models import RemoteModels, remote_runner
from model_runner.remote.runner import RemoteRunner
from model_runner.request import CaptureRequest, GenerateRequest
from model_runner.runner import Runner
from model_runner.transforms import Sampling
from model_runner.wire import FORMAT, from_bytes, outline, to_bytes
from served.answering import QuestionEndpoint
from tests.model_runner.cases import FAMILY, TEXT, runner_of
from tests.model_runner.test_wire import everything, same
from tests.served.server import KEY, free_port, remote, serving, settings

SAMPLED = GenerateRequest(TEXT, 10, sampling=Sampling(temperature=0.9, top_k=40, seed=5))


@pytest.fixture(scope="module")
def own() -> LocalRunner:
    return runner_of(FAMILY["llama"])


@pytest.fixture(scope="module")
def url(own: LocalRunner) -> Generator[str]:
    with serving({"llama": own}) as url:
        yield url


@pytest.fixture
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tries that follow one another at once."""
    monkeypatch.setattr(server_link, "WAIT", 0.01)


@contextmanager
def answering(*answers: bytes) -> Generator[tuple[str, list[bytes]]]:
    """A server that says these bytes, one after the other and then the last again, and hangs up after each."""
    asked: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            while True:
                try:
                    line, _ = listening.accept()
                except OSError:
                    return
                with line:
                    asked.append(line.recv(1 << 20))
                    line.sendall(answers[min(len(asked), len(answers)) - 1])

        threading.Thread(target=serve, daemon=True).start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}", asked
        listening.shutdown(socket.SHUT_RDWR)


def said(status: str, body: bytes = b"", kind: str = VALUE, version: str = FORMAT) -> bytes:
    head = f"HTTP/1.1 {status}\r\n{VERSION}: {version}\r\ncontent-type: {kind}\r\ncontent-length: {len(body)}\r\n\r\n"
    return head.encode() + body


BEGUN = (
    f"HTTP/1.1 200 OK\r\n{VERSION}: {FORMAT}\r\ncontent-type: {FRAMES}\r\ntransfer-encoding: chunked\r\n\r\n".encode()
)
DIES = BEGUN + b"d\r\n" + frame(WAITING, bytes(4)) + b"\r\n"  # it says that it works on it, and is gone
assert HEAD.size + 4 == 0xD


def at(url: str, own: LocalRunner) -> RemoteRunner:
    """A runner that believes this server to have the model."""
    about = {"info": own.info, "base_info": None, "chat": False}
    return RemoteRunner(RemoteModels(url, KEY).link, "llama", about)


def test_it_is_a_runner_of_the_same_model(own, url):
    far = remote(url)
    assert isinstance(far, Runner)
    assert far.info == own.info
    assert far.has_chat_template == own.has_chat_template
    every = range(own.info.n_vocab)
    assert list(map(far.token_text, every)) == list(map(own.token_text, every))
    assert far.ids_of("the dog") == own.ids_of("the dog")
    assert far.capture(CaptureRequest(TEXT)) is far.capture(TEXT)  # kept here


def test_an_outline_has_few_bytes_a_token_and_its_parts_come_when_they_are_computed_with(url, own):
    far = remote(url)
    text = TEXT + " and went on" * 30
    before = far.link.bytes_in
    capture = far.capture(text)
    short = len(outline(own.capture(TEXT)))
    tokens = len(capture.tokens) - len(own.capture(TEXT).tokens)
    assert (far.link.bytes_in - before - short) / tokens <= 20
    record = capture.record(1)
    assert record.q.shape == own.capture(text).q(1).shape
    assert capture.nbytes == own.capture(text).nbytes
    asked = far.link.requests
    assert torch.equal(capture.weights(1, 2), own.capture(text).weights(1, 2))
    assert far.link.requests == asked + 1  # one head of q, and its keys
    assert far.link.bytes_in - before < 40_000
    assert capture.weights(1, 2) is not None
    assert far.link.requests == asked + 1  # they are here now
    before = far.link.bytes_in
    assert capture.verify(1) == own.capture(text).verify(1)
    assert far.link.bytes_in - before < 1000
    asked = far.link.requests
    assert capture.verify(1).ok
    assert far.link.requests == asked


def test_a_capture_that_the_server_does_not_keep_is_made_again(own, url):
    far = remote(url)
    capture = far.capture(TEXT + " forgotten")
    own.forget()
    assert torch.equal(capture.q(0), own.capture(TEXT + " forgotten").q(0))


def test_the_matrices_of_heads_are_those_of_the_model_and_one_that_is_not_there_is_the_same_sentence(url, own):
    far = remote(url)
    for name in ("W_Q", "W_K", "W_V", "W_O"):
        assert torch.equal(getattr(far, name)(-1), getattr(own, name)(-1))
    with pytest.raises(NoSuchPlace, match="layer 3"):
        far.W_Q(3)
    with serving({"llama": runner_of(FAMILY["deepseek-v3"])}) as latent:
        with pytest.raises(NoSuchMatrix, match="Layer 2 has no W_K"):
            remote(latent).W_K(-1)
        assert remote(latent).capture(TEXT).n_layers == 3


def test_questions_that_follow_one_another_share_one_connection(url, monkeypatch):
    ports, plain = list[int](), QuestionEndpoint.__call__

    async def noticed(self: QuestionEndpoint, scope: Any, receive: Any, send: Any) -> None:
        ports.append(scope["client"][1])
        await plain(self, scope, receive, send)

    monkeypatch.setattr(QuestionEndpoint, "__call__", noticed)
    capture = remote(url).capture(TEXT + " on one line")
    for layer in range(capture.n_layers):
        assert capture.verify(layer).ok
        assert capture.weights(layer, 0) is not None
    assert len(ports) == 1 + 2 * capture.n_layers
    assert len(set(ports)) == 1


def test_an_answer_that_is_whole_counts_though_its_connection_breaks_behind_it(own):
    answer = frame(ANSWER, outline(own.capture(TEXT)))
    with answering(BEGUN + f"{len(answer):x}\r\n".encode() + answer + b"\r\n") as (url, asked):
        assert at(url, own).capture(TEXT).n_layers == 3
        assert len(asked) == 1


def test_a_job_that_is_cancelled_hangs_nobody_elses_line_up():
    job, hangs, hung = RemoteJob[int](), threading.Event(), list[str]()

    def hang_up() -> None:
        hangs.set()
        time.sleep(0.2)
        hung.append("its own")

    job.on_line(hang_up)
    cancelling = threading.Thread(target=job.cancel)
    cancelling.start()
    assert hangs.wait(5)
    job.on_line(lambda: None)  # from here on the connection is another's
    assert hung == ["its own"]
    cancelling.join()


def test_an_outline_can_be_saved_whole(tmp_path, url, own):
    remote(url).capture(TEXT).save(tmp_path / "far.safetensors")
    back = load_capture(tmp_path / "far.safetensors")
    for mine, its in zip(everything(back)[:20], everything(own.capture(TEXT))[:20], strict=True):
        assert same(mine, its)


def test_a_record_of_an_outline_is_replaced_as_any_other(url, own):
    record = remote(url).capture(TEXT).record(0)
    half = replace(record, q=record.q[:2], k=record.k[:1], v=record.v[:1], output=record.output[:, :2])
    every = slice(0, record.q.shape[1])
    expected = own.capture(TEXT).layer_weights(0, every)[:2]
    assert torch.allclose(half.weights(slice(0, 2), every, every, 128), expected, atol=1e-6)


@pytest.mark.parametrize("edits", [(), (SharpenedHead(1, 0, 2.0),)])
def test_a_text_that_grows_is_taken_up_at_another_server_with_the_same_tokens(own, soon, edits):
    asked, port = replace(SAMPLED, edits=edits), free_port()
    expected = list(own.generate(asked))
    with serving({"llama": own}, settings(port=port)) as url:
        far = remote(url)
        steps = far.generate(asked, session="a reader")
        found = [next(steps) for _ in range(4)]
    with serving({"llama": runner_of(FAMILY["llama"])}, settings(port=port)):
        found += list(steps)
    assert [step.token for step in found] == [step.token for step in expected]
    assert [step.index for step in found] == list(range(10))
    assert [step.stop for step in found] == [step.stop for step in expected]
    for mine, its in zip(found, expected, strict=True):
        assert [token.id for token in mine.capture.tokens] == [token.id for token in its.capture.tokens]
        assert torch.allclose(mine.capture.q(2), its.capture.q(2), atol=1e-5)
        assert torch.allclose(mine.capture.residual(-1), its.capture.residual(-1), atol=1e-5)
    assert found[3].capture.q(0).shape[1] == len(found[3].capture.tokens)  # what came before stayed as it was


def test_a_step_costs_its_own_rows_and_not_the_whole_text(url, own):
    far = remote(url)
    steps = far.generate(GenerateRequest(TEXT + " on" * 60, 12))
    sizes, before, whole = [], far.link.bytes_in, 0
    for _ in range(6):
        step = next(steps)
        sizes.append(far.link.bytes_in - before)
        before = far.link.bytes_in
        whole = len(to_bytes(step))
    assert max(sizes[1:]) < whole / 5


def test_a_race_is_never_taken_up_elsewhere(own, soon):
    port = free_port()
    with serving({"llama": own}, settings(port=port)) as url:
        race = remote(url).race(GenerateRequest(TEXT, 5))
        next(race)
    with serving({"llama": runner_of(FAMILY["llama"])}, settings(port=port)), pytest.raises(Cancelled):
        next(race)  # its seconds would be of two machines: it begins anew


def test_a_question_waits_for_a_server_that_is_started_again(own, url):
    port = free_port()
    far = at(f"http://127.0.0.1:{port}", own)
    job = far.submit(CaptureRequest(TEXT))
    assert not job.wait(0.4)
    with serving({"llama": own}, settings(port=port)):
        assert job.result().n_layers == 3


def test_a_question_that_ends_two_servers_is_not_asked_a_third_time(own, soon):
    with answering(DIES) as (url, asked):
        far = at(url, own)
        for _ in range(2):
            with pytest.raises(QuestionEndsServer, match="stopped 2 times"):
                far.capture(TEXT)
        assert len(asked) == 2
        with pytest.raises(QuestionEndsServer):
            far.capture(TEXT + "!")  # another question is asked
        assert len(asked) == 4


def test_a_connection_that_breaks_before_the_question_is_taken_counts_as_no_death(own, soon):
    with answering(b"") as (url, asked):
        with pytest.raises(RunnerAway):
            at(url, own).capture(TEXT)
        assert len(asked) == server_link.TRIES


@pytest.mark.parametrize(
    "answer, kind, tries",
    [
        (said("502 Bad Gateway", b"<html>", "text/html"), RunnerBusy, server_link.TRIES),
        (said("500 Internal Server Error", b"it died", "text/plain"), QuestionEndsServer, server_link.DEATHS),
        (said("429 Too Many", to_bytes(RunnerBusy())), RunnerBusy, server_link.TRIES),
        (said("413 Too Large", b"<html>", "text/html"), QuestionTooLarge, 1),
        (said("404 Not Found", b"<html>", "text/html"), RunnerAway, 1),
        (said("401 Unauthorized", to_bytes(KeyRefused())), KeyRefused, 1),
        (said("403 Forbidden", b"no", "text/plain"), KeyRefused, 1),
        (said("200 OK", b"<html>", "text/html"), RunnerAway, 1),
        (said("200 OK", to_bytes(3), version="attention atlas 1"), OtherVersion, 1),
        (b"SSH-2.0-OpenSSH\r\n", RunnerAway, server_link.TRIES),
    ],
)
def test_whatever_answers_is_told_in_one_sentence(own, soon, answer, kind, tries):
    with answering(answer) as (url, asked):
        with pytest.raises(kind) as error:
            at(url, own).capture(TEXT)
        assert len(asked) == tries
        assert "Traceback" not in str(error.value)


def test_no_server_is_told_at_once():
    began = time.monotonic()
    with pytest.raises(RunnerAway, match="does not answer .Connection refused."):
        remote_runner(f"http://127.0.0.1:{free_port()}/llama", KEY)
    assert time.monotonic() - began < 3


def test_a_url_names_its_model_or_takes_the_first(url):
    assert remote_runner(f"{url}/llama", KEY).info.name == "llama"
    assert remote_runner(url, KEY).info.name == "llama"
    with pytest.raises(ModelNotListed, match="llama"):
        remote_runner(f"{url}/gpt2", KEY)
    with pytest.raises(KeyRefused):
        remote_runner(url, "another")


def test_what_grows_for_a_session_ends_with_it(own, url):
    far = remote(url)
    before = set(own._answers._runs)
    steps = far.generate(SAMPLED, session="a reader")
    next(steps)
    begun = set(own._answers._runs) - before
    assert len(begun) == 1
    far.cancel("a reader")
    _until(lambda: not begun & set(own._answers._runs))
    with pytest.raises(Cancelled):
        next(steps)


def test_a_runner_that_nobody_holds_is_freed(url):
    far = remote(url)
    far.capture(TEXT).weights(0, 0)
    held = weakref.ref(far)
    del far
    gc.collect()
    assert held() is None


def test_bytes_of_an_outline_are_read_only_where_its_parts_are_fetched(own):
    with pytest.raises(Unreadable):
        from_bytes(outline(own.capture(TEXT)))


def _until(condition: Callable[[], Any]) -> None:
    began = time.monotonic()
    while not condition():
        assert time.monotonic() - began < 10
        time.sleep(0.01)
