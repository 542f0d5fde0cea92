"""Training starts, learns, stops, goes on and exports, on a tiny model."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file
from transformers import AutoModelForCausalLM, AutoTokenizer

from scripts.train import loop
from scripts.train.checkpoint import Progress
from scripts.train.data import CorpusError, Data
from scripts.train.loop import fraction, train
from scripts.train.settings import Settings


@pytest.fixture(autouse=True)
def few_validation_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loop, "WINDOWS_AT_THE_END", 32)


def facts(settings: Settings) -> dict[str, Any]:
    return json.loads((settings.out / "training.json").read_text())


@pytest.mark.long
def test_a_run_learns_resumes_where_it_stopped_and_exports_a_model_that_loads(settings: Settings) -> None:
    half = train(dataclasses.replace(settings, tokens=settings.tokens / 2))
    assert half.tokens == pytest.approx(settings.tokens / 2, abs=settings.batch_tokens)
    first = facts(settings)

    done = train(settings)
    assert done.steps > half.steps
    assert done.tokens == pytest.approx(settings.tokens, abs=settings.batch_tokens)
    # Every step counts once: a run that had started anew would have about a third fewer.
    assert done.tokens == done.steps * settings.batch_tokens

    last = facts(settings)
    assert last["history"] == [{key: first[key] for key in ("tokens", "steps", "minutes", "validation")}]
    # Guessing among 320 tokens costs ln 320 = 5.77 nats.
    assert 5.77 > first["validation"]["mix"] > last["validation"]["mix"]

    tokenizer = AutoTokenizer.from_pretrained(settings.out, local_files_only=True)
    model = AutoModelForCausalLM.from_pretrained(settings.out, local_files_only=True)
    ids = tokenizer("naïve 🙂 12", return_tensors="pt")["input_ids"]
    assert tokenizer.decode(ids[0], skip_special_tokens=True) == "naïve 🙂 12"
    assert ids[0, 0] == tokenizer.bos_token_id == model.config.bos_token_id
    assert model.dtype == torch.float32
    assert torch.isfinite(model(ids).logits).all()
    assert {tensor.dtype for tensor in load_file(settings.out / "model.safetensors").values()} == {torch.float16}


def test_a_finished_run_that_is_started_again_changes_nothing(settings: Settings) -> None:
    short = dataclasses.replace(settings, tokens=2_000)
    train(short)
    before = {file.name: file.read_bytes() for file in settings.out.iterdir()}
    train(short)
    assert {file.name: file.read_bytes() for file in settings.out.iterdir()} == before


@pytest.mark.long
def test_the_same_settings_train_the_same_weights(settings: Settings, tmp_path: Path) -> None:
    short = dataclasses.replace(settings, tokens=2_000, threads=1)
    train(short)
    train(dataclasses.replace(short, work=tmp_path / "work 2", out=tmp_path / "out 2"))
    assert (tmp_path / "out/model.safetensors").read_bytes() == (tmp_path / "out 2/model.safetensors").read_bytes()


@pytest.mark.long
def test_towards_its_end_a_run_reads_the_mix_of_the_end(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    mixes: list[Any] = []
    batch = Data.batch

    def listening(data: Data, *args: Any) -> torch.Tensor:
        mixes.append(args[-1])
        return batch(data, *args)

    monkeypatch.setattr(Data, "batch", listening)
    at_end = {"stories": 1.0}
    train(dataclasses.replace(settings, tokens=5_120, mix_at_end=at_end, end_from=0.7))
    assert mixes == [None] * 7 + [at_end] * 3


def test_a_missing_corpus_names_the_command_that_writes_it(settings: Settings, tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match=r"generated\.txt is missing: .*python -m scripts\.corpus"):
        train(dataclasses.replace(settings, corpus=tmp_path / "nowhere"))


def test_minutes_end_a_run_before_its_tokens_do() -> None:
    settings = Settings(tokens=100, minutes=2)
    assert fraction(Progress(tokens=25), settings) == 0.25
    assert fraction(Progress(tokens=25, seconds=60), settings) == 0.5
    assert fraction(Progress(tokens=25, seconds=600), settings) == 1.0
    assert fraction(Progress(tokens=25, seconds=600), Settings(tokens=100)) == 0.25
