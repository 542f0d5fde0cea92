"""Chooses the device for a model: a single one, or, if it fits no single GPU, several, split by accelerate."""

from __future__ import annotations

import contextlib
import importlib.util
from collections.abc import Generator
from dataclasses import dataclass
from typing import Any

import torch

from model_runner import memory
from model_runner.errors import N_, DeviceMissing, ModelTooLarge, RunnerError
from model_runner.model_cache import Device

MIXED = ("same device", "expected device", "meta tensor")  # in torch's errors (2.13)
SPARE = 1.1  # times its weights: room for activations


class NeedsAccelerate(RunnerError):
    message = N_("The model {name} needs about {needed} of memory, more than one GPU has free, but not more than all.")
    hint = N_("Install the Python package accelerate, which spreads a model over several GPUs.")


class OneDeviceOnly(RunnerError):
    message = N_("This cannot be computed for a model that is spread over several devices.")
    hint = N_("Choose a smaller model, or one GPU that it fits on.")


@dataclass(frozen=True)
class Placement:
    """``device`` holds the first layer; with ``spread``, further layers are on the machine's other devices, the CPU
    last.
    """

    device: torch.device
    free: int
    spread: bool = False

    @property
    def name(self) -> str:
        return f"{self.device.type} × {torch.cuda.device_count()}" if self.spread else self.device.type

    @property
    def options(self) -> dict[str, Any]:
        """The keyword arguments for ``from_pretrained``."""
        return {"device_map": "auto"} if self.spread else {}


def best_device(asked: Device | str) -> torch.device:
    """The device asked for; "auto": cuda, then mps, then cpu. Raises DeviceMissing."""
    there = {"cpu": True, "cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available()}
    if asked == "auto":
        return torch.device(next(name for name in ("cuda", "mps", "cpu") if there[name]))
    if not there.get(asked.partition(":")[0], True):
        raise DeviceMissing(device=asked)
    return torch.device(asked)


def place_model(name: str, asked: Device | str, needed: int) -> Placement:
    """Choose where a model that needs this much memory goes. Raises DeviceMissing, ModelTooLarge, NeedsAccelerate."""
    place = choose_placement(asked, needed)
    if needed > place.free:
        raise ModelTooLarge(name=name, needed=memory.readable(needed), free=memory.readable(place.free))
    if place.spread and importlib.util.find_spec("accelerate") is None:
        raise NeedsAccelerate(name=name, needed=memory.readable(needed))
    return place


def choose_placement(asked: Device | str, needed: int) -> Placement:
    """Choose without checking that it fits: one device if possible, since layers on several devices wait for each
    other.
    """
    device = best_device(asked)
    free = memory.available(device)
    n_gpus = torch.cuda.device_count() if str(device) == "cuda" else 1
    if n_gpus > 1 and SPARE * needed > free:
        together = sum(memory.available(torch.device("cuda", index)) for index in range(n_gpus))
        return Placement(device, together, spread=True)
    return Placement(device, free)


@contextlib.contextmanager
def on_one_device() -> Generator[None]:
    """Raises OneDeviceOnly for a computation that mixes tensors on several devices, rather than half an answer."""
    try:
        yield
    except RuntimeError as error:
        if not any(words in str(error) for words in MIXED):
            raise
        raise OneDeviceOnly() from error


def move_model(model: Any, device: str | None) -> Any:
    """Move the model to the device; a model loaded with a device map stays where it is."""
    return model if getattr(model, "hf_device_map", None) else model.to(device or model.device)


def devices_of(model: Any) -> str:
    """The device it is on, or all of them."""
    mapped = (getattr(model, "hf_device_map", None) or {}).values()
    every = dict.fromkeys(f"cuda:{one}" if isinstance(one, int) else str(one) for one in mapped)
    return ", ".join(every) if len(every) > 1 else str(model.device)
