"""The mask a layer was given, kept as transformers' own rule instead of a queries × keys tensor."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Bool
from torch import Tensor
from transformers.masking_utils import sdpa_mask

from attention import masks


@dataclass(frozen=True)
class MaskRule:
    """``mask_function`` is a rule as in :mod:`attention.masks`; some only work element by element (``use_vmap``)."""

    mask_function: Callable[..., Tensor]
    use_vmap: bool = False

    def tile(self, queries: slice, keys: slice, device: torch.device) -> Bool[Tensor, "queries keys"]:
        """True where the query may look; O(tile) memory. Slices carry explicit non-negative bounds."""
        mask: Any = sdpa_mask(
            batch_size=1,
            q_length=queries.stop - queries.start,
            kv_length=keys.stop - keys.start,
            q_offset=queries.start,
            kv_offset=keys.start,
            mask_function=self.mask_function,
            allow_is_causal_skip=False,
            allow_is_bidirectional_skip=False,
            use_vmap=self.use_vmap,
            device=device,
        )
        return mask[0, 0]


CAUSAL = MaskRule(masks.causal)
FULL = MaskRule(masks.full)
