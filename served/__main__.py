"""``python -m served settings.toml``: serve models over HTTP."""

from __future__ import annotations

import sys
from pathlib import Path

from jobs.torch_threads import meet_awake
from jobs.uncollected_imports import uncollected_imports


def run(path: Path) -> int:
    """Serve with this settings file, see :func:`served.serve.main`; returns the exit status."""
    meet_awake()
    with uncollected_imports():
        from served.serve import main  # imported late because it imports torch

    return main(path)


if __name__ == "__main__":
    sys.exit(run(Path(sys.argv[1] if len(sys.argv) > 1 else "served.toml")))
