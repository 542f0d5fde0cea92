"""A request is a value, and its answer belongs to exactly that request: nobody else's, and not outdated."""

from __future__ import annotations

import dataclasses
import gc
import threading
import weakref
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

import pytest
import torch

from model_runner.byte_lru import ByteBudgetCache
from model_runner.capture import Capture
from model_runner.edits import KeepLast
from model_runner.errors import Cancelled, EmptyText, ForwardFails, NoLogits, SequenceTooLong, WrongModel
from model_runner.local.loading.loader import load_runner
from model_runner.local.runner import LocalRunner
from model_runner.request import CaptureRequest
from model_runner.sound import rising_tone
from tests.model_runner.local.recording.test_encoder_decoders import runner as translator
from tests.model_runner.tiny import MAX_TOKENS, byte_tokenizer, tiny

SOON = 20.0  # seconds after which a test that waits in vain gives up
BUILD = tiny("llama", num_key_value_heads=2)


def _runner(**options: Any) -> LocalRunner:
    return LocalRunner(BUILD(), byte_tokenizer(), name="tiny", device="cpu", **options)


@pytest.fixture
def runner() -> Iterator[LocalRunner]:
    runner = _runner()
    yield runner
    runner.worker.close()


def _text(capture: Capture) -> str:
    """The text of a capture read from its token ids, which are bytes here."""
    return bytes(byte_tokenizer().decode([token.id for token in capture.tokens]), "utf-8").decode()


def _same(capture: Capture, other: Capture) -> bool:
    parts = [(capture.q(layer), other.q(layer)) for layer in range(3)] + [(capture.hidden, other.hidden)]
    return all(torch.equal(one, two) for one, two in parts)


# -- the value --------------------------------------------------------------------------------------------------------


def test_equal_requests_are_one_key_and_every_field_tells_two_apart() -> None:
    request = CaptureRequest(text="a", model="m", revision="r", dtype="float32")
    assert {request: 1}[CaptureRequest(text="a", model="m", revision="r", dtype="float32")] == 1
    other = {
        "adapter": False,
        "chat": True,
        "continuation": (1,),
        "edits": (KeepLast(3),),
        "sound": rising_tone(),
        "input_ids": (1,),
    }
    for field in dataclasses.fields(request):
        assert dataclasses.replace(request, **{field.name: other.get(field.name, "other")}) != request


def test_what_goes_on_reads_the_same_and_what_was_read_so_far_is_the_request_again() -> None:
    every: dict[str, Any] = {
        "text": "a",
        "model": "m",
        "revision": "r",
        "adapter": True,
        "dtype": "float32",
        "chat": True,
        "continuation": (1,),
        "source_language": "fr",
        "target_language": "de",
        "input_ids": (1,),
    }
    request = CaptureRequest(**every, edits=(KeepLast(3),), target="t", attention="cross", sound=rising_tone())
    assert all(getattr(request, field.name) for field in dataclasses.fields(request))  # a new field is set here too
    on = request.going_on(max_new_tokens=7)
    assert on.max_new_tokens == 7
    assert on.so_far((1,)) == request
    assert request.going_on(edits=()).so_far((1, 2), target="") == dataclasses.replace(
        request, edits=(), continuation=(1, 2), target=""
    )


def test_a_request_cannot_be_changed() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        CaptureRequest(text="a").text = "b"  # type: ignore[misc]  # that it is refused is the test


def test_a_capture_has_the_request_with_every_field_filled_in() -> None:
    runner = _runner(revision="v1")
    asked = CaptureRequest(text="hello")
    assert runner.capture(asked).request == CaptureRequest("hello", model="tiny", revision="v1", dtype="float32")
    assert asked == CaptureRequest(text="hello")


def test_a_request_that_names_what_the_runner_holds_is_the_same_request(runner: LocalRunner) -> None:
    capture = runner.capture(CaptureRequest(text="hello"))
    assert runner.capture(CaptureRequest(text="hello", model="tiny", dtype="float32")) is capture
    assert runner.capture(capture.request) is capture


