"""Several texts in one forward, padded on the right: the captures of a causal model.

In a causal model no row depends on later tokens, so the rows of a shorter text are the same as alone, and the padding's
are dropped. For any other model, or one with more than queries, keys and values to record, texts are captured one by
one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from model_runner.local.recording.cannot_record import CannotRecord
from model_runner.local.recording.model_inspection import ModelStructure
from model_runner.local.recording.recorder import SEVERAL, record_with
from model_runner.local.recording.rope_switch import crosses, rope_switches
from model_runner.local.request_tokens import numbers_alone
from model_runner.local.token_types import ModelInputs
from model_runner.local.tokenizing import Writer
from model_runner.record import LayerRecord


@dataclass(frozen=True, eq=False)
class TextOfBatch:
    """The recording of one text of a batch, without its padding; ``records`` by the names of attention modules."""

    records: dict[str, LayerRecord]
    residuals: tuple[Float[Tensor, "tokens d_stream"], ...]
    hidden: Float[Tensor, "tokens d_model"]


def capture_batch(
    model: Any, structure: ModelStructure, given: ModelInputs, writers: Sequence[Writer]
) -> list[TextOfBatch] | None:
    """The recordings of these texts from one forward, in order; None if they have to be captured one by one.

    O(texts × longest) memory.
    """
    order = sorted(range(len(writers)), key=lambda i: -len(writers[i].tokens))  # the longest first, which is not padded
    texts = [writers[i].tokens for i in order]
    lengths = tuple(len(tokens) for tokens in texts)
    typed = any(set(given.of(tokens)) != {"input_ids"} for tokens in texts)
    if structure.recurrent or typed or crosses(rope_switches(model), lengths[-1], lengths[0]):
        return None
    ids = torch.tensor(
        [[token.id for token in tokens] + [tokens[-1].id] * (lengths[0] - len(tokens)) for tokens in texts],
        device=model.device,
    )
    recording = structure.recording(lengths=lengths)
    streams: list[Tensor] = []

    def rows(hidden: Tensor) -> Tensor:
        if hidden.dim() != 3 or hidden.shape[:2] != ids.shape:
            raise CannotRecord(SEVERAL)
        return hidden

    try:
        with (
            torch.no_grad(),
            structure.watched(lambda _, stream: streams.append(stream.clone()), rows=rows),
            record_with(recording),
        ):
            output = structure.backbone.module(input_ids=ids, use_cache=False, return_dict=True)
    except CannotRecord:
        return None
    every = [recording.records, *recording.beside]
    if len(every) != len(texts) or not all(_looks_back(records, every[0], lengths[0]) for records in every):
        return None
    if recording.compressed:
        return None
    found: dict[int, TextOfBatch] = {}
    for row, (place, records) in enumerate(zip(order, every, strict=True)):
        streams_of_it = tuple(stream[row, : lengths[row]].clone() for stream in streams)
        hidden = numbers_alone(output.last_hidden_state[row, : lengths[row]].clone())
        found[place] = TextOfBatch(records, streams_of_it, hidden)
    return [found[place] for place in range(len(texts))]


def _looks_back(records: dict[str, LayerRecord], first: dict[str, LayerRecord], n_tokens: int) -> bool:
    """True if a text has all layers that the first one has, and no token attends to a later one."""
    looks = (record.mask.sees_ahead(n_tokens) for record in records.values())
    return records.keys() == first.keys() and not any(looks)
