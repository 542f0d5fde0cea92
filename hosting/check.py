"""``attention-atlas check settings.toml``: check everything that can be known before the first visitor, one line each.

Writes nothing, downloads nothing and leaves no port open.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from hosting.checks.certificate import certificate
from hosting.checks.finding import Findings, error, ok
from hosting.checks.machine import machine
from hosting.checks.models import models
from hosting.checks.network import network
from hosting.checks.sign_in import sign_in
from hosting.checks.state import state
from hosting.serve import settings_file
from hosting.settings import WrongSetting, read


def findings(path: Path) -> Findings:
    """Yield findings as they are made; the models, which take longest, come last."""
    try:
        settings = read(path)
    except WrongSetting as problem:
        yield error("settings", str(problem))
        return
    yield ok("settings", f"{path} is readable, and every setting is valid.")
    yield from network(settings.server)
    yield from certificate(settings.server)
    yield from sign_in(settings)
    yield from state(settings.server)
    yield from machine(settings.limits)
    yield from models(settings.models.listed)


def main(arguments: Sequence[str]) -> int:
    """Print the findings; returns 1 if one of them is an error."""
    errors = 0
    for finding in findings(settings_file(arguments)):
        sys.stdout.write(f"{finding.line}\n")
        sys.stdout.flush()
        errors += finding.level == "error"
    sys.stdout.write(f"{errors} {'error' if errors == 1 else 'errors'}\n" if errors else "The server can start.\n")
    return min(errors, 1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
