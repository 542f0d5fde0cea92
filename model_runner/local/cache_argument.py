"""The name under which a forward, and ``generate``, takes its KV cache."""

from __future__ import annotations

import inspect
from typing import Any


def cache_argument(model: Any, cache: Any) -> dict[str, Any]:
    """The cache as a keyword argument of this model: ``past_key_values``, which transformers 5.24 renamed ``cache``.

    5.24 also accepts the old name, with a warning in the reader's notebook at the first step.
    """
    renamed = "cache" in inspect.signature(model.forward).parameters
    return {"cache" if renamed else "past_key_values": cache}
