"""What an encoder reads, a text or a sound, as tokens to look at and as the model is given it."""

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
    """``text`` is what the characters of the tokens count in; ``given`` what the model takes by name, a batch of 1."""

    tokens: tuple[Token, ...]
    text: str
    given: dict[str, Tensor]

    def __len__(self) -> int:
        return len(self.tokens)

    def of(self, rows: int) -> dict[str, Tensor]:
        """``given`` for a batch of so many that are alike."""
        return {name: one.expand(rows, *one.shape[1:]) for name, one in self.given.items()}


def text_to_read(source: Writer, device: torch.device) -> EncoderInput:
    """A text whose tokens are there."""
    return EncoderInput(tuple(source.tokens), source.text_of(len(source.tokens)), ids_given(source.tokens, device))


def ids_given(tokens: Sequence[Token], device: torch.device) -> dict[str, Tensor]:
    """The tokens of a text as any encoder is given them."""
    return {"input_ids": torch.tensor([[token.id for token in tokens]], device=device)}


def masked(given: dict[str, Tensor]) -> dict[str, Any]:
    """The same for transformers' generation: a token that looks like filling is read too; a sound has none."""
    ids = given.get("input_ids")
    return dict(given) if ids is None else {**given, "attention_mask": torch.ones_like(ids)}


def growing_caches(model: Any) -> EncoderDecoderCache:
    """Of as many layers as ask for one: transformers (5.23) counts those of T5's encoder, which may be fewer.

    Layers that slide keep their window, as in transformers' own generation.
    """
    config = model.config.get_text_config(decoder=True)
    slides = "sliding_attention" in (getattr(config, "layer_types", None) or ())
    return EncoderDecoderCache(DynamicCache(config=config) if slides else DynamicCache(), DynamicCache())
