"""What the host has set: the models that are shown, what is kept of their work, lessons; and the devices there are."""

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

FIRST = "default"  # the model that the app opens where nothing names another

EMBEDDED = (FIRST, "encoder", "translator")  # as model_runner.local.loading.model_folder has them
QUANTIZING = {
    "int8": ("torchao",),
    "nf4": ("bitsandbytes", "accelerate"),
}  # as model_runner.local.loading.dtypes has them


def listed_models() -> tuple[str, ...]:
    """The only models that this server shows, in order: those of its settings, else ATLAS_MODELS (names and commas).

    Where neither is set, those of the server of models that it asks, if it asks one (ATLAS_RUNNER). Nothing without
    that: then it is any hub id, and any folder that the server can read.
    """
    if hosted := settings.current():
        return hosted.models.listed
    if "ATLAS_MODELS" not in os.environ and (server := runner_server()):
        return served_models(server) or (FIRST,)
    return tuple(name.strip() for name in os.environ.get("ATLAS_MODELS", "").split(",") if name.strip())


def not_here(listed: Sequence[str]) -> list[str]:
    """Those of the listed that neither come with the app nor are among the models that the hub's library has kept."""
    home = os.environ.get("HF_HOME") or os.path.join(os.environ.get("XDG_CACHE_HOME") or "~/.cache", "huggingface")
    cache = Path(os.environ.get("HF_HUB_CACHE") or os.path.join(home, "hub")).expanduser()
    kept = {name: cache / f"models--{name.partition('@')[0].replace('/', '--')}" for name in listed}
    return [name for name in listed if name not in EMBEDDED and not kept[name].is_dir()]


def memory_setting() -> str:
    """What is kept of all visitors' texts, as :func:`model_runner.memory.budget` reads it; else ATLAS_MEMORY."""
    hosted = settings.current()
    return hosted.limits.memory if hosted else os.environ.get("ATLAS_MEMORY", "")


def silence_setting() -> float:
    """After how many seconds without a sign of work a model is loaded anew; else ATLAS_SILENCE."""
    hosted, own = settings.current(), os.environ.get("ATLAS_SILENCE", "").strip()
    return float(own if hosted is None and own.isdecimal() else (hosted or settings.Settings()).limits.silence)


def lessons_folder() -> Path | None:
    """Where lessons of the host's own are, from the environment of the server: ATLAS_LESSONS."""
    named = os.environ.get("ATLAS_LESSONS", "").strip()
    return Path(named).expanduser() if named else None


def state_folder() -> Path | None:
    """Where rooms are kept while they live; else ATLAS_STATE. None: in memory alone."""
    hosted = settings.current()
    named = hosted.server.state if hosted else os.environ.get("ATLAS_STATE", "").strip()
    return Path(named).expanduser() if named else None


def devices() -> tuple[str, ...]:
    """Those of this machine by their drivers, as torch names them: the menu is there before torch is."""
    cuda = shutil.which("nvidia-smi") or any(Path(driver).exists() for driver in ("/dev/nvidiactl", "/dev/kfd"))
    apple = sys.platform == "darwin" and platform.machine() == "arm64"
    return ("cpu", *(("cuda",) if cuda else ()), *(("mps",) if apple else ()))


def dtypes() -> tuple[str, ...]:
    """The numbers that a model can be loaded in here: those that quantize where their packages are installed."""
    there = [name for name, needed in QUANTIZING.items() if all(map(importlib.util.find_spec, needed))]
    return ("float32", "bfloat16", "float16", *there)
