"""Running out of memory gives an error message: before the forward pass if predictable, else after it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

import psutil
import pytest
import torch

from model_runner import memory
from model_runner.errors import ForwardFails, OutOfMemory, TextExceedsMemory
from model_runner.local.runner import LocalRunner
from model_runner.request import CaptureRequest
from tests.model_runner.tiny import byte_tokenizer, tiny

CPU = torch.device("cpu")


@pytest.fixture
def runner() -> Iterator[LocalRunner]:
    runner = LocalRunner(tiny("llama")(), byte_tokenizer(), name="tiny", device="cpu")
    yield runner
    runner.worker.close()


@pytest.mark.parametrize(
    "size, said",
    [
        (0, "0 B"),
        (1023, "1,023 B"),
        (1024**2 - 1, "1 MB"),
        (1024, "1 KB"),
        (1536, "1.5 KB"),
        (14_000_000, "13.4 MB"),
        (1024**3, "1 GB"),
        (15.4 * 1024**3, "15.4 GB"),
        (2000 * 1024**3, "1.95 TB"),
        (2000 * 1024**4, "2,000 TB"),
    ],
)
def test_a_size_is_said_in_the_largest_unit_that_fits(size: float, said: str) -> None:
    assert memory.readable(size) == said


def test_what_is_available_is_not_more_than_there_is() -> None:
    assert 0 < memory.available(CPU) <= psutil.virtual_memory().total


@pytest.mark.parametrize(
    "own, files, left",
    [
        ("0::/a/b", {"a/b/memory.max": "max", "a/b/memory.current": "9", "a/memory.max": "1000",
                     "a/memory.current": "900", "a/memory.stat": "anon 5\ninactive_file 50\n"}, 150),
        ("0::/a", {"memory.max": "700", "memory.current": "100"}, 600),  # a container: its group looks like the root
        ("4:memory:/a\n0::/", {"memory/a/memory.limit_in_bytes": "800", "memory/a/memory.usage_in_bytes": "100"}, 700),
        ("0::/a", {"a/memory.max": "100", "a/memory.current": "300"}, 0),
        ("0::/", {}, None),
    ],
)  # fmt: skip
def test_what_is_available_is_within_the_limit_of_the_container(
    own: str, files: dict[str, str], left: int | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "own").write_text(own)
    for name, text in files.items():
        (tmp_path / "groups" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "groups" / name).write_text(text)
    monkeypatch.setattr(memory, "OWN_GROUPS", tmp_path / "own")
    monkeypatch.setattr(memory, "GROUPS", tmp_path / "groups")
    assert list(memory._left_in_groups())[:1] == ([] if left is None else [left])
    if left is not None:
        assert memory.available(CPU) == left


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB."),
        RuntimeError("[enforce fail at alloc_cpu.cpp:124] . DefaultCPUAllocator: can't allocate memory: you tried"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_memory_that_runs_out_in_the_forward_is_a_sentence_and_the_runner_goes_on(
    error: Exception, runner: LocalRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> NoReturn:
        raise error

    layer = runner.engine.structure.layers[1]
    with monkeypatch.context() as patch:
        patch.setattr(type(layer), "forward", fail)
        with pytest.raises(
            OutOfMemory, match=r"The memory ran out while reading 5 tokens\. Shorten the text"
        ) as raised:
            runner.capture(CaptureRequest(text="hello"))
    assert raised.value.__cause__ is error
    assert runner.capture(CaptureRequest(text="hello")).verify(2).ok


def test_an_allocator_that_gives_up_really_raises_what_is_caught() -> None:
    with pytest.raises(RuntimeError, match="allocate memory"):
        torch.empty(2**62, dtype=torch.uint8)


def test_another_error_of_the_forward_is_no_matter_of_memory(
    runner: LocalRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> NoReturn:
        raise RuntimeError("shapes cannot be multiplied")

    monkeypatch.setattr(type(runner.engine.structure.layers[0]), "forward", fail)
    with pytest.raises(ForwardFails, match="shapes cannot be multiplied"):
        runner.capture(CaptureRequest(text="hello"))


def test_a_text_whose_vectors_need_more_than_half_of_what_is_free_is_refused_before_the_forward(
    runner: LocalRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    per_token = runner.engine.structure.bytes_per_token
    monkeypatch.setattr(memory, "available", lambda device: int(2 * per_token * 30))
    assert len(runner.capture(CaptureRequest(text="x" * 30)).tokens) == 30
    monkeypatch.setattr(runner.engine, "_forward", None)  # it would not get that far
    with pytest.raises(TextExceedsMemory, match=r"The text is 31 tokens long, but about 30 fit: its vectors need"):
        runner.capture(CaptureRequest(text="x" * 31))


def test_the_estimate_for_a_text_is_what_its_capture_weighs(runner: LocalRunner) -> None:
    capture = runner.capture(CaptureRequest(text="x" * 200))
    assert runner.engine.structure.bytes_per_token * 200 == pytest.approx(capture.nbytes, rel=0.01)
