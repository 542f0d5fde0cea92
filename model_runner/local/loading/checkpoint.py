"""Inspects a model folder before anything is loaded: whether it is complete and safe to open, and how large it is."""

from __future__ import annotations

import contextlib
import json
import math
import re
import tempfile
from collections.abc import Generator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from model_runner.errors import N_, ModelFolderMissing, ModelIncomplete, Reason
from model_runner.local.loading.adapter_files import ADAPTER_CONFIG, ADAPTER_WEIGHTS
from model_runner.local.loading.folder_files import CONFIG, MISSING, check_counts, read_header, read_object
from model_runner.local.loading.other_formats import refuse_other_formats

WEIGHTS, INDEX = "model.safetensors", "model.safetensors.index.json"
VARIANT_INDEX = re.compile(r"model\.safetensors\.index\.[\w-]+\.json")
VARIANT = re.compile(r"model\.[\w-]+\.safetensors")  # as transformers names it for variant="fp16"
SHARD = re.compile(r"(?P<start>.+-)\d{5}-of-(?P<count>\d{5})(?P<end>.*\.safetensors)")
ALSO_READ = ("generation_config.json",)  # read by transformers, beside the configuration and the weights
MOST_FILES = 2000  # of weights


@dataclass(frozen=True)
class Checkpoint:
    """A complete folder: its configuration, the shape of each weight by name, and the size of the files in bytes.

    ``files`` are those of the weights, with the names of the weights in each.
    """

    folder: Path
    config: dict[str, Any]
    shapes: dict[str, tuple[int, ...]]
    n_bytes: int
    files: Mapping[Path, tuple[str, ...]] = field(default_factory=dict[Path, tuple[str, ...]])

    @property
    def n_parameters(self) -> int:
        return sum(map(math.prod, self.shapes.values()))


def inspect_folder(folder: Path) -> Checkpoint:
    """Inspect a folder, reading only configurations and headers.

    Raises ModelFolderMissing, ModelIncomplete, ModelPickled.
    """
    try:
        if not folder.is_dir():
            raise ModelFolderMissing(name=str(folder))
        config = read_config(folder)
        for name in ALSO_READ:
            if (folder / name).exists():
                read_object(folder, name)
        headers = {file: read_header(folder, file) for file in _weight_files(folder)}
        shapes = {name: shape for header in headers.values() for name, shape in header.items()}
        files = {file: tuple(header) for file, header in headers.items()}
        return Checkpoint(folder, config, shapes, sum(file.stat().st_size for file in files), files)
    except OSError as error:  # no permission, a broken disk, a name too long
        reason = Reason(N_("{file} cannot be read ({why})"), {"file": error.filename or folder, "why": error.strerror})
        raise ModelIncomplete(name=str(folder), reason=reason) from error


def read_config(folder: Path) -> dict[str, Any]:
    """Read config.json. Raises ModelIncomplete if it is not that of a model."""
    config = read_object(folder, CONFIG)
    if not config.get("model_type"):
        raise ModelIncomplete(name=str(folder), reason=N_("config.json names no model_type"))
    check_counts(folder, config)
    return config


@contextlib.contextmanager
def named_as_usual(checkpoint: Checkpoint) -> Generator[Path]:
    """The folder to give to transformers (5.23): with the usual file names and without an adapter.

    Weights under other names (variants, shards without an index) get the usual names. An adapter beside them is left
    out, since transformers would apply it unasked where peft is installed. If either is needed, this is a folder of
    links that exists until the block ends.
    """
    usual = [file.name for file in checkpoint.files] == [WEIGHTS] or (checkpoint.folder / INDEX).exists()
    if usual and not (checkpoint.folder / ADAPTER_CONFIG).exists():
        yield checkpoint.folder
        return
    with tempfile.TemporaryDirectory() as made:
        links = Path(made)
        for name in (CONFIG, *ALSO_READ):
            if (checkpoint.folder / name).exists():
                (links / name).symlink_to((checkpoint.folder / name).absolute())
        only = len(checkpoint.files) == 1
        for file in checkpoint.files:
            (links / (WEIGHTS if only else file.name)).symlink_to(file.absolute())
        if not only:
            places = {name: file.name for file, names in checkpoint.files.items() for name in names}
            (links / INDEX).write_text(json.dumps({"metadata": {}, "weight_map": places}), "utf-8")
        yield links


def _weight_files(folder: Path) -> list[Path]:
    """The weight files to read: a single file before an index, an index before variants of either, then any others.

    Raises ModelIncomplete, ModelPickled, OtherFormat.
    """
    if (folder / WEIGHTS).is_file():
        return [folder / WEIGHTS]
    if (folder / INDEX).exists():
        return _shards(folder, INDEX)
    files = sorted(file for file in folder.glob("*.safetensors") if file.is_file() and file.name != ADAPTER_WEIGHTS)
    variants = [file for file in files if VARIANT.fullmatch(file.name) and not SHARD.fullmatch(file.name)]
    if variants:
        return variants[:1]
    indexes = sorted(file.name for file in folder.glob("*.json") if VARIANT_INDEX.fullmatch(file.name))
    if indexes:
        return _shards(folder, indexes[0])
    refuse_other_formats(folder)
    if not files:
        raise ModelIncomplete(name=str(folder), reason=N_("it has no .safetensors file"))
    if len(files) > 1:
        _check_series(folder, files)
    return files


def _check_series(folder: Path, files: list[Path]) -> None:
    """Raises ModelIncomplete unless these are all the shards of one series that only lacks its index."""
    found = [SHARD.fullmatch(file.name) for file in files]
    first = found[0]
    if first is None or any(
        one is None or one.group("start", "count", "end") != first.group("start", "count", "end") for one in found
    ):
        reason = Reason(
            N_("nothing says which of its {count} .safetensors files are the model’s; {file} is missing"),
            {"count": len(files), "file": INDEX},
        )
        raise ModelIncomplete(name=str(folder), reason=reason)
    count = int(first["count"])
    names = [
        f"{first['start']}{number:05d}-of-{count:05d}{first['end']}" for number in range(1, min(count, MOST_FILES) + 1)
    ]
    if missing := [name for name in names if not (folder / name).is_file()]:
        raise ModelIncomplete(name=str(folder), reason=Reason(MISSING, {"file": ", ".join(missing[:3])}))


def _shards(folder: Path, index: str) -> list[Path]:
    listed = read_object(folder, index).get("weight_map")
    shards = sorted({str(shard) for shard in listed.values()}) if isinstance(listed, dict) else []
    outside = [name for name in shards if Path(name).name != name or not name.endswith(".safetensors")]
    if outside or len(shards) > MOST_FILES:
        reason = Reason(N_("{file} names something that is not a file of weights in this folder"), {"file": index})
        raise ModelIncomplete(name=str(folder), reason=reason)
    missing = [name for name in shards if not (folder / name).is_file()]
    if missing or not shards:
        names = ", ".join(missing) or "*.safetensors"
        raise ModelIncomplete(name=str(folder), reason=Reason(MISSING, {"file": names}))
    return [folder / name for name in shards]
