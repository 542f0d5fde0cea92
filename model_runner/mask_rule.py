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
from attention.masks import Rule


@dataclass(frozen=True)
class MaskEdit:
    """What an edit does to the mask of a layer: cells its ``rule`` does not keep are hidden.

    ``heads`` are those it is for, None for all. With ``ahead`` cells that the rule keeps are seen even where the
    layer's own rule hides them.
    """

    rule: Rule
    heads: frozenset[int] | None = None
    ahead: bool = False


@dataclass(frozen=True)
class MaskRule:
    """``mask_function`` is a rule as in :mod:`attention.masks`; some only work element by element (``use_vmap``)."""

    mask_function: Callable[..., Tensor]
    use_vmap: bool = False
    edits: tuple[MaskEdit, ...] = ()

    def tile(
        self, queries: slice, keys: slice, device: torch.device, *, head: int | None = None
    ) -> Bool[Tensor, "queries keys"]:
        """True where the query may look; O(tile) memory. Slices carry explicit non-negative bounds.

        Without a head: where at least one head may, which is every head unless an edit is for some of them.
        """
        own = self._own(queries, keys, device)
        if head is not None or not any(edit.heads for edit in self.edits):
            return self._edited(own, queries, keys, head)
        named = {one for edit in self.edits for one in edit.heads or ()}
        others = max(named) + 1  # a head that no edit names
        tiles = [self._edited(own, queries, keys, one) for one in (*named, others)]
        return torch.stack(tiles).any(dim=0)

    def tiles(
        self, heads: slice, queries: slice, keys: slice, device: torch.device
    ) -> Bool[Tensor, "*heads queries keys"]:
        """The tile of each of these heads; without the axis where they all see the same."""
        own = self._own(queries, keys, device)
        if not any(edit.heads for edit in self.edits):
            return self._edited(own, queries, keys, None)
        return torch.stack([self._edited(own, queries, keys, head) for head in range(heads.start, heads.stop)])

    def _own(self, queries: slice, keys: slice, device: torch.device) -> Bool[Tensor, "queries keys"]:
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

    def _edited(
        self, keep: Bool[Tensor, "queries keys"], queries: slice, keys: slice, head: int | None
    ) -> Bool[Tensor, "queries keys"]:
        for edit in self.edits:
            if edit.heads is None or head in edit.heads:
                kept = masks.tile(edit.rule, queries, keys, device=keep.device)
                keep = (keep | kept) if edit.ahead else (keep & kept)
        return keep


CAUSAL = MaskRule(masks.causal)
FULL = MaskRule(masks.full)
