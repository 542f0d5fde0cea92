"""The host's configuration, from settings file or environment: models, memory, lessons; and available devices."""

from __future__ import annotations

import importlib.util
import os
import platform
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from hosting import settings
from hosting.runner_server import runner_server, served_models

FIRST = "default"  # the model that opens if none is named

EMBEDDED = (FIRST, "encoder", "translator")  # as in model_runner.local.loading.model_folder
QUANTIZING = {
    "int8": ("torchao",),
    "nf4": ("bitsandbytes", "accelerate"),
}  # as in model_runner.local.loading.dtypes


def listed_models() -> tuple[str, ...]:
    """The only models that this server offers, in order: those in its settings, else in ATLAS_MODELS (comma-separated).

    If neither is set, those of the model server in ATLAS_RUNNER. Empty without any of these: then any hub id and any
    readable folder is allowed.
    """
    if hosted := settings.current():
        return hosted.models.listed
    if "ATLAS_MODELS" not in os.environ and (server := runner_server()):
        return served_models(server) or (FIRST,)
    return tuple(name.strip() for name in os.environ.get("ATLAS_MODELS", "").split(",") if name.strip())


def not_here(listed: Sequence[str]) -> list[str]:
    """The listed models that are neither embedded nor in the hub's local cache."""
    home = os.environ.get("HF_HOME") or os.path.join(os.environ.get("XDG_CACHE_HOME") or "~/.cache", "huggingface")
    cache = Path(os.environ.get("HF_HUB_CACHE") or os.path.join(home, "hub")).expanduser()
    kept = {name: cache / f"models--{name.partition('@')[0].replace('/', '--')}" for name in listed}
    return [name for name in listed if name not in EMBEDDED and not kept[name].is_dir()]


def memory_setting() -> str:
    """Size of the cache for all visitors, as :func:`model_runner.memory.budget` parses it; without settings,
    ATLAS_MEMORY.
    """
    hosted = settings.current()
    return hosted.limits.memory if hosted else os.environ.get("ATLAS_MEMORY", "")


def silence_setting() -> float:
    """Seconds without progress after which a model is reloaded; without settings, ATLAS_SILENCE."""
    hosted, own = settings.current(), os.environ.get("ATLAS_SILENCE", "").strip()
    return float(own if hosted is None and own.isdecimal() else (hosted or settings.Settings()).limits.silence)


def lessons_folder() -> Path | None:
    """Folder of the host's own lessons, from ATLAS_LESSONS."""
    named = os.environ.get("ATLAS_LESSONS", "").strip()
    return Path(named).expanduser() if named else None


def state_folder() -> Path | None:
    """Folder in which rooms are saved while they live; without settings, ATLAS_STATE. None: in memory only."""
    hosted = settings.current()
    named = hosted.server.state if hosted else os.environ.get("ATLAS_STATE", "").strip()
    return Path(named).expanduser() if named else None


def devices() -> tuple[str, ...]:
    """Devices of this machine, named as in torch but detected by their drivers: the menu appears before torch."""
    cuda = shutil.which("nvidia-smi") or any(Path(driver).exists() for driver in ("/dev/nvidiactl", "/dev/kfd"))
    apple = sys.platform == "darwin" and platform.machine() == "arm64"
    return ("cpu", *(("cuda",) if cuda else ()), *(("mps",) if apple else ()))


def dtypes() -> tuple[str, ...]:
    """The dtypes that a model can be loaded in here; quantized ones need their packages installed."""
    there = [name for name, needed in QUANTIZING.items() if all(map(importlib.util.find_spec, needed))]
    return ("float32", "bfloat16", "float16", *there)
