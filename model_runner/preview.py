"""A preview of a model, from its configuration and the sizes of its files."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ModelPreview:
    """What is known before a model is loaded; None where the configuration does not say. Sizes are in bytes.

    ``needed`` is the memory for its weights in ``dtype``, ``free`` what is available on ``device``, ``missing`` what is
    still to be downloaded. ``capturable``: as far as its family tells; ``refused``: why it is not.
    """

    name: str
    family: str
    dtype: str
    device: str
    n_parameters: int | None
    n_layers: int | None
    n_heads: int | None
    n_kv_heads: int | None
    max_tokens: int | None
    needed: int
    free: int
    missing: int
    capturable: bool | None = None
    refused: str | None = None
