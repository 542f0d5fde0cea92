"""Check that each listed model loads on this machine, each in a process of its own, one after the other."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from hosting.checks.finding import Findings, error, ok, warning
from hosting.redaction import PATH
from hosting.runner_server import SERVER

HOME = Path(__file__).resolve().parents[2]
MODULE = f"{__name__.removesuffix('hosting.checks.models')}served.model_check"
PATIENCE = 300.0  # seconds for one model
OFFLINE = "HF_HUB_OFFLINE"
MILLION = 1e6


def models(listed: tuple[str, ...], patience: float = PATIENCE) -> Findings:
    """Report size, memory and loading time of each, and whether its captures reproduce its attention output."""
    if os.environ.get(SERVER, "").strip():
        yield ok("models.listed", f"{SERVER} is set: the models are another server's, which checks them.")
        return
    for name in listed:
        yield from _model(name, patience)


def _model(name: str, patience: float) -> Findings:
    what = f"model {name}"
    try:
        told = _opened(name, patience)
    except subprocess.TimeoutExpired:
        yield error(what, f"it was not open after {patience:.0f} seconds.")
        return
    if told.get("missing"):
        if os.environ.get(OFFLINE, "").strip().lower() in ("1", "true", "yes", "on"):
            yield error(what, f"it is not on this machine, and {OFFLINE}=1 forbids a download.")
        else:
            yield warning(what, "it is not on this machine yet; its first visitor waits for the download.")
    elif "error" in told:
        yield error(what, PATH.sub("…", str(told["error"])))
    elif not told["verified"]:
        yield error(what, "it opens, but its captures do not reproduce its own attention output.")
    else:
        memory = f", {told['bytes'] / MILLION:,.0f} MB with the program" if told["bytes"] else ""
        size = f"{told['parameters'] / MILLION:,.1f} million parameters ({told['dtype']})"
        yield ok(what, f"{size}{memory}; opened and verified in {told['seconds']:.0f} s.")


def _opened(name: str, patience: float) -> dict[str, Any]:
    """Run served/model_check.py for one model, without downloads and writing nothing. Raises TimeoutExpired."""
    environment = {**os.environ, OFFLINE: "1", "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", MODULE, name]
    given: Any = {"cwd": HOME, "env": environment, "capture_output": True, "text": True, "timeout": patience}
    ended = subprocess.run(command, **given)
    try:
        return json.loads(ended.stdout.splitlines()[-1])
    except (IndexError, ValueError):
        last = ended.stderr.strip().splitlines()[-1:] or ["no reason given"]
        return {"error": f"the process that opened it ended with status {ended.returncode} ({last[0]})."}
