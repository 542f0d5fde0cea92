"""The host's settings in one TOML file: every value has a default, and an invalid one raises one sentence."""

from __future__ import annotations

import functools
import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from difflib import get_close_matches
from ipaddress import ip_network
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

VARIABLE = "ATLAS_HOSTING"  # names the file for the server's process; if unset, the app is in single-user mode
UNITS = {"KB": 2**10, "MB": 2**20, "GB": 2**30}
NEAR = ("127.0.0.1", "localhost", "::1")


class WrongSetting(ValueError):
    """One sentence that says which setting is wrong and what it may be."""


def whole_number(default: int, least: int, most: int) -> Any:
    """An integer setting within these bounds."""
    return field(default=default, metadata={"bounds": (least, most)})


def number(default: float, least: float, most: float) -> Any:
    """A number setting within these bounds."""
    return field(default=default, metadata={"bounds": (least, most)})


def one_of(*choices: str) -> Any:
    """A setting that is one of these words; the first is its default."""
    return field(default=choices[0], metadata={"choices": choices})


def byte_size(default: str) -> Any:
    """A setting that is a size such as "512 MB"."""
    return field(default=default, metadata={"size": True})


@dataclass(frozen=True)
class Server:
    """Where the server listens, and how visitors reach it; ``url`` is what they type, including any base path.

    ``proxies`` are trusted to name the client. ``local_port`` has health and metrics, on 127.0.0.1 only; 0: none.
    ``framed_by`` are origins that may show the app in a frame. ``shared`` are addresses and networks with many users,
    such as a school's, which are limited only by the totals. ``state`` is the folder in which rooms are saved while
    they live; if empty, a restart loses their answers.
    """

    address: str = "127.0.0.1"
    port: int = whole_number(8501, 1, 65535)
    url: str = ""
    certificate: str = ""
    key: str = ""
    proxies: tuple[str, ...] = ()
    local_port: int = whole_number(9464, 0, 65535)
    framed_by: tuple[str, ...] = ()
    shared: tuple[str, ...] = ()
    state: str = ""

    @property
    def public(self) -> str:
        """The URL without a trailing slash."""
        own = f"{'https' if self.certificate else 'http'}://{self.address}:{self.port}"
        return (self.url or own).rstrip("/")

    @property
    def origin(self) -> str:
        """The URL's scheme, host and port, as in a browser's Origin header."""
        return self.public[: len(self.public) - len(self.base)]

    @property
    def base(self) -> str:
        """The base path, such as "/atlas"; empty for the root."""
        return urlsplit(self.public).path

    @property
    def secure(self) -> bool:
        """True if visitors use TLS, ended by this server or a proxy."""
        return self.public.startswith("https://")


@dataclass(frozen=True)
class Models:
    """Names of embedded models and hub ids; other models are refused."""

    listed: tuple[str, ...] = ("default", "encoder", "translator")


@dataclass(frozen=True)
class Limits:
    """Limits of requests, sessions, connections and memory.

    ``text`` in characters; ``tokens`` generated; ``sessions`` admitted at a time, ``address_sessions`` of them from one
    address; ``address_phones`` from one address in a room; ``looks`` and ``requests`` per minute.

    ``memory`` is the budget of the cache; above ``process_memory`` nobody is admitted; after ``idle`` seconds a slot
    goes to a waiting session, ``keep`` seconds it is reserved for a page that is reloaded, and after ``forget`` seconds
    a session that was left is discarded.

    ``connections`` are open at a time, ``address_connections`` of them from one address, whose unfinished messages may
    have ``unfinished`` bytes; within ``handshake`` seconds a connection must send its request.

    A model that shows no progress for ``silence`` seconds is reloaded; one layer has to take less.
    """

    text: int = whole_number(20_000, 10, 10_000_000)
    tokens: int = whole_number(500, 1, 100_000)
    sessions: int = whole_number(60, 1, 100_000)
    address_sessions: int = whole_number(30, 1, 100_000)
    address_phones: int = whole_number(40, 1, 500)
    looks: int = whole_number(240, 1, 1_000_000)
    requests: int = whole_number(12_000, 10, 10_000_000)
    memory: str = byte_size("1 GB")
    process_memory: str = byte_size("8 GB")
    idle: int = whole_number(900, 10, 86_400)
    keep: int = whole_number(60, 0, 3600)
    forget: int = whole_number(1800, 0, 86_400)
    connections: int = whole_number(3000, 20, 1_000_000)
    address_connections: int = whole_number(600, 10, 1_000_000)
    unfinished: str = byte_size("16 MB")
    handshake: int = whole_number(10, 1, 600)
    silence: int = whole_number(300, 120, 86_400)


