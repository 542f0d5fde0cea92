"""The name by which a forward, and ``generate``, takes its cache of keys and values."""

from __future__ import annotations

import inspect
from typing import Any


def cache_argument(model: Any, cache: Any) -> dict[str, Any]:
    """The cache as the keyword argument of this model: ``past_key_values``, which transformers 5.24 renamed ``cache``.

    By its old name 5.24 takes it too, with a warning in the reader's notebook at the first step.
    """
    renamed = "cache" in inspect.signature(model.forward).parameters
    return {"cache" if renamed else "past_key_values": cache}
