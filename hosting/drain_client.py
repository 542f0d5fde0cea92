"""``attention-atlas drain settings.toml``: tell a running server to drain, and wait until it has exited."""

from __future__ import annotations

import argparse
import http.client
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Sequence

from hosting.metrics_server import HERE, MINUTES
from hosting.serve import settings_file
from hosting.settings import WrongSetting, read

LOOK = 1.0  # seconds between two checks whether it has exited
PATIENCE = 10.0  # seconds for an answer
CANCELLED = "Draining was cancelled, and the server goes on: do not restart it now."


def main(arguments: Sequence[str]) -> int:
    """Print the server's answer; returns 1 if there is no server, it refuses, or the drain is cancelled."""
    parser = argparse.ArgumentParser(prog="attention-atlas drain")
    parser.add_argument("settings", nargs="?", default="")
    parser.add_argument("--minutes", default=MINUTES)
    parser.add_argument("--cancel", action="store_true")
    parser.add_argument("--no-wait", dest="wait", action="store_false")
    given = parser.parse_args(arguments)
    try:
        port = read(settings_file([given.settings] if given.settings else [])).server.local_port
    except WrongSetting as error:
        return _say(str(error), 1)
    if not port:
        return _say("server.local_port is 0: this server cannot be told to drain.", 1)
    method, query = ("DELETE", "") if given.cancel else ("POST", f"?minutes={given.minutes}")
    request = urllib.request.Request(f"http://{HERE}:{port}/drain{query}", method=method)
    try:
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
            _say(answer.read().decode().strip())
    except urllib.error.HTTPError as refused:
        return _say(refused.read().decode().strip(), 1)
    except OSError:
        return _say(f"No server of these settings runs here: nothing answers at {HERE}:{port}.", 1)
    if given.cancel or not given.wait:
        return 0
    while (health := _health(port)) == "draining":
        time.sleep(LOOK)
    return _say(CANCELLED, 1) if health else _say("The server has ended.")


def _health(port: int) -> str:
    """The server's health, "draining" while it does not answer, or empty once nothing listens on the port."""
    try:
        with urllib.request.urlopen(f"http://{HERE}:{port}/healthz", timeout=PATIENCE) as answer:
            return answer.read().decode().strip()
    except (OSError, http.client.HTTPException) as problem:  # stuck, slow or interrupted: the server still exists
        reason = getattr(problem, "reason", problem)
        return "" if isinstance(reason, ConnectionRefusedError) else "draining"


def _say(words: str, status: int = 0) -> int:
    sys.stdout.write(f"{words}\n")
    sys.stdout.flush()
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
