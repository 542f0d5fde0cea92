"""The engine is imported once, by whoever comes first, while the others wait.

Two sessions that import it at the same time would see each other's half-made modules: the libraries below it import
one another in circles, and Python then hands out what is there so far rather than wait for ever.
"""

from __future__ import annotations

import threading

_LOCK = threading.Lock()


def import_engine() -> None:
    """After the frame is painted, and before a page imports what it shows."""
    with _LOCK:
        from ui import view, what_if  # what all pages share, and with it model_runner, torch and transformers

        _ = view, what_if
