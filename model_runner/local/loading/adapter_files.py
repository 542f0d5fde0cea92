"""Reads the folder of an adapter within bounds: its settings, the shapes of its tensors, and the name of its base.

Nothing in it is evaluated. Of the many settings that peft (0.21) knows, those that only training reads are ignored. A
setting that changes the forward and is not supported here raises an error that names it.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from model_runner.adapter import AdapterIncomplete, AdapterRefused
from model_runner.errors import N_, ModelIncomplete, ModelPickled, Reason
from model_runner.local.loading.folder_files import CONFIG, MISSING, read_header, read_object

ADAPTER_CONFIG, ADAPTER_WEIGHTS, ADAPTER_PICKLED = (
    "adapter_config.json", "adapter_model.safetensors", "adapter_model.bin",
)  # fmt: skip
MOST_RANK = 16384  # the width of the widest models
MOST_NAMES, LONGEST_NAME = 4096, 1000  # of modules, and characters of a name or a pattern

# Settings that are read only in training, or when a new adapter is made.
OF_TRAINING = frozenset(
    [
        "task_type",
        "inference_mode",
        "peft_version",
        "auto_mapping",
        "lora_dropout",
        "megatron_core",
        "fan_in_fan_out",
        "init_ia3_weights",
        "runtime_config",
        "loftq_config",
        "eva_config",
        "qalora_group_size",
    ]
)
READ = frozenset(
    [
        "peft_type",
        "base_model_name_or_path",
        "revision",
        "r",
        "lora_alpha",
        "rank_pattern",
        "alpha_pattern",
        "use_rslora",
        "use_dora",
        "lora_bias",
        "bias",
        "target_modules",
        "exclude_modules",
        "modules_to_save",
        "layers_to_transform",
        "layers_pattern",
        "feedforward_modules",
        "init_lora_weights",
    ]
)
BASE_STAYS = (True, False, None, "gaussian", "eva", "orthogonal")  # initializations that leave the base unchanged

KINDS = {"LORA": "LoRA", "IA3": "IA³"}
OTHER_KIND = N_("it is of the kind {kind}, and only LoRA, rsLoRA, DoRA and IA³ can be opened")
OTHER_BASE = N_("its training began by changing the weights of its base ({setting})")
UNKNOWN = N_("its setting {setting} has a value that is not known here")
NO_BASE = N_("adapter_config.json names no base model")


@dataclass(frozen=True)
class AdapterSettings:
    """The settings in adapter_config.json that affect the forward.

    ``targets``: ends of module names, or one pattern.
    """

    kind: Literal["LORA", "IA3"]
    targets: tuple[str, ...] | str
    excluded: tuple[str, ...] | str
    saved: tuple[str, ...]
    rank: int
    alpha: int | float
    ranks: Mapping[str, int]
    alphas: Mapping[str, int | float]
    rslora: bool
    dora: bool
    layers: tuple[int, ...] | None
    layers_pattern: tuple[str, ...]

    @property
    def name(self) -> str:
        """The name of the method."""
        return "DoRA" if self.dora else "rsLoRA" if self.rslora else KINDS[self.kind]


@dataclass(frozen=True)
class AdapterFiles:
    """An adapter's folder: its settings, and the shape of each tensor by name. ``base`` is as written in the file."""

    name: str
    folder: Path
    settings: AdapterSettings
    shapes: Mapping[str, tuple[int, ...]]
    base: str
    revision: str | None


def is_adapter(folder: Path) -> bool:
    """Whether the folder holds an adapter and no model; an adapter beside a model's weights is ignored."""
    if not (folder / ADAPTER_CONFIG).is_file():
        return False
    whole = any(file.name != ADAPTER_WEIGHTS for file in folder.glob("*.safetensors"))
    return not (whole and (folder / CONFIG).is_file())


def inspect_adapter(name: str, folder: Path) -> AdapterFiles:
    """Inspect an adapter, reading only its configuration and header.

    Raises AdapterRefused, AdapterIncomplete, ModelPickled.
    """
    try:
        config = read_object(folder, ADAPTER_CONFIG)
        settings = _settings(name, config)
        if not (folder / ADAPTER_WEIGHTS).is_file():
            if (folder / ADAPTER_PICKLED).exists():
                raise ModelPickled(name=name, file=ADAPTER_PICKLED)
            raise AdapterIncomplete(name=name, reason=Reason(MISSING, {"file": ADAPTER_WEIGHTS}))
        shapes = read_header(folder, folder / ADAPTER_WEIGHTS)
    except ModelIncomplete as error:  # what the readers of any folder raise
        raise AdapterIncomplete(name=name, reason=error.values["reason"]) from error
    except OSError as error:
        values = {"file": error.filename or folder, "why": error.strerror}
        raise AdapterIncomplete(name=name, reason=Reason(N_("{file} cannot be read ({why})"), values)) from error
    base, revision = config.get("base_model_name_or_path"), config.get("revision")
    if not isinstance(base, str) or not 0 < len(base.strip()) <= LONGEST_NAME or not base.isprintable():
        raise AdapterRefused(name=name, reason=NO_BASE)
    return AdapterFiles(name, folder, settings, shapes, base.strip(), revision if isinstance(revision, str) else None)


