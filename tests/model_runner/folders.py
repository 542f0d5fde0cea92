"""Model folders on disk, tiny and whole, for the tests that break them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from transformers import PreTrainedModel

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
