"""A model folder looked at before anything is loaded: is it whole, is it safe to open, how large is it."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from model_runner.errors import N_, ModelFolderMissing, ModelIncomplete, ModelPickled, Reason

MISSING = N_("{file} is missing")
PICKLED = ("*.bin", "*.pt", "*.pth", "*.ckpt")


@dataclass(frozen=True)
class Checkpoint:
    """A complete folder: its configuration, and how many numbers its weights are."""

    folder: Path
    config: dict[str, Any]
    n_parameters: int


def inspect_folder(folder: Path) -> Checkpoint:
    """Raises ModelFolderMissing, ModelIncomplete or ModelPickled; reads only configurations and headers."""
    try:
        if not folder.is_dir():
            raise ModelFolderMissing(name=str(folder))
        config = _read_json(folder, "config.json")
        if not config.get("model_type"):
            raise ModelIncomplete(name=str(folder), reason=N_("config.json names no model_type"))
        files = _weight_files(folder)
        return Checkpoint(folder, config, sum(_count_parameters(folder, file) for file in files))
    except OSError as error:  # no permission, a broken disk, a name too long
        reason = Reason(N_("{file} cannot be read ({why})"), {"file": error.filename or folder, "why": error.strerror})
        raise ModelIncomplete(name=str(folder), reason=reason) from error


def _weight_files(folder: Path) -> list[Path]:
    index = folder / "model.safetensors.index.json"
    if index.exists():
        listed = _read_json(folder, index.name).get("weight_map")
        shards = sorted({str(shard) for shard in listed.values()}) if isinstance(listed, dict) else []
        missing = [name for name in shards if not (folder / name).is_file()]
        if missing or not shards:
            names = ", ".join(missing) or "*.safetensors"
            raise ModelIncomplete(name=str(folder), reason=Reason(MISSING, {"file": names}))
        return [folder / name for name in shards]
    files = sorted(file for file in folder.glob("*.safetensors") if file.is_file())
    if not files:
        pickled = next((file for pattern in PICKLED for file in folder.glob(pattern)), None)
        if pickled is not None:
            raise ModelPickled(name=str(folder), file=pickled.name)
        raise ModelIncomplete(name=str(folder), reason=N_("it has no .safetensors file"))
    return files


def _count_parameters(folder: Path, file: Path) -> int:
    """Numbers in a .safetensors file. Raises ModelIncomplete if the file is shorter than its header says."""
    size = file.stat().st_size
    with file.open("rb") as stream:
        length = int.from_bytes(stream.read(8), "little")
        if not 0 < length <= size - 8:
            reason = Reason(N_("{file} is cut off ({size} bytes)"), {"file": file.name, "size": size})
            raise ModelIncomplete(name=str(folder), reason=reason)
        try:
            header = json.loads(stream.read(length))
            tensors = [entry for name, entry in header.items() if name != "__metadata__"]
            end = 8 + length + max((int(entry["data_offsets"][1]) for entry in tensors), default=0)
            count = sum(math.prod(entry["shape"]) for entry in tensors)
        except (ValueError, TypeError, AttributeError, LookupError) as error:
            reason = Reason(N_("{file} has no readable header"), {"file": file.name})
            raise ModelIncomplete(name=str(folder), reason=reason) from error
    if size != end:
        reason = Reason(N_("{file} has {size} of {end} bytes"), {"file": file.name, "size": size, "end": end})
        raise ModelIncomplete(name=str(folder), reason=reason)
    return count


def _read_json(folder: Path, name: str) -> dict[str, Any]:
    path = folder / name
    if not path.is_file():
        raise ModelIncomplete(name=str(folder), reason=Reason(MISSING, {"file": name}))
    try:
        value = json.loads(path.read_text("utf-8"))
    except (ValueError, UnicodeDecodeError) as error:
        raise ModelIncomplete(
            name=str(folder), reason=Reason(N_("{file} is not readable JSON"), {"file": name})
        ) from error
    if not isinstance(value, dict):
        raise ModelIncomplete(name=str(folder), reason=Reason(N_("{file} is not a JSON object"), {"file": name}))
    return value