class _Fields:
    """The fields of an adapter's configuration, checked as they are read: every method raises AdapterRefused."""

    def __init__(self, name: str, config: Mapping[str, Any]) -> None:
        self.name, self.config = name, config

    def refuse(self, setting: str, text: str = UNKNOWN) -> AdapterRefused:
        shown = f"{setting}: {self.config.get(setting)!r}"
        return AdapterRefused(name=self.name, reason=Reason(text, {"setting": shown[:100]}))

    def kind(self) -> Literal["LORA", "IA3"]:
        kind = self.config.get("peft_type")
        if kind not in KINDS:
            raise AdapterRefused(name=self.name, reason=Reason(OTHER_KIND, {"kind": str(kind)[:40]}))
        return kind

    def check_known(self) -> None:
        """Raises AdapterRefused if a setting is unknown, or if the adapter modifies its base."""
        for setting, value in self.config.items():
            if setting not in OF_TRAINING and setting not in READ and value not in (None, False, "", [], {}, 0):
                raise self.refuse(setting)
        begun = self.config.get("init_lora_weights", True)
        if not any(begun is one or (isinstance(one, str) and begun == one) for one in BASE_STAYS):
            raise self.refuse("init_lora_weights", OTHER_BASE)
        if self.config.get("bias") not in (None, "none", "all", "lora_only"):
            raise self.refuse("bias")

    def names(self, setting: str) -> tuple[str, ...]:
        value = self.config.get(setting) or []
        value = [value] if isinstance(value, str) else value
        if not isinstance(value, list) or len(value) > MOST_NAMES:
            raise self.refuse(setting)
        if not all(isinstance(one, str) and 0 < len(one) <= LONGEST_NAME for one in value):
            raise self.refuse(setting)
        return tuple(value)

    def names_or_pattern(self, setting: str) -> tuple[str, ...] | str:
        """A string is a pattern, a list holds names."""
        listed = self.names(setting)
        return listed[0] if isinstance(self.config.get(setting), str) and listed else listed

    def layers(self) -> tuple[int, ...] | None:
        layers = self.config.get("layers_to_transform")
        layers = [layers] if isinstance(layers, int) else layers
        if layers is not None and not (isinstance(layers, list) and all(type(one) is int for one in layers)):
            raise self.refuse("layers_to_transform")
        return tuple(layers) if layers else None

    def number(self, setting: str, value: Any, least: int | float, most: int | float, *, whole: bool = False) -> Any:
        right = isinstance(value, int if whole else (int, float)) and not isinstance(value, bool)
        if not (right and math.isfinite(value) and least <= value <= most):
            raise self.refuse(setting)
        return value

    def number_by_name(
        self, setting: str, least: int | float, most: int | float, *, whole: bool = False
    ) -> dict[str, Any]:
        value = self.config.get(setting) or {}
        if not isinstance(value, dict) or len(value) > MOST_NAMES or max(map(len, value), default=0) > LONGEST_NAME:
            raise self.refuse(setting)
        return {key: self.number(setting, one, least, most, whole=whole) for key, one in value.items()}


def _settings(name: str, config: Mapping[str, Any]) -> AdapterSettings:
    """Parse the settings. Raises AdapterRefused for a kind or a setting that is not supported."""
    fields = _Fields(name, config)
    kind = fields.kind()
    fields.check_known()
    lora = kind == "LORA"
    return AdapterSettings(
        kind=kind,
        targets=fields.names_or_pattern("target_modules"),
        excluded=fields.names_or_pattern("exclude_modules"),
        saved=fields.names("modules_to_save"),
        rank=fields.number("r", config.get("r", 8), 1, MOST_RANK, whole=True) if lora else 0,
        alpha=fields.number("lora_alpha", config.get("lora_alpha", 8), -1e9, 1e9) if lora else 0.0,
        ranks=fields.number_by_name("rank_pattern", 1, MOST_RANK, whole=True),
        alphas=fields.number_by_name("alpha_pattern", -1e9, 1e9),
        rslora=bool(config.get("use_rslora")),
        dora=bool(config.get("use_dora")),
        layers=fields.layers(),
        layers_pattern=fields.names("layers_pattern"),
    )


def base_inside(files: AdapterFiles) -> Path | None:
    """The folder of the base if it lies inside the adapter's own folder, with links and ``..`` resolved.

    Raises AdapterRefused for an adapter that names itself as its base.
    """
    try:
        own, place = files.folder.resolve(), (files.folder / files.base).resolve()
        there = place.is_dir()
    except (OSError, RuntimeError, ValueError):  # a circular link, or a name too long
        return None
    if place == own:
        raise AdapterRefused(name=files.name, reason=N_("it names itself as its base"))
    return place if there and place.is_relative_to(own) else None


def base_named(files: AdapterFiles) -> tuple[str, bool]:
    """The base as shown to the user and as it is looked up, and whether it is a folder's path (else a hub id).

    A relative path starts at the adapter's folder or, if nothing is there, at the working directory, as in peft.
    """
    base = files.base
    expanded = os.path.expanduser(base)
    looks = base.startswith(("/", "~", ".")) or "\\" in base
    try:
        beside, here = (files.folder / base).is_dir(), Path(expanded).is_dir()
    except (OSError, RuntimeError, ValueError):
        beside, here = False, False
    if not (looks or beside or here):
        return base, False
    return os.path.realpath(files.folder / base if beside else expanded), True
