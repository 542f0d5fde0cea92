"""The encoder's input, a text or a sound, as tokens and as the model's arguments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from transformers import DynamicCache, EncoderDecoderCache

from model_runner.local.tokenizing import Writer
from model_runner.tokens import Token


@dataclass(frozen=True, eq=False)
class EncoderInput:
    """``text`` is what the tokens' character ranges refer to; ``given`` are the model's arguments by name, a batch of
    1.
    """

    tokens: tuple[Token, ...]
    text: str
    given: dict[str, Tensor]

    def __len__(self) -> int:
        return len(self.tokens)

    def of(self, rows: int) -> dict[str, Tensor]:
        """``given`` repeated for a batch of this size."""
        return {name: one.expand(rows, *one.shape[1:]) for name, one in self.given.items()}


def text_to_read(source: Writer, device: torch.device) -> EncoderInput:
    """The input for a tokenized text."""
    return EncoderInput(tuple(source.tokens), source.text_of(len(source.tokens)), ids_given(source.tokens, device))


def ids_given(tokens: Sequence[Token], device: torch.device) -> dict[str, Tensor]:
    """A text's tokens as arguments of any encoder."""
    return {"input_ids": torch.tensor([[token.id for token in tokens]], device=device)}


def masked(given: dict[str, Tensor]) -> dict[str, Any]:
    """The same for transformers' generation: tokens that look like padding are not masked; a sound has none."""
    ids = given.get("input_ids")
    return dict(given) if ids is None else {**given, "attention_mask": torch.ones_like(ids)}


def growing_caches(model: Any) -> EncoderDecoderCache:
    """A cache with as many layers as need one: transformers (5.23) counts those of T5's encoder, which may be fewer.

    Sliding layers keep their window, as in transformers' own generation.
    """
    config = model.config.get_text_config(decoder=True)
    slides = "sliding_attention" in (getattr(config, "layer_types", None) or ())
    return EncoderDecoderCache(DynamicCache(config=config) if slides else DynamicCache(), DynamicCache())
