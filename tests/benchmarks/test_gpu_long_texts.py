"""Without a GPU the script runs a small case on the CPU, and every row says so."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
import torch

from benchmarks import _llama, gpu_long_texts
from benchmarks._table import Target


@pytest.fixture(autouse=True)
def no_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)


@pytest.mark.long
def test_it_runs_small_on_the_cpu_and_says_so(capfd: pytest.CaptureFixture[str]) -> None:
    gpu_long_texts.main(["--smoke", "--tokens=600", "--turns=1"])
    said = capfd.readouterr().out
    assert said.startswith("No CUDA device: a tiny model on the CPU in its place.")
    assert "### 600 tokens, 2 × 4 (2) × 64, float32" in said
    rows = [line.split(" | ") for line in said.splitlines() if line.startswith("| ")][2:]
    assert [row[0] for row in rows] == [
        "| a capture beside the plain forward",
        "| of it, the text into tokens, on the CPU",
        "| a layer's softmax denominators, once",
        "| any tile of 512 × 512 cells, slowest of 40",
        "| the outline of that capture over loopback",
        "| a tile of 512 × 512 of another head, over loopback",
        "| of it received",
        "| peak, beside weights + plain activations + q, k, v, lse",
    ]
    assert all(row[4] == "none here" for row in rows)  # no target, and no verdict
    assert not any(row[-1].strip(" |") for row in rows)


def test_when_the_time_is_over_nothing_more_is_begun_and_it_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    gpu_long_texts.main(["--smoke", "--limit=0"])
    said = capsys.readouterr().out
    assert "The time was over: what is missing was left out." in said
    assert "| a capture beside" not in said


def test_the_bytes_that_a_text_needs_are_those_of_its_weights_and_capture_and_both_fit_an_h200() -> None:
    shape = gpu_long_texts.TINY
    runner = gpu_long_texts._runner(gpu_long_texts._model(shape), shape)
    weights = sum(one.nbytes for one in gpu_long_texts._model(shape).parameters())
    capture = runner.capture(_llama.text(shape.tokens)).nbytes
    assert gpu_long_texts.needed(shape) == pytest.approx(1.1 * (weights + capture), rel=0.01)
    assert gpu_long_texts.needed(gpu_long_texts.LARGE) == pytest.approx(48.96e9, rel=0.1)  # docs/performance.md
    assert (
        gpu_long_texts.needed(gpu_long_texts.LONGEST)
        < 141e9
        < gpu_long_texts.needed(replace(gpu_long_texts.LONGEST, layers=32))
    )


def test_a_gpu_that_is_too_small_is_told_and_nothing_is_begun(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda: (8 * 10**9, 8 * 10**9))
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda: "a small GPU")
    gpu_long_texts.main([])
    said = capsys.readouterr().out
    assert "32,768 tokens through 32 layers need" in said
    assert "131,072 tokens through 8 layers need" in said
    assert said.count("8.00 GB are free: left out.") == 2


def test_the_peak_is_beside_what_is_counted_by_hand() -> None:
    peaks = {"plain": {"weights": 10**9, "over": 2 * 10**8}, "capture": {"weights": 10**9, "over": 5 * 10**8}}
    name, peak, beside, ratio, _target, verdict = gpu_long_texts._memory(gpu_long_texts.TINY, peaks)
    kept = (
        sum(
            1024 * 16 * 4 * heads
            for _layer in range(2)
            for heads in (4, 2, 2)  # q, k and v: tokens × numbers × bytes
        )
        + 2 * 4 * 1024 * 4
    )  # lse
    assert peak == "1.50 GB"
    assert beside == f"{(1.2e9 + kept) / 1e9:.2f} GB"
    assert ratio == f"{1.5e9 / (1.2e9 + kept):.2f}×"
    assert verdict == "NOT ok"
    assert name.startswith("peak")


def test_a_peak_is_told_as_bytes_over_the_model(capfd: pytest.CaptureFixture[str]) -> None:
    gpu_long_texts.main(["--tokens=64", "--layers=1", "--peak=plain"])
    told = json.loads(capfd.readouterr().out)
    assert told["weights"] == sum(one.nbytes for one in gpu_long_texts._model(_one_layer()).parameters())
    assert told["over"] >= 0


def _one_layer() -> gpu_long_texts.Shape:
    return gpu_long_texts.Shape(**{**vars(gpu_long_texts.TINY), "tokens": 64, "layers": 1})


def test_the_targets_are_those_that_were_asked_for() -> None:
    assert Target(1.05, "×") == gpu_long_texts.TIME
    assert Target(1.1, "×") == gpu_long_texts.MEMORY
    assert Target(10, " ms") == gpu_long_texts.TILE
    large = gpu_long_texts.LARGE
    assert (large.tokens, large.layers, large.d_model, large.dtype) == (32_768, 32, 4096, torch.bfloat16)
    assert (gpu_long_texts.LONGEST.tokens, gpu_long_texts.LONGEST.layers) == (131_072, 8)
    assert gpu_long_texts.LIMIT <= 540  # the command is over within ten minutes
