"""Check that rooms outlive a restart, and that other users of this machine cannot read them."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from hosting.checks.finding import Findings, ok, warning
from hosting.settings import Server

LEAST = 2**28  # bytes that should be free
MB = 2**20
WHAT = "server.state"


def state(server: Server) -> Findings:
    """Check the folder of rooms; reading the settings has already checked that it exists and is writable."""
    if not server.state:
        yield warning(WHAT, "there is none: a restart loses the questions and answers of open rooms.")
        return
    free = shutil.disk_usage(server.state).free
    if os.name == "posix" and Path(server.state).stat().st_mode & 0o077:
        yield warning(WHAT, f"others on this machine can look into it; run chmod 700 {server.state}.")
    elif free < LEAST:
        yield warning(WHAT, f"only {free / MB:.0f} MB are free there; rooms are not kept on a full disk.")
    else:
        yield ok(WHAT, "open rooms are kept there over a restart.")
