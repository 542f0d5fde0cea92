"""A model folder is looked at before it is opened: whole folders are counted, every other is told what it lacks."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from safetensors.torch import load_file, save_file

from model_runner.errors import ModelFolderMissing, ModelIncomplete, ModelPickled
from model_runner.local.loading.checkpoint import inspect_folder
from model_runner.local.loading.model_folder import DEFAULT_FOLDER
from tests.model_runner.folders import CONFIG, INDEX, WEIGHTS, change_config, load, write_weights
from tests.model_runner.tiny import tiny

ENTRY = {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}


def _shard(folder: Path) -> list[Path]:
    """The weights in two files and an index, as large models come."""
    weights = load_file(folder / WEIGHTS)
    (folder / WEIGHTS).unlink()
    names = sorted(weights)
    files = [folder / f"model-0000{i}-of-00002.safetensors" for i in (1, 2)]
    halves = (names[: len(names) // 2], names[len(names) // 2 :])
    for file, half in zip(files, halves, strict=True):
        save_file({name: weights[name] for name in half}, file)
    where = {name: file.name for file, half in zip(files, halves, strict=True) for name in half}
    (folder / INDEX).write_text(json.dumps({"metadata": {}, "weight_map": where}), "utf-8")
    return files


def test_a_whole_folder_is_counted(folder: Path) -> None:
    found = inspect_folder(folder)
    assert found.folder == folder
    assert found.config["model_type"] == "llama"
    assert found.n_parameters == tiny("llama", num_key_value_heads=2)().num_parameters()


def test_shards_are_counted_together_and_files_beside_them_are_not(folder: Path) -> None:
    count = inspect_folder(folder).n_parameters
    _shard(folder)
    write_weights(folder / "consolidated.safetensors", {"again": ENTRY}, b"0000")
    assert inspect_folder(folder).n_parameters == count


def test_one_file_goes_before_an_index_as_it_does_where_it_is_read(folder: Path) -> None:
    (folder / INDEX).write_text('{"weight_map": {"a": "/etc/x.safetensors"}}')
    assert inspect_folder(folder).shapes["lm_head.weight"] == (264, 32)
    assert load(folder).logits(-1).shape == (264,)


def test_the_embedded_model_is_whole() -> None:
    assert inspect_folder(DEFAULT_FOLDER).n_parameters == pytest.approx(7.90e6, rel=1e-3)  # what its card says


def test_a_folder_that_is_not_there_is_missing(tmp_path: Path) -> None:
    with pytest.raises(ModelFolderMissing, match=r"There is no folder .*/none"):
        inspect_folder(tmp_path / "none")
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(ModelFolderMissing, match=r"There is no folder .*/file"):
        inspect_folder(tmp_path / "file")


def _truncate(folder: Path) -> None:
    os.truncate(folder / WEIGHTS, (folder / WEIGHTS).stat().st_size - 100)


def _lose_a_shard(folder: Path) -> None:
    _shard(folder)[1].unlink()


def _cut_a_shard(folder: Path) -> None:
    os.truncate(_shard(folder)[0], 5)


def _index(text: str) -> Callable[[Path], object]:
    """An index in place of the one file of weights, which would go before it."""
    return lambda folder: ((folder / WEIGHTS).unlink(), (folder / INDEX).write_text(text))


def _sparse(file: Path, start: bytes, size: int) -> None:
    """A file of this size that takes no room."""
    file.write_bytes(start)
    os.truncate(file, size)


BROKEN: dict[str, tuple[Callable[[Path], object], str]] = {
    "no config": (lambda folder: (folder / CONFIG).unlink(), r"config.json is missing"),
    "a folder as config": (
        lambda folder: ((folder / CONFIG).unlink(), (folder / CONFIG).mkdir()),
        r"config.json is missing",
    ),
    "more labels than there are words for": (
        lambda folder: change_config(folder, num_labels=10**9),
        "config.json declares 1,000,000,000 as num_labels, and no model has more than 4096",
    ),
    "layers in a part": (
        lambda folder: change_config(folder, text_config={"n_layer": 5e3}),
        "config.json declares 5,000.0 as n_layer",
    ),
    "cut config": (lambda folder: (folder / CONFIG).write_text('{"model_type":'), "config.json is not readable JSON"),
    "config of other bytes": (
        lambda folder: (folder / CONFIG).write_bytes(b"\xff\xfe\x00"),
        r"config.json is not readable JSON",
    ),
    "a list as config": (lambda folder: (folder / CONFIG).write_text("[]"), "config.json is not a JSON object"),
    "no type": (lambda folder: change_config(folder, model_type=None), "config.json names no model_type"),
    "no weights": (lambda folder: (folder / WEIGHTS).unlink(), r"it has no .safetensors file"),
    "a folder as weights": (
        lambda folder: ((folder / WEIGHTS).unlink(), (folder / WEIGHTS).mkdir()),
        r"it has no .safetensors file",
    ),
    "empty weights": (lambda folder: (folder / WEIGHTS).write_bytes(b""), r"model.safetensors is cut off \(0 bytes\)"),
    "a few bytes": (
        lambda folder: os.truncate(folder / WEIGHTS, 50),
        r"model.safetensors is cut off \(50 bytes\)",
    ),
    "half copied": (_truncate, r"model.safetensors has \d+ of \d+ bytes"),
    "other bytes": (
        lambda folder: (folder / WEIGHTS).write_bytes((20).to_bytes(8, "little") + b"\x80" * 40),
        r"model.safetensors has no readable header",
    ),
    "a list as header": (
        lambda folder: write_weights(folder / WEIGHTS, []),
        r"model.safetensors has no readable header",
    ),
    "a text as tensor": (
        lambda folder: write_weights(folder / WEIGHTS, {"a": "b"}),
        r"model.safetensors has no readable header",
    ),
    "a tensor without a place": (
        lambda folder: write_weights(folder / WEIGHTS, {"a": {"dtype": "F32", "shape": [1]}}),
        r"model.safetensors has no readable header",
    ),
    "a lost shard": (_lose_a_shard, r"model-00002-of-00002.safetensors is missing"),
    "a cut shard": (_cut_a_shard, r"model-00001-of-00002.safetensors is cut off \(5 bytes\)"),
    "a header of 30 GB": (
        lambda folder: _sparse(folder / WEIGHTS, (30 << 30).to_bytes(8, "little"), 31 << 30),
        r"model.safetensors has no readable header",
    ),
    "a header nested deep": (
        lambda folder: (folder / WEIGHTS).write_bytes((20_000).to_bytes(8, "little") + b"[" * 20_000),
        r"model.safetensors has no readable header",
    ),
    "a shape that is not its bytes": (
        lambda folder: write_weights(folder / WEIGHTS, {"a": {**ENTRY, "shape": [10**9, 10**9]}}, b"0000"),
        r"model.safetensors has no readable header",
    ),
    "a shape of half numbers": (
        lambda folder: write_weights(folder / WEIGHTS, {"a": {**ENTRY, "shape": [1.0]}}, b"0000"),
        r"model.safetensors has no readable header",
    ),
    "a negative offset": (
        lambda folder: write_weights(folder / WEIGHTS, {"a": {**ENTRY, "data_offsets": [-4, 0]}}, b"0000"),
        r"model.safetensors has no readable header",
    ),
    "a config nested beyond reading": (
        lambda folder: (folder / CONFIG).write_text('{"a":' * 10_000 + "1" + "}" * 10_000),
        r"config.json is not readable JSON",
    ),
    "a config nested deep": (
        lambda folder: (folder / CONFIG).write_text('{"model_type":"llama","a":' + "[" * 65 + "]" * 65 + "}"),
        r"config.json is nested more than 64 deep",
    ),
    "a huge config": (
        lambda folder: _sparse(folder / CONFIG, b"{", 1 << 33),
        r"config.json has more than 16777216 bytes",
    ),
    "a huge file beside the config": (
        lambda folder: _sparse(folder / "generation_config.json", b"{", 1 << 33),
        r"generation_config.json has more than 16777216 bytes",
    ),
    "an index of nothing": (_index('{"weight_map": {}}'), r"\*.safetensors is missing"),
    "an index without a map": (_index("{}"), r"\*.safetensors is missing"),
    "a list as map": (_index('{"weight_map": ["a"]}'), r"\*.safetensors is missing"),
    "a number as shard": (
        _index('{"weight_map": {"a": 3}}'),
        "names something that is not a file of weights in this folder",
    ),
    "a shard above": (
        _index('{"weight_map": {"a": "../model/x.safetensors"}}'),
        "names something that is not a file of weights in this folder",
    ),
    "a shard anywhere": (
        _index('{"weight_map": {"a": "/etc/x.safetensors"}}'),
        "names something that is not a file of weights in this folder",
    ),
    "a cut index": (_index("{"), r"index.json is not readable JSON"),
}


@pytest.mark.parametrize("change, reason", BROKEN.values(), ids=BROKEN)
def test_a_folder_that_is_not_whole_is_told_what_is_wrong(
    change: Callable[[Path], object], reason: str, folder: Path
) -> None:
    change(folder)
    with pytest.raises(ModelIncomplete, match=rf"The model in .*/model is not complete: .*{reason}") as raised:
        inspect_folder(folder)
    assert "Copy or download it again." in str(raised.value)


@pytest.mark.parametrize("file", ["pytorch_model.bin", "model.pt", "weights.pth", "last.ckpt"])
def test_weights_that_are_only_pickled_are_not_opened(file: str, folder: Path) -> None:
    (folder / WEIGHTS).unlink()
    (folder / file).write_bytes(b"cos\nsystem\n(S'false'\ntR.")  # what it would run if anything unpickled it
    with pytest.raises(ModelPickled, match=rf"are pickled \({file}\); such a file can run any code") as raised:
        inspect_folder(folder)
    assert "Convert it to .safetensors" in str(raised.value)


def test_pickled_weights_beside_safe_ones_are_passed_over(folder: Path) -> None:
    count = inspect_folder(folder).n_parameters
    (folder / "pytorch_model.bin").write_bytes(b"anything")
    assert inspect_folder(folder).n_parameters == count


def test_a_file_that_cannot_be_read_is_said(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: Path, *_: object, **__: object) -> bytes:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "read_bytes", refuse)  # taking the permission away does not stop root
    with pytest.raises(ModelIncomplete, match=r"config.json cannot be read \(Permission denied\)"):
        inspect_folder(folder)
