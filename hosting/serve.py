"""``make serve``: check the settings, then replace this process by Streamlit, configured accordingly."""

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
MESSAGE = 2  # MB; largest message with the values of a page's widgets
HEADER = 2**16  # bytes; Streamlit (1.67) stores the sign-in provider's tokens in cookies, which share one header


def options(settings: Settings) -> list[str]:
    """Command-line options for Streamlit (1.67)."""
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
    """The named settings file, else hosting.toml if it exists, else the defaults."""
    return Path(arguments[0]) if arguments else OWN if OWN.is_file() else EXAMPLE


def prepared(arguments: Sequence[str]) -> list[str]:
    """Set this process's environment and return the command that serves. Raises WrongSetting."""
    path = settings_file(arguments)
    settings = read(path)
    allow_files(settings.limits.connections)
    missing_models(settings)
    os.environ[VARIABLE] = str(path.resolve())
    os.environ["FORWARDED_ALLOW_IPS"] = ",".join(settings.server.proxies)  # read by uvicorn
    # read by websockets (17), which does not answer a longer one
    os.environ["WEBSOCKETS_MAX_LINE_LENGTH"] = str(HEADER)
    for name, value in QUIET.items():
        os.environ.setdefault(name, value)
    return [sys.executable, "-m", f"{__package__}.visitors", "run", "app.py", *options(settings)]


def missing_models(settings: Settings) -> list[str]:
    """Listed models that are not on this machine. Raises WrongSetting if they cannot be downloaded either."""
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
