"""Without a GPU its script runs small on the CPU, and says so beside every row."""

from __future__ import annotations

import json

import pytest
import torch

from benchmarks import gpu_long_texts
from benchmarks._table import Target


@pytest.fixture(autouse=True)
def no_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)


@pytest.mark.long
def test_it_runs_small_on_the_cpu_and_says_so(capfd: pytest.CaptureFixture[str]) -> None:
    gpu_long_texts.main(["--tokens=64", "--layers=1", "--turns=1"])
    said = capfd.readouterr().out
    assert said.startswith("No CUDA device: a small model on the CPU in its place.")
    assert "### 64 tokens, 1 × 8 (2) × 512, float32" in said
    rows = [line.split(" | ") for line in said.splitlines() if line.startswith("| ")][2:]
    assert [row[0] for row in rows] == [
        "| a capture beside the plain forward",
        "| of it, the text into tokens, on the CPU",
        "| a layer's softmax denominators, once",
        "| any tile of 64 × 64 cells, slowest of 40",
        "| peak, beside weights + plain activations + q, k, v, lse",
    ]
    assert all(row[4] == "none here" for row in rows)  # no target, and no verdict
    assert not any(row[-1].strip(" |") for row in rows)


def test_the_peak_is_beside_what_is_counted_by_hand() -> None:
    peaks = {"plain": {"weights": 10**9, "over": 2 * 10**8}, "capture": {"weights": 10**9, "over": 5 * 10**8}}
    name, peak, beside, ratio, _target, verdict = gpu_long_texts._memory(gpu_long_texts.SMALL, peaks)
    kept = (
        sum(
            1024 * 64 * 4 * heads
            for _layer in range(2)
            for heads in (8, 2, 2)  # q, k and v: tokens × numbers × bytes
        )
        + 2 * 8 * 1024 * 4
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
    return gpu_long_texts.Shape(**{**vars(gpu_long_texts.SMALL), "tokens": 64, "layers": 1})


def test_the_targets_are_those_that_were_asked_for() -> None:
    assert Target(1.05, "×") == gpu_long_texts.TIME
    assert Target(1.1, "×") == gpu_long_texts.MEMORY
    assert Target(10, " ms") == gpu_long_texts.TILE
    large = gpu_long_texts.LARGE
    assert (large.tokens, large.layers, large.d_model, large.dtype) == (32_768, 32, 4096, torch.bfloat16)