@pytest.mark.parametrize(
    "named, held", [({"model": "gpt2"}, "tiny"), ({"revision": "v2"}, "None"), ({"dtype": "bfloat16"}, "float32")]
)
def test_a_request_for_another_model_revision_or_dtype_is_refused(
    named: dict[str, str], held: str, runner: LocalRunner
) -> None:
    wanted = next(iter(named.values()))
    with pytest.raises(WrongModel, match=rf"The request names {wanted}, but this runner holds {held}\."):
        runner.capture(CaptureRequest(text="hello", **named))


# -- the answer -------------------------------------------------------------------------------------------------------


def test_a_text_is_read_once(runner: LocalRunner, monkeypatch: pytest.MonkeyPatch) -> None:
    capture = runner.capture(CaptureRequest(text="hello"))
    monkeypatch.setattr(runner.engine, "_forward", None)
    assert runner.capture(CaptureRequest(text="hello")) is capture


def test_two_runners_of_the_same_weights_agree_and_share_nothing() -> None:
    first, second = _runner(), _runner()
    one, two = (runner.capture(CaptureRequest(text="hello")) for runner in (first, second))
    assert one is not two
    assert _same(one, two)


def test_a_capture_too_large_for_the_cache_is_answered_all_the_same() -> None:
    runner = _runner(kept=ByteBudgetCache(100))
    first, second = (runner.capture(CaptureRequest(text="hello")) for _ in range(2))
    assert first is not second
    assert _same(first, second)
    assert runner.engine.cache.nbytes == 0


def test_a_text_that_is_refused_leaves_the_runner_as_it_was(runner: LocalRunner) -> None:
    with pytest.raises(EmptyText):
        runner.capture(CaptureRequest(text=" "))
    assert _text(runner.capture(CaptureRequest(text="hello"))) == "hello"


def test_a_model_without_an_output_layer_predicts_nothing_and_says_so() -> None:
    capture = _runner(has_head=False).capture(CaptureRequest(text="hello"))
    assert capture.verify(0).ok
    with pytest.raises(NoLogits, match="The model tiny comes without an output layer, so it predicts no tokens"):
        capture.logits(-1)
    with pytest.raises(NoLogits):
        capture.direct_logits(0, 0, -1)


# -- several at once --------------------------------------------------------------------------------------------------


