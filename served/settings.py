"""The model server's settings in one TOML file: every value has a default, and an invalid one raises one sentence."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hosting.settings import (
    WrongSetting,
    byte_size,
    check_file,
    check_model_names,
    number,
    one_of,
    part_of,
    whole_number,
)

SHA256 = 64  # digits


@dataclass(frozen=True)
class Listening:
    """Where the server listens; ``certificate`` and ``key``, two files, enable TLS.

    Without them a proxy must provide it.
    """

    address: str = "127.0.0.1"
    port: int = whole_number(8600, 0, 65535)
    certificate: str = ""
    key: str = ""


@dataclass(frozen=True)
class ServedModels:
    """Names of embedded models and hub ids; at most ``most`` of them are in memory at a time."""

    listed: tuple[str, ...] = ("default",)
    most: int = whole_number(2, 1, 100)


@dataclass(frozen=True)
class QuestionLimits:
    """Limits of a question: ``body`` and ``answer`` are sizes, ``seconds`` the time limit.

    ``answer`` limits what it makes the model compute. ``text`` in characters and ``tokens`` generated, per question;
    ``memory`` is the cache's budget, and ``runs`` generations per key may be in progress. A model without progress for
    ``silence`` seconds is reloaded; one layer has to take less.
    """

    body: str = byte_size("16 MB")
    answer: str = byte_size("256 MB")
    seconds: int = whole_number(600, 1, 86_400)
    text: int = whole_number(200_000, 10, 10_000_000)
    tokens: int = whole_number(2000, 1, 1_000_000)
    memory: str = byte_size("1 GB")
    runs: int = whole_number(64, 1, 100_000)
    silence: int = whole_number(300, 120, 86_400)


@dataclass(frozen=True)
class Access:
    """An access key, of which the file has only the SHA-256. ``models`` it may use; empty: every listed one.

    At most ``in_flight`` of its questions may be in progress, waiting ones included.
    """

    name: str = ""
    sha256: str = ""
    in_flight: int = whole_number(64, 1, 100_000)
    tokens: int = whole_number(1_000_000, 1, 1_000_000)
    models: tuple[str, ...] = ()


@dataclass(frozen=True)
class RayCluster:
    """Where Ray runs, see :mod:`served.ray`. ``address`` of an existing cluster; without one, Ray is started here.

    ``store`` is Ray's shared memory, which models do not use. ``grace`` is the time in seconds for a replica to finish
    its questions before it is replaced.
    """

    address: str = ""
    dashboard: str = one_of("off", "on")
    store: str = byte_size("128 MB")
    grace: int = whole_number(60, 1, 3600)


@dataclass(frozen=True)
class RayApplication:
    """Models with replicas of their own: from ``replicas`` up to ``most``; 0: a fixed number.

    Replicas are added while one has more than ``questions`` in progress, waiting ones included. A replica has ``cpus``
    and ``gpus``: a fraction of a GPU, with the same fraction of its memory, or several GPUs, across which a model that
    fits on no single one is split.
    """

    name: str = ""
    models: tuple[str, ...] = ()
    replicas: int = whole_number(1, 1, 1000)
    most: int = whole_number(0, 0, 1000)
    questions: int = whole_number(8, 1, 1000)
    cpus: float = number(1.0, 0.01, 1024)
    gpus: float = number(0.0, 0.0, 64)

    @property
    def at_most(self) -> int:
        """Largest number of replicas."""
        return max(self.replicas, self.most)


@dataclass(frozen=True)
class ServedSettings:
    """All settings, by section of the file."""

    server: Listening = Listening()
    models: ServedModels = ServedModels()
    limits: QuestionLimits = QuestionLimits()
    keys: tuple[Access, ...] = field(default=())
    ray: RayCluster = RayCluster()
    applications: tuple[RayApplication, ...] = field(default=())

    def models_of(self, access: Access) -> tuple[str, ...]:
        """The models that this key may use, in order."""
        return tuple(name for name in self.models.listed if not access.models or name in access.models)


PARTS: dict[str, type[Any]] = {
    "server": Listening,
    "models": ServedModels,
    "limits": QuestionLimits,
    "ray": RayCluster,
}
LISTS: dict[str, type[Any]] = {"keys": Access, "applications": RayApplication}


def read(path: Path) -> ServedSettings:
    """Read the settings from this file. Raises WrongSetting."""
    try:
        given = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise WrongSetting(f"{path} cannot be read: {error.strerror}.") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise WrongSetting(f"{path} is no TOML: {error}.") from error
    for name, values in given.items():
        parts_of_list = isinstance(values, list) and all(isinstance(one, Mapping) for one in values)
        if not (parts_of_list if name in LISTS else name in PARTS and isinstance(values, Mapping)):
            every = f"[{'], ['.join(PARTS)}], [[{']] and [['.join(LISTS)}]]"
            raise WrongSetting(f"{path} has a part “{name}”; its parts are {every}.")
    found: dict[str, Any] = {name: part_of(name, kind, given.get(name, {})) for name, kind in PARTS.items()}
    found |= {name: tuple(part_of(name, kind, one) for one in given.get(name, [])) for name, kind in LISTS.items()}
    made = ServedSettings(**found)
    _check(made)
    _check_applications(made)
    return made


def _check(settings: ServedSettings) -> None:
    server = settings.server
    if bool(server.certificate) != bool(server.key):
        raise WrongSetting("server.certificate and server.key go together: one of them is missing.")
    for name in ("certificate", "key"):
        check_file(f"server.{name}", getattr(server, name))
    check_model_names(settings.models.listed)
    if not settings.keys:
        raise WrongSetting("There is no [[keys]]: nobody could ask. “attention-atlas runner --new-key NAME” makes one.")
    for key in settings.keys:
        if not key.name or " " in key.name:
            raise WrongSetting(f"keys.name is “{key.name}”; it must be a name without spaces.")
        if len(key.sha256) != SHA256 or set(key.sha256) - set("0123456789abcdef"):
            raise WrongSetting(f"The sha256 of the key {key.name} must be {SHA256} digits from 0 to f.")
        if unknown := [name for name in key.models if name not in settings.models.listed]:
            raise WrongSetting(f"The key {key.name} names {unknown[0]}, which is not in models.listed.")
    for what in ("name", "sha256"):
        if len({getattr(key, what) for key in settings.keys}) < len(settings.keys):
            raise WrongSetting(f"Two keys have the same {what}.")


def _check_applications(settings: ServedSettings) -> None:
    """Check that each model is in one application, and that only one has several; the others are routed by path."""
    applications = settings.applications
    if not applications:
        return
    names = [one.name for one in applications]
    if len(set(names)) < len(names) or not all(name.isidentifier() for name in names):
        raise WrongSetting("Each of the [[applications]] needs a name of its own, of letters, digits and underscores.")
    held = [name for one in applications for name in one.models]
    for name in settings.models.listed:
        if held.count(name) != 1:
            where = "no application" if name not in held else "two applications"
            raise WrongSetting(f"models.listed has {name}, and {where} of [[applications]]; it must be in one.")
    if unknown := [name for name in held if name not in settings.models.listed]:
        raise WrongSetting(f"An application names {unknown[0]}, which is not in models.listed.")
    for one in applications:
        _check_application(one)
    if len(several := [one.name for one in applications if len(one.models) > 1]) > 1:
        raise WrongSetting(f"{several[0]} and {several[1]} have several models each; one application alone may.")
    for one in applications:
        if len(one.models) == 1 and any(name.startswith(f"{one.models[0]}/") for name in held):
            raise WrongSetting(f"The path of {one.models[0]} has another model below it: put both in one application.")


def _check_application(one: RayApplication) -> None:
    if not one.models:
        raise WrongSetting(f"The application {one.name} has no models.")
    if 0 < one.most < one.replicas:
        raise WrongSetting(f"The application {one.name} has most = {one.most}, fewer than its {one.replicas} replicas.")
    if one.gpus > 1 and not one.gpus.is_integer():
        raise WrongSetting(f"The application {one.name} has gpus = {one.gpus:g}; it must be below 1, or whole.")