@dataclass(frozen=True)
class Log:
    """One line per event, as ``text`` or ``json``; ``level`` is the lowest level that is logged."""

    format: str = one_of("text", "json")
    level: str = one_of("info", "warning", "error")


@dataclass(frozen=True)
class SignIn:
    """An OpenID Connect provider for teachers: email addresses, or "@school.org" for a whole domain.

    Without ``metadata`` there is no sign-in. Secrets are in files of their own. Without ``cookie_secret_file``
    everybody is signed out at a restart.
    """

    metadata: str = ""
    client: str = ""
    client_secret_file: str = ""
    cookie_secret_file: str = ""
    teachers: tuple[str, ...] = ()


@dataclass(frozen=True)
class Settings:
    """All settings, by section of the file."""

    server: Server = Server()
    models: Models = Models()
    limits: Limits = Limits()
    log: Log = Log()
    sign_in: SignIn = SignIn()


def current() -> Settings | None:
    """The settings of this process's host, or None in single-user mode. Raises WrongSetting."""
    path = os.environ.get(VARIABLE, "")
    return _held(path) if path else None


@functools.cache
def _held(path: str) -> Settings:
    return read(Path(path))


def read(path: Path) -> Settings:
    """Read the settings from this file. Raises WrongSetting."""
    try:
        given = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise WrongSetting(f"{path} cannot be read: {error.strerror}.") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise WrongSetting(f"{path} is no TOML: {error}.") from error
    kinds = {one.name: type(one.default) for one in fields(Settings)}
    for section, values in given.items():
        if section not in kinds or not isinstance(values, Mapping):
            raise WrongSetting(f"{path} has a part “{section}”; its parts are [{'], ['.join(kinds)}].")
    found = Settings(**{name: part_of(name, kind, given.get(name, {})) for name, kind in kinds.items()})
    _check_together(found)
    return found


def part_of(section: str, kind: type[Any], values: Mapping[str, Any]) -> Any:
    """Parse a section into this dataclass. Raises WrongSetting."""
    known = {one.name: one for one in fields(kind)}
    for name in values:
        if name not in known:
            near = get_close_matches(name, known, 1)
            words = f"did you mean “{near[0]}”?" if near else f"there are {', '.join(known)}."
            raise WrongSetting(f"There is no setting “{name}” in [{section}]; {words}")
    return kind(**{name: _value(f"{section}.{name}", known[name], value) for name, value in values.items()})


def _value(name: str, about: Any, value: Any) -> Any:
    if isinstance(about.default, tuple):
        if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
            raise WrongSetting(f'{name} must be a list of texts, such as ["one", "two"].')
        return tuple(value)
    if isinstance(about.default, float):
        return _number(name, about.metadata["bounds"], value)
    if isinstance(about.default, int):
        least, most = about.metadata["bounds"]
        if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
            raise WrongSetting(f"{name} is {value!r}; it must be a whole number from {least:,} to {most:,}.")
    elif not isinstance(value, str):
        raise WrongSetting(f"{name} is {value!r}; it must be a text.")
    elif value not in (choices := about.metadata.get("choices", (value,))):
        raise WrongSetting(f"{name} is “{value}”; it must be one of {', '.join(choices)}.")
    elif "size" in about.metadata:
        in_bytes(value, name)
    return value


