"""``attention-atlas drain settings.toml``: tell a running server to drain, and wait until it has ended."""

from __future__ import annotations

import argparse
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Sequence

from hosting.metrics_server import HERE, MINUTES
from hosting.serve import settings_file
from hosting.settings import WrongSetting, read

LOOK = 1.0  # seconds between two looks whether it has ended
PATIENCE = 10.0  # seconds for an answer


def main(arguments: Sequence[str]) -> int:
    """Print what the server says; 1 where none is there or it refuses."""
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
    while _drains(port):
        time.sleep(LOOK)
    return _say("The server has ended.")


def _drains(port: int) -> bool:
    try:
        with urllib.request.urlopen(f"http://{HERE}:{port}/healthz", timeout=PATIENCE) as answer:
            return answer.read() == b"draining\n"
    except urllib.error.HTTPError:  # stuck, and there all the same
        return True
    except OSError:
        return False


def _say(words: str, status: int = 0) -> int:
    sys.stdout.write(f"{words}\n")
    sys.stdout.flush()
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
