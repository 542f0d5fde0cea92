"""``python -m served settings.toml``: models behind HTTP on this machine, until it is ended."""

from __future__ import annotations

import sys

from served.serve import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
