"""Model folders on disk, tiny and whole, for the tests that break them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import AutoModelForCausalLM, AutoModelForMaskedLM, AutoTokenizer, PreTrainedModel

from model_runner.capture import Capture
from model_runner.errors import RunnerError
from model_runner.local.loading import loader
from model_runner.request import CaptureRequest
from tests.model_runner.tiny import byte_tokenizer, tiny

CONFIG, WEIGHTS, INDEX = "config.json", "model.safetensors", "model.safetensors.index.json"


def save(folder: Path, model: PreTrainedModel | None = None) -> Path:
    """A model (a tiny Llama) and the byte tokenizer, as transformers writes them."""
    (model or tiny("llama", num_key_value_heads=2)()).save_pretrained(folder)
    byte_tokenizer().save_pretrained(folder)
    return folder


def change_config(folder: Path, **values: Any) -> None:
    path = folder / CONFIG
    path.write_text(json.dumps({**json.loads(path.read_text("utf-8")), **values}), "utf-8")


def write_weights(file: Path, header: Any, body: bytes = b"") -> None:
    """A .safetensors file with any header, true or not."""
    text = json.dumps(header).encode()
    file.write_bytes(len(text).to_bytes(8, "little") + text + body)


def load(folder: Path, **options: Any) -> Capture:
    """A capture of the model in a folder."""
    return loader.load_runner(str(folder), device="cpu", **options).capture(CaptureRequest(text="hello"))


def refused(folder: Path, error: type[RunnerError]) -> str:
    """The sentence with which a folder is refused."""
    with pytest.raises(error) as raised:
        load(folder)
    return str(raised.value)


def change_weights(folder: Path, change: Callable[[dict[str, torch.Tensor]], dict[str, torch.Tensor]]) -> None:
    """Write the tensors of the weight file anew."""
    save_file(change(load_file(folder / WEIGHTS)), folder / WEIGHTS, metadata={"format": "pt"})


def touch_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Any attempt to load a tokenizer or a model fails the test."""

    def refuse(*_: object, **__: object) -> NoReturn:
        raise AssertionError("nothing may be loaded")

    for auto in (AutoModelForCausalLM, AutoModelForMaskedLM, AutoTokenizer):
        monkeypatch.setattr(auto, "from_pretrained", refuse)
