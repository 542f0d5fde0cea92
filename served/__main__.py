"""``python -m served settings.toml``: models behind HTTP, until it is ended."""

from __future__ import annotations

import sys
from pathlib import Path

from jobs.torch_threads import meet_awake


def run(path: Path) -> int:
    """Serve by this file of settings, see :func:`served.serve.main`; its exit status."""
    meet_awake()
    from served.serve import main  # after it: it imports torch

    return main(path)


if __name__ == "__main__":
    sys.exit(run(Path(sys.argv[1] if len(sys.argv) > 1 else "served.toml")))
