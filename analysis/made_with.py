"""With what a file was made: the line that stands in each, whoever writes it."""

from __future__ import annotations

from datetime import date
from importlib.metadata import version


def made_with(app: str, weights: str = "") -> str:
    """The version of the ``app``, today, the versions of transformers and torch, the fingerprint of the ``weights``."""
    versions = " · ".join(f"{name} {version(name)}" for name in ("transformers", "torch"))
    named = f" · weights {weights}" if weights else ""
    return f"Attention Atlas {app} · {date.today().isoformat()} · {versions}{named}"
