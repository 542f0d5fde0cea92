"""Keys that stand for several tokens: DeepSeek-V4's layers attend to tokens and to entries made by a compressor.

A compressor mixes every ``rate`` tokens into one key, which is also its value. Where compression overlaps, an entry
mixes the tokens of its own block and of the block before it. A single softmax weighs tokens and entries together, so
that a layer has two maps, see :mod:`model_runner.local.recording.merged_attention`. (DeepSeek-V4, sections 2.3.1 and
2.3.2)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import torch
from jaxtyping import Bool
from torch import Tensor, nn

from attention import masks
from model_runner.capture import COMPRESSED, Capture
from model_runner.errors import N_
from model_runner.layer_edit import LayerEdit
from model_runner.local.recording.cannot_record import CannotRecord
from model_runner.mask_rule import MaskRule
from model_runner.record import LayerRecord
from model_runner.tokens import Token

GROWING = N_("its layers read keys that each stand for several tokens, which are not known while a text grows")
OF_BOTH = N_("one softmax weighs tokens and keys that stand for several tokens, and this would change one of the two")
TURNED_BY_BLOCK = N_("keys that stand for several tokens are rotated to the first of them, and queries to their own")
OTHER_CELLS = N_("it is not known which keys of several tokens a query reads")
WITHOUT = N_("tokens only")  # name of a layer without compressed keys


@dataclass(frozen=True)
class Compression:
    """How a compressor makes entries: from ``rate`` tokens each, and from the ``rate`` before them too if it
    ``overlaps``.
    """

    rate: int
    overlaps: bool

    def members(self, entry: int) -> range:
        """The positions of the tokens that an entry mixes."""
        return range(max(entry - self.overlaps, 0) * self.rate, (entry + 1) * self.rate)


def compression_of(module: nn.Module) -> Compression | None:
    """How this attention module compresses its keys; None if they are those of its tokens."""
    compressor: Any = getattr(module, "compressor", None)
    rate = getattr(compressor, "compress_rate", None)
    if not isinstance(compressor, nn.Module) or not isinstance(rate, int):
        return None
    width: Any = getattr(compressor, "kv_proj", None)
    return Compression(rate, overlaps=getattr(width, "out_features", 0) == 2 * getattr(compressor, "head_dim", 0))


def watch_compressors(model: nn.Module, heard: Callable[[nn.Module, int], None]) -> bool:
    """Call ``heard`` before each call of attention with the number of compressed keys, which come last.

    Returns whether any module of the model compresses keys.
    """

    def hook_of(module: nn.Module) -> Callable[..., None]:
        def hook(_: nn.Module, __: Any, made: tuple[Tensor, Any]) -> None:
            heard(module, made[0].shape[2])

        return hook

    compressing = [module for module in model.modules() if compression_of(module) is not None]
    for module in compressing:
        module.get_submodule("compressor").register_forward_hook(hook_of(module))
    return bool(compressing)


def edit_of_entries(edit: LayerEdit) -> LayerEdit:
    """The part of a layer's edit that applies to its compressed keys: everything but hiding, which concerns cells of
    tokens.
    """
    return replace(edit, masks=())


def compressed_capture(
    capture: Capture, records: Mapping[int, LayerRecord], compressions: Mapping[int, Compression]
) -> Capture | None:
    """The same forward's attention to compressed keys; both mappings are by layer.

    None if the text is too short for any. Its keys are the entries of all layers, grouped by compression; a layer
    attends only to its own.
    """
    kinds = sorted(set(compressions.values()), key=lambda one: (one.rate, one.overlaps))
    counts = {kind: max(_count(records.get(at)) for at, own in compressions.items() if own == kind) for kind in kinds}
    if not any(counts.values()):
        return None
    entries = [kind.members(entry) for kind in kinds for entry in range(counts[kind])]
    return replace(
        capture,
        request=replace(capture.request, attention=COMPRESSED),
        kinds=tuple(kind if at in records else WITHOUT for at, kind in enumerate(capture.kinds)),
        records=tuple(
            None if at not in records else _placed(records[at], compressions[at], counts)
            for at in range(capture.n_layers)
        ),
        source=tuple(_token(place, members) for place, members in enumerate(entries)),
    )


def _count(record: LayerRecord | None) -> int:
    return 0 if record is None else record.k.shape[1]


def _token(place: int, members: range) -> Token:
    return Token(-1 - place, f"⟨{members.start}–{members.stop - 1}⟩", 0, 0, special=True)


def rule_of_entries(cells: Bool[Tensor, "queries entries"], own: Compression) -> MaskRule:
    """The rule of these cells: entries whose block is complete, and of these the ones that an indexer chose.

    Raises CannotRecord if the cells are different.
    """
    n_queries, n_entries = cells.shape
    closed = masks.ClosedBlocks(own.rate)
    every = masks.tile(closed, slice(0, n_queries), slice(0, n_entries), device=cells.device)
    left_out = (every & ~cells).any(dim=-1)
    if bool((cells & ~every).any()):
        raise CannotRecord(OTHER_CELLS)
    if not bool(left_out.any()):
        return MaskRule(closed)
    start = int(left_out.nonzero()[0])  # later queries have more entries to choose from
    counts = cells[start:].sum(dim=-1)
    if not bool((counts == counts[0]).all()):
        raise CannotRecord(OTHER_CELLS)
    keys = cells[start:].nonzero()[:, 1].reshape(n_queries - start, -1)
    return MaskRule(masks.And(closed, masks.Chosen.of(keys, start)))


def _placed(record: LayerRecord, own: Compression, counts: Mapping[Compression, int]) -> LayerRecord:
    """The record among the entries of all layers, with those of others hidden."""
    first = sum(count for kind, count in counts.items() if (kind.rate, kind.overlaps) < (own.rate, own.overlaps))
    after = sum(counts.values()) - first - record.k.shape[1]
    if first == 0 and after == 0:
        return record
    k, v = (torch.nn.functional.pad(one, (0, 0, first, after)) for one in (record.k, record.v))
    choice = record.choice and record.choice.moved(keys=(first, after))
    return replace(record, k=k, v=v, mask=MaskRule(masks.moved(record.mask.own, keys=first)), choice=choice)
