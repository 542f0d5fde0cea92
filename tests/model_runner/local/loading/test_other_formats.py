"""Weights that are not opened say what they are and what to do; variants of .safetensors files open."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import AutoModelForCausalLM

from model_runner.errors import ModelFolderMissing, ModelIncomplete, ModelPickled, RunnerError
from model_runner.local.loading.other_formats import OTHER, OtherFormat
from model_runner.request import CaptureRequest
from tests.model_runner.folders import CONFIG, INDEX, WEIGHTS, load, refused


def other(name: str) -> Callable[[Path], object]:
    """The weights under another name, which is all that is looked at."""
    return lambda folder: (folder / WEIGHTS).rename(folder / name)


FORMATS = {
    "GGUF": ("tiny-q4_k_m.gguf", OtherFormat, "GGUF format of llama.cpp (tiny-q4_k_m.gguf)", "gguf_file="),
    "ONNX": ("model.onnx", OtherFormat, "ONNX graph", "Open the model that it was exported from"),
    "TensorFlow": ("tf_model.h5", OtherFormat, "of TensorFlow (tf_model.h5)", "from_tf=True"),
    "Flax": ("flax_model.msgpack", OtherFormat, "of Flax (flax_model.msgpack)", "from_flax=True"),
    "its maker's": (
        "consolidated.safetensors",
        OtherFormat,
        "author’s own code",
        "version of the model for transformers",
    ),
    "its maker's, in parts": (
        "consolidated-00001-of-00002.safetensors",
        OtherFormat,
        "author’s own code",
        "config.json",
    ),
    "pickled": ("pytorch_model.bin", ModelPickled, "are pickled (pytorch_model.bin)", "Convert it to .safetensors"),
    "a checkpoint": ("model.ckpt", ModelPickled, "are pickled (model.ckpt)", "Convert it"),
    "notes of a training": ("training_args.bin", ModelIncomplete, "it has no .safetensors file", "again"),
}


@pytest.mark.parametrize("name, error, kind, todo", FORMATS.values(), ids=FORMATS)
def test_a_format_that_is_not_opened_is_named(
    name: str, error: type[RunnerError], kind: str, todo: str, folder: Path
) -> None:
    other(name)(folder)
    sentence = refused(folder, error)
    assert kind in sentence
    assert todo in sentence


def test_every_format_is_tried_here() -> None:
    from fnmatch import fnmatch

    assert all(any(fnmatch(name, pattern) for name, *_ in FORMATS.values()) for pattern in OTHER)


def test_a_gguf_file_is_named_by_its_path_and_by_its_folder(folder: Path) -> None:
    """Which are how llama.cpp's users have it: no config.json. Of another folder nothing is told."""
    other("model.gguf")(folder)
    (folder / CONFIG).unlink()
    assert "GGUF" in refused(folder, OtherFormat)
    assert "GGUF" in refused(folder / "model.gguf", OtherFormat)
    (folder / "model.gguf").rename(folder / "secret.bin")
    assert "secret" not in refused(folder, ModelFolderMissing)


def test_a_gguf_file_of_any_size_is_not_opened(folder: Path) -> None:
    """One whose header speaks of a billion tensors of a billion axes: nobody reads it."""
    (folder / WEIGHTS).unlink()
    (folder / "model.gguf").write_bytes(b"GGUF" + (3).to_bytes(4, "little") + b"\xff" * 16)
    assert "GGUF" in refused(folder, OtherFormat)


def logits(folder: Path) -> torch.Tensor:
    return load(folder).logits(-1)


def shards(folder: Path, names: Callable[[int], str], index: str | None) -> None:
    """The weights in two files under these names, listed in a file of this name."""
    held = load_file(folder / WEIGHTS)
    (folder / WEIGHTS).unlink()
    places = {name: names(1 + number % 2) for number, name in enumerate(sorted(held))}
    for file in set(places.values()):
        save_file({name: held[name] for name in held if places[name] == file}, folder / file, metadata={"format": "pt"})
    if index is not None:
        (folder / index).write_text(json.dumps({"metadata": {}, "weight_map": places}))


VARIANTS: dict[str, Callable[[Path], object]] = {
    "model.fp16": other("model.fp16.safetensors"),
    "another name": other("tiny-llama.safetensors"),
    "shards": lambda folder: shards(folder, "model-{:05d}-of-00002.safetensors".format, INDEX),
    "shards of a variant": lambda folder: shards(
        folder, "model.bf16-{:05d}-of-00002.safetensors".format, "model.safetensors.index.bf16.json"
    ),
    "shards without an index": lambda folder: shards(folder, "model-{:05d}-of-00002.safetensors".format, None),
    "a variant beside an adapter": lambda folder: (
        other("model.fp16.safetensors")(folder),
        (folder / "adapter_model.safetensors").write_bytes(b"nonsense"),
        (folder / "adapter_config.json").write_text("{}"),
    ),
    "beside a pickled copy and a GGUF": lambda folder: (
        (folder / "pytorch_model.bin").write_bytes(b"x"),
        (folder / "model.gguf").write_bytes(b"x"),
    ),
}


@pytest.mark.parametrize("change", VARIANTS.values(), ids=VARIANTS)
def test_a_variant_is_the_same_model(change: Callable[[Path], object], folder: Path) -> None:
    expected = logits(folder)
    change(folder)
    assert (logits(folder) - expected).abs().max() < 1e-5  # in another file a weight may lie otherwise in memory


def test_of_two_unknown_files_none_is_guessed(folder: Path) -> None:
    held = load_file(folder / WEIGHTS)
    (folder / WEIGHTS).unlink()
    for name in ("one", "two"):
        save_file(held, folder / f"{name}.safetensors", metadata={"format": "pt"})
    assert "which of its 2 .safetensors files are the model’s" in refused(folder, ModelIncomplete)


def test_a_shard_that_is_lost_is_named_without_an_index_too(folder: Path) -> None:
    shards(folder, "model-{:05d}-of-00003.safetensors".format, None)
    assert "model-00003-of-00003.safetensors is missing" in refused(folder, ModelIncomplete)


def test_half_precision_of_a_variant_is_computed_in_float32(folder: Path) -> None:
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float16)
    (folder / WEIGHTS).unlink()
    model.save_pretrained(folder, variant="fp16")
    assert not (folder / WEIGHTS).exists()
    capture = load(folder)
    ids = torch.tensor([[token.id for token in capture.tokens]])
    with torch.no_grad():
        expected = model.float()(ids).logits[0, -1]
    assert (capture.logits(-1) - expected).abs().max() < 1e-5
    assert capture.request == CaptureRequest("hello", model=str(folder), dtype="float32")
