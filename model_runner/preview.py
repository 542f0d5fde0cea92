"""What a model is going to be, as far as its configuration and the sizes of its files say it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ModelPreview:
    """Before anything is loaded; None is what the configuration does not say. Sizes are in bytes.

    ``needed`` is the memory of its weights in the ``dtype`` that it will have, ``free`` what there is of it on
    ``device``, ``missing`` what is still to be downloaded. ``capturable``: as far as its family tells it; ``refused``
    is why it is not.
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
