"""A model folder looked at before anything is loaded: is it whole, is it safe to open, how large is it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from model_runner.errors import N_, ModelFolderMissing, ModelIncomplete, ModelPickled, Reason
from model_runner.local.folder_files import CONFIG, MISSING, check_counts, read_header, read_object

WEIGHTS, INDEX = "model.safetensors", "model.safetensors.index.json"
PICKLED = ("*.bin", "*.pt", "*.pth", "*.ckpt")
ALSO_READ = ("generation_config.json",)  # by transformers, beside the configuration and the weights
MOST_FILES = 2000  # of weights


@dataclass(frozen=True)
class Checkpoint:
    """A complete folder: its configuration, and the shape of each of its weights, by name, and the files' bytes."""

    folder: Path
    config: dict[str, Any]
    shapes: dict[str, tuple[int, ...]]
    n_bytes: int

    @property
    def n_parameters(self) -> int:
        return sum(map(math.prod, self.shapes.values()))


def inspect_folder(folder: Path) -> Checkpoint:
    """Raises ModelFolderMissing, ModelIncomplete or ModelPickled; reads only configurations and headers."""
    try:
        if not folder.is_dir():
            raise ModelFolderMissing(name=str(folder))
        config = read_config(folder)
        for name in ALSO_READ:
            if (folder / name).exists():
                read_object(folder, name)
        shapes: dict[str, tuple[int, ...]] = {}
        files = _weight_files(folder)
        for file in files:
            shapes |= read_header(folder, file)
        return Checkpoint(folder, config, shapes, sum(file.stat().st_size for file in files))
    except OSError as error:  # no permission, a broken disk, a name too long
        reason = Reason(N_("{file} cannot be read ({why})"), {"file": error.filename or folder, "why": error.strerror})
        raise ModelIncomplete(name=str(folder), reason=reason) from error


def read_config(folder: Path) -> dict[str, Any]:
    """What config.json says, if that is a model's. Raises ModelIncomplete."""
    config = read_object(folder, CONFIG)
    if not config.get("model_type"):
        raise ModelIncomplete(name=str(folder), reason=N_("config.json names no model_type"))
    check_counts(folder, config)
    return config


def _weight_files(folder: Path) -> list[Path]:
    """Those that transformers will read: one file goes before an index, and an index before the rest."""
    if (folder / WEIGHTS).is_file():
        return [folder / WEIGHTS]
    if (folder / INDEX).exists():
        return _shards(folder)
    files = sorted(file for file in folder.glob("*.safetensors") if file.is_file())
    if not files:
        pickled = next((file for pattern in PICKLED for file in folder.glob(pattern)), None)
        if pickled is not None:
            raise ModelPickled(name=str(folder), file=pickled.name)
        raise ModelIncomplete(name=str(folder), reason=N_("it has no .safetensors file"))
    return files


def _shards(folder: Path) -> list[Path]:
    listed = read_object(folder, INDEX).get("weight_map")
    shards = sorted({str(shard) for shard in listed.values()}) if isinstance(listed, dict) else []
    outside = [name for name in shards if Path(name).name != name or not name.endswith(".safetensors")]
    if outside or len(shards) > MOST_FILES:
        reason = Reason(N_("{file} names what is no file of weights in this folder"), {"file": INDEX})
        raise ModelIncomplete(name=str(folder), reason=reason)
    missing = [name for name in shards if not (folder / name).is_file()]
    if missing or not shards:
        names = ", ".join(missing) or "*.safetensors"
        raise ModelIncomplete(name=str(folder), reason=Reason(MISSING, {"file": names}))
    return [folder / name for name in shards]
