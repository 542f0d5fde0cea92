"""``make serve``: the settings are checked, then Streamlit takes this process's place with what they ask of it."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import urlsplit

from hosting.listed import not_here
from hosting.logs import OURS, QUIET, use_log
from hosting.open_connections import allow_files
from hosting.runner_server import runner_server
from hosting.settings import VARIABLE, Settings, WrongSetting, current, read

HOME = Path(__file__).resolve().parents[1]
EXAMPLE = HOME / "hosting" / "example.toml"  # every setting at its default
OWN = HOME / "hosting.toml"
MESSAGE = 2  # MB of what the widgets of a page hold
HEADER = 2**16  # bytes of a header: Streamlit (1.67) keeps what a provider signed in cookies, and they are one header


def options(settings: Settings) -> list[str]:
    """What Streamlit (1.67) is started with."""
    server, limits = settings.server, settings.limits
    given = {
        "server.address": server.address,
        "server.port": server.port,
        "server.baseUrlPath": server.base.strip("/"),
        "server.sslCertFile": server.certificate,
        "server.sslKeyFile": server.key,
        "server.headless": "true",
        "server.allowedHosts": urlsplit(server.public).hostname,
        "server.enableCORS": "true",
        "server.enableXsrfProtection": "true",
        "server.maxUploadSize": 1,
        "server.maxMessageSize": 200,
        "server.maxWidgetStateSize": MESSAGE,
        "server.disconnectedSessionTTL": limits.forget,
        "client.showErrorDetails": "none",
        "client.allowedOrigins": server.origin,
        "logger.enableRich": "false",
        "logger.hideWelcomeMessage": "true",
    }
    return [f"--{name}={value}" for name, value in given.items() if value != ""]


def settings_file(arguments: Sequence[str]) -> Path:
    """The one that is named, else hosting.toml if it is there, else every default."""
    return Path(arguments[0]) if arguments else OWN if OWN.is_file() else EXAMPLE


def prepared(arguments: Sequence[str]) -> list[str]:
    """The command that serves, for this process's environment, which it sets. Raises WrongSetting."""
    path = settings_file(arguments)
    settings = read(path)
    allow_files(settings.limits.connections)
    missing_models(settings)
    os.environ[VARIABLE] = str(path.resolve())
    os.environ["FORWARDED_ALLOW_IPS"] = ",".join(settings.server.proxies)  # read by uvicorn
    os.environ["WEBSOCKETS_MAX_LINE_LENGTH"] = str(HEADER)  # by websockets (17), which never answers a longer one
    for name, value in QUIET.items():
        os.environ.setdefault(name, value)
    return [sys.executable, "-m", f"{__package__}.visitors", "run", "app.py", *options(settings)]


def missing_models(settings: Settings) -> list[str]:
    """Those that are listed and not on this machine. Raises WrongSetting where they cannot be fetched either."""
    missing = [] if runner_server() else not_here(settings.models.listed)
    if missing and os.environ.get("HF_HUB_OFFLINE", "").upper() in ("1", "TRUE", "YES", "ON"):
        names = ", ".join(f"“{name}”" for name in missing)
        raise WrongSetting(
            f"models.listed has {names}, and this machine has no such model; with HF_HUB_OFFLINE=1 none is fetched."
        )
    return missing


if __name__ == "__main__":
    try:
        command = prepared(sys.argv[1:])
    except WrongSetting as error:
        sys.exit(str(error))
    if hosted := current():
        use_log(hosted.log)
        OURS.info("Attention Atlas is at %s", hosted.server.public)
        for name in missing_models(hosted):
            OURS.warning("The model %s is not on this machine yet; the hub is asked for it at its first use.", name)
    os.chdir(HOME)  # where .streamlit/config.toml is
    os.execv(command[0], command)