def _number(name: str, bounds: tuple[float, float], value: object) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool) or not bounds[0] <= value <= bounds[1]:
        raise WrongSetting(f"{name} is {value!r}; it must be a number from {bounds[0]:g} to {bounds[1]:g}.")
    return float(value)


def in_bytes(size: str, name: str = "size") -> int:
    """Parse a size such as "512 MB" into bytes. Raises WrongSetting."""
    number, _, unit = size.strip().upper().partition(" ")
    try:
        return int(float(number) * UNITS[unit])
    except (ValueError, KeyError, OverflowError):
        raise WrongSetting(f"{name} is “{size}”; it must be a size such as “512 MB” or “2 GB”.") from None


def _check_together(found: Settings) -> None:
    _check_server(found.server)
    check_model_names(found.models.listed)
    _check_sign_in(found.sign_in, found.server)


def _check_server(server: Server) -> None:
    if bool(server.certificate) != bool(server.key):
        raise WrongSetting("server.certificate and server.key go together: one of them is missing.")
    address = urlsplit(server.url)
    if server.url and (address.scheme not in ("http", "https") or not address.netloc or address.query):
        raise WrongSetting(f"server.url is “{server.url}”; it must be like https://atlas.school.org/atlas.")
    if server.url and server.certificate and address.scheme == "http":
        raise WrongSetting("server.url begins with http://, but there is a certificate: visitors come by https://.")
    if not server.url and server.address in ("0.0.0.0", "::"):
        raise WrongSetting(
            f"server.url is missing: server.address is “{server.address}”, which nobody can type; "
            "say what visitors type, such as http://atlas.school.org:8501."
        )
    for name in ("certificate", "key"):
        check_file(f"server.{name}", getattr(server, name))
    check_folder("server.state", server.state)
    for name in ("proxies", "shared"):
        for one in getattr(server, name):
            _check_network(f"server.{name}", one)


def check_model_names(listed: tuple[str, ...]) -> None:
    """Raises WrongSetting if no model is listed, or if one is a folder."""
    if not listed:
        raise WrongSetting("models.listed is empty: name one model at least, such as “default”.")
    for name in listed:
        if name.startswith(("/", "~", ".")) or "\\" in name or name.count("/") > 1:
            raise WrongSetting(f"models.listed has “{name}”, a folder; name embedded models and ids of the hub.")


def _check_sign_in(sign_in: SignIn, server: Server) -> None:
    for name in ("client_secret_file", "cookie_secret_file"):
        check_file(f"sign_in.{name}", getattr(sign_in, name))
    if not sign_in.metadata:
        return
    for name in ("client", "client_secret_file", "teachers"):
        if not getattr(sign_in, name):
            raise WrongSetting(f"sign_in.{name} is missing: with sign_in.metadata it is needed.")
    if not server.secure and urlsplit(server.public).hostname not in NEAR:
        raise WrongSetting("Signing in needs TLS: server.url must begin with https://.")


def _check_network(name: str, one: str) -> None:
    try:
        ip_network(one, strict=False)
    except ValueError:
        raise WrongSetting(f"{name} has “{one}”; it must be an address or a network, such as 10.0.0.0/8.") from None


def check_folder(name: str, path: str) -> None:
    """Raises WrongSetting if the folder does not exist or is not writable."""
    if path and not Path(path).is_dir():
        raise WrongSetting(f"{name} names {path}, and there is no such folder: make it, and give it to this server.")
    if path and not os.access(path, os.W_OK | os.X_OK):
        raise WrongSetting(f"{name} names {path}, into which this server may not write.")


def check_file(name: str, path: str) -> None:
    """Raises WrongSetting if the file does not exist."""
    if path and not Path(path).is_file():
        raise WrongSetting(f"{name} names {path}, and there is no such file.")
