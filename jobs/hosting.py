"""What who hosts the app has set for its visitors, in the environment."""

from __future__ import annotations

import os


def listed_models() -> tuple[str, ...]:
    """The only models that this server shows, in the order of its setting ATLAS_MODELS (names between commas).

    Nothing where it is not set: then it is any hub id, and any folder that the server can read.
    """
    return tuple(name.strip() for name in os.environ.get("ATLAS_MODELS", "").split(",") if name.strip())


def memory_setting() -> str:
    """What is kept of all visitors' texts, as :func:`model_runner.memory.budget` reads it; its setting ATLAS_MEMORY."""
    return os.environ.get("ATLAS_MEMORY", "")
