"""``python -m served.ray settings.toml``: serve models on a Ray cluster."""

from __future__ import annotations

import sys
from pathlib import Path

from served.ray.start import main

if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1] if len(sys.argv) > 1 else "served.toml")))
