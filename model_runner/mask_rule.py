"""The mask of a layer, kept as a rule instead of a queries × keys tensor, with the cells that edits hide."""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from jaxtyping import Bool
from torch import Tensor

from attention import masks
from attention.masks import Rule
from attention.patterns import BY_NAME
from model_runner.edits import Blocked, Documents, KeepLast, Masked
from model_runner.substitution import Substituted

MaskEdit = KeepLast | Documents | Masked | Blocked | Substituted


@dataclass(frozen=True)
class MaskRule:
    """``own`` is the layer's rule, one of :mod:`attention.masks`; ``edits`` are those of the request for this layer."""

    own: Rule
    edits: tuple[MaskEdit, ...] = ()

    @property
    def before_choice(self) -> MaskRule:
        """The rule without the choice of keys by an indexer; the rule itself if there is none."""
        before = masks.before_choice(self.own)
        return self if before is self.own else replace(self, own=before)

    def tile(
        self, queries: slice, keys: slice, device: torch.device, *, head: int | None = None
    ) -> Bool[Tensor, "queries keys"]:
        """True where the query may attend to the key; O(tile) memory. Slices have explicit non-negative bounds.

        Without a head: where at least one head may. All heads are alike unless they attend to different keys, by
        hashing or by an edit of some heads.
        """
        if head is not None or not self._by_head:
            own = masks.tile(self.own, queries, keys, head=head or 0, device=device)
            return self._edited(own, queries, keys, head)
        known = masks.n_heads(self.own)
        named = {one for edit in self.edits for one in _heads(edit) or ()}
        # the last one stands for those that no edit names
        heads = range(known) if known is not None else (*named, max(named) + 1)
        return torch.stack([self.tile(queries, keys, device, head=one) for one in heads]).any(dim=0)

    def tiles(
        self, heads: slice, queries: slice, keys: slice, device: torch.device
    ) -> Bool[Tensor, "*heads queries keys"]:
        """The tile for each of these heads; without the heads axis if all heads are alike."""
        if not self._by_head:
            return self.tile(queries, keys, device)
        return torch.stack([self.tile(queries, keys, device, head=head) for head in range(heads.start, heads.stop)])

    def sees_ahead(self, n_tokens: int, *, head: int | None = None) -> bool:
        """Whether a query of ``n_tokens`` may attend to a later key, by the rule or by an edit that widens it.

        A rule that allows it counts whatever edits hide of it. Without a head: whether at least one head may.
        """
        if masks.sees_ahead(self.own):
            return True
        return any(
            bool(masks.tile(rule_of(edit), slice(0, 1), slice(1, n_tokens)).any())
            for edit in self.edits
            if self._widens(edit) and (head is None or head in (_heads(edit) or (head,)))
        )

    @property
    def _by_head(self) -> bool:
        return masks.n_heads(self.own) is not None or any(_heads(edit) for edit in self.edits)

    def _edited(
        self, keep: Bool[Tensor, "queries keys"], queries: slice, keys: slice, head: int | None
    ) -> Bool[Tensor, "queries keys"]:
        for edit in self.edits:
            heads = _heads(edit)
            if heads is None or head in heads:
                kept = masks.tile(rule_of(edit), queries, keys, device=keep.device)
                keep = (keep | kept) if self._widens(edit) else (keep & kept)
        return keep

    def _widens(self, edit: MaskEdit) -> bool:
        """Whether cells that the edit keeps are visible even where the layer's own rule hides them."""
        if isinstance(edit, Substituted):
            return True
        return isinstance(edit, Masked) and BY_NAME[edit.pattern].ahead is not None and not masks.sees_ahead(self.own)


def rule_of(edit: MaskEdit) -> Rule:
    """The cells that an edit keeps; all others are hidden."""
    match edit:
        case KeepLast(window, sinks):
            return masks.Recent(window, sinks)
        case Documents(starts):
            return masks.SameDocument(starts)
        case Masked(name, values):
            return BY_NAME[name].rule(dict(values))
        case Blocked(cells):
            return masks.Without(cells)
        case Substituted():  # one that cannot apply a mask
            return masks.Full() if edit.row.mask == "none" else masks.Causal()


def _heads(edit: MaskEdit) -> tuple[int, ...] | None:
    """The heads that an edit is for; None for all."""
    return edit.heads if isinstance(edit, (Masked, Blocked, Substituted)) else None


CAUSAL = MaskRule(masks.Causal())
FULL = MaskRule(masks.Full())