def test_threads_that_ask_at_once_each_get_their_own_text(runner: LocalRunner) -> None:
    alone = _runner()
    found: dict[str, Capture] = {}

    def ask(session: str) -> None:
        for turn in range(8):
            text = f"{session} asks for the time number {turn}"
            found[text] = runner.submit(CaptureRequest(text=text), session=session).result()

    threads = [threading.Thread(target=ask, args=(name,)) for name in ("Ann", "Bob", "Cleo")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(SOON)
    assert len(found) == 24
    for text, capture in found.items():
        assert capture.request.text == text == _text(capture)
        assert _same(capture, alone.capture(CaptureRequest(text=text)))


def _stop_at_layer_one(runner: LocalRunner) -> tuple[threading.Event, threading.Event, list[int]]:
    """The first forward stands still before layer 1 until told to go on; the layers that begin are listed."""
    reached, go = threading.Event(), threading.Event()
    begun: list[int] = []

    def before(layer: int) -> Callable[..., None]:
        def hook(*_: object) -> None:
            begun.append(layer)
            if layer == 1 and not reached.is_set():
                reached.set()
                assert go.wait(SOON)

        return hook

    for idx, layer in enumerate(runner.engine.structure.layers):
        layer.register_forward_pre_hook(before(idx))
    return reached, go, begun


def _hooks(runner: LocalRunner) -> int:
    return sum(len(module._forward_hooks) + len(module._forward_pre_hooks) for module in runner.engine.model.modules())


def test_a_newer_request_of_the_session_stops_the_older_one_at_the_next_layer(runner: LocalRunner) -> None:
    reached, go, begun = _stop_at_layer_one(runner)
    hooks = _hooks(runner)
    older = runner.submit(CaptureRequest(text="older"), session="me")
    assert reached.wait(SOON)
    newer = runner.submit(CaptureRequest(text="newer"), session="me")
    go.set()
    with pytest.raises(Cancelled):
        older.result()
    assert _text(newer.result()) == "newer"
    assert begun == [0, 1, 0, 1, 2]  # the older one never came to layer 2
    assert _same(newer.result(), _runner().capture(CaptureRequest(text="newer")))  # and left nothing behind
    assert _hooks(runner) == hooks
    assert _text(runner.capture(CaptureRequest(text="older"))) == "older"  # it may be asked again


def test_another_session_s_request_waits_and_stops_nothing(runner: LocalRunner) -> None:
    reached, go, begun = _stop_at_layer_one(runner)
    mine = runner.submit(CaptureRequest(text="mine"), session="me")
    assert reached.wait(SOON)
    yours = runner.submit(CaptureRequest(text="yours"), session="you")
    assert not yours.wait(0.05)
    go.set()
    assert (_text(mine.result()), _text(yours.result())) == ("mine", "yours")
    assert begun == [0, 1, 2, 0, 1, 2]


def test_what_is_kept_is_answered_at_once_whatever_the_model_works_on() -> None:
    for runner, request in (
        (_runner(), CaptureRequest(text="kept")),
        (translator("t5"), CaptureRequest(text="kept", attention="cross")),
    ):
        kept, go = runner.capture(request), threading.Event()
        busy = runner.worker.submit(lambda _, go=go: go.wait(SOON), "another")
        older = runner.submit(CaptureRequest(text="older"), session="me")
        job = runner.submit(request, session="me")
        assert job.wait(0.0)
        assert not job.ahead
        assert job.result().request == kept.request
        assert job.result().record(0) is kept.record(0)
        assert older.cancelled.is_set()  # as any newer question does
        assert not busy.wait(0.0)
        go.set()
        runner.worker.close()


def test_a_forward_that_fails_leaves_nothing_behind(runner: LocalRunner, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> NoReturn:
        raise RuntimeError("in the middle")

    hooks = _hooks(runner)
    with monkeypatch.context() as patch:
        patch.setattr(runner.engine.structure.layers[1].mlp, "forward", fail)
        with pytest.raises(ForwardFails, match="in the middle"):
            runner.capture(CaptureRequest(text="hello"))
    assert _hooks(runner) == hooks
    expected = _runner().capture(CaptureRequest(text="hello"))
    assert _same(runner.capture(CaptureRequest(text="hello")), expected)


# -- too long ---------------------------------------------------------------------------------------------------------


def test_a_text_of_just_the_model_s_length_is_read_and_one_token_more_is_not(runner: LocalRunner) -> None:
    assert len(runner.capture(CaptureRequest(text="x" * MAX_TOKENS)).tokens) == MAX_TOKENS
    with pytest.raises(SequenceTooLong, match=rf"The text is {MAX_TOKENS + 1} tokens long, but {MAX_TOKENS} fit"):
        runner.capture(CaptureRequest(text="x" * (MAX_TOKENS + 1)))


@pytest.mark.parametrize("unit", ["x", "é", "🙂", "日"])
def test_the_characters_that_are_said_to_fit_are_read(unit: str, runner: LocalRunner) -> None:
    text = unit * 2000
    with pytest.raises(SequenceTooLong) as raised:
        runner.capture(CaptureRequest(text=text))
    characters = raised.value.values["characters"]
    assert characters == MAX_TOKENS // len(unit.encode())
    assert len(runner.capture(CaptureRequest(text=text[:characters])).tokens) <= MAX_TOKENS


@pytest.mark.parametrize("unit", ["The dog chased the squirrel because it was hungry. ", "🙂"])
def test_a_megabyte_of_text_is_refused_with_the_limit_and_a_length_that_fits(unit: str) -> None:
    runner = load_runner("default", device="cpu")
    text = unit * (2**20 // len(unit.encode()))
    with pytest.raises(SequenceTooLong, match=r"but 2048 fit: this model was built for that many positions") as raised:
        runner.capture(CaptureRequest(text=text))
    assert raised.value.values["limit"] == runner.info.max_tokens == 2048
    characters = raised.value.values["characters"]
    assert f"to about its first {characters} characters" in str(raised.value)
    assert 2040 <= len(runner.engine.tokenizer(text[:characters])["input_ids"]) <= 2048


def test_a_capture_that_nobody_holds_gives_its_memory_back_at_once() -> None:
    runner = _runner(kept=ByteBudgetCache(0))
    gc.disable()  # python's own search for cycles would only come to it some texts later
    try:
        gone = weakref.ref(runner.capture(CaptureRequest("one two three")))
        runner.capture(CaptureRequest("one two four"))
        assert gone() is None
    finally:
        gc.enable()
        runner.worker.close()
