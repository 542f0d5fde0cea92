"""The line in every file that says with what it was made."""

from __future__ import annotations

from datetime import date
from importlib.metadata import version


def made_with(app: str, weights: str = "") -> str:
    """Versions of the ``app``, of transformers and torch, the date, and the fingerprint of the ``weights``."""
    versions = " · ".join(f"{name} {version(name)}" for name in ("transformers", "torch"))
    named = f" · weights {weights}" if weights else ""
    return f"Attention Atlas {app} · {date.today().isoformat()} · {versions}{named}"
