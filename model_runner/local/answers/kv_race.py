"""The same greedy continuation twice: with a KV cache, and reading the whole text again for each token.

The forwards are the unmodified model's and not recorded. Independent of requests, threads and screens.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor
from transformers import DynamicCache

from model_runner.errors import BrokenLogits
from model_runner.kv import RaceStep
from model_runner.local.cache_argument import cache_argument
from model_runner.local.preallocated_cache import empty_cache
from model_runner.local.recording.rope_switch import crosses
from model_runner.local.tokenizing import Writer
from model_runner.tokens import Token


@dataclass(eq=False)
class Lane:
    """One lane: its tokens, and the cache, if any, with the first ``held`` of them."""

    model: Any
    writer: Writer
    cache: Any  # transformers' own, for one text or two; None if every step reads everything again
    switches: Sequence[int] = ()  # see rope_switch.py: the cache is invalid beyond one
    held: int = 0

    def step(self, name: str) -> tuple[Token, float]:
        """The likeliest next token, and its time in seconds. Raises BrokenLogits; ``name`` is the model's."""
        began = time.perf_counter()
        if self.cache is not None and crosses(self.switches, self.held, len(self.writer.tokens)):
            self.cache, self.held = empty_cache(self.model), 0
        logits = self.logits()
        chosen = int(logits.argmax())
        seconds = time.perf_counter() - began
        if logits.isnan().any() or not logits.isfinite().any():
            raise BrokenLogits(name=name)
        self.held = 0 if self.cache is None else len(self.writer.tokens)
        return self.writer.append(chosen), seconds

    def logits(self) -> Float[Tensor, "vocab"]:
        """Logits after all tokens, which are then in the cache too."""
        return forward(self.model, [token.id for token in self.writer.tokens[self.held :]], self.cache)


@dataclass(eq=False)
class Race:
    """Both lanes over one text; they take turns in going first. An end-of-text token does not stop it."""

    name: str
    cached: Lane
    uncached: Lane
    ends: frozenset[int]
    limit: int  # final number of tokens
    index: int = 0  # steps so far

    def step(self) -> RaceStep | None:
        """One more token in each lane; None if there is no room for it. Raises BrokenLogits."""
        position = len(self.cached.writer.tokens)
        if position >= self.limit:
            return None
        self.index += 1
        lanes = (self.cached, self.uncached) if position % 2 else (self.uncached, self.cached)
        made = {id(lane): lane.step(self.name) for lane in lanes}
        (cached, cached_seconds), (uncached, uncached_seconds) = made[id(self.cached)], made[id(self.uncached)]
        return RaceStep(position, cached, uncached, cached_seconds, uncached_seconds, is_end=cached.id in self.ends)


def forward(model: Any, ids: Sequence[int], cache: DynamicCache | None, **more: Any) -> Float[Tensor, "vocab"]:
    """The model's logits after the last of these tokens, float32; tokens in the cache come before them.

    ``more`` are further arguments of the model. As in transformers' own generation, only the last position goes through
    the output layer, if the family supports that.
    """
    options: dict[str, Any] = dict(more)
    if model.can_generate():  # an encoder has neither argument
        options |= cache_argument(model, cache) | {"use_cache": cache is not None}
        options |= {"logits_to_keep": 1} if model._supports_logits_to_keep() else {}
    with torch.no_grad():
        batch = torch.tensor([list(ids)], device=model.device)
        output = model(input_ids=batch, return_dict=True, **options)
    return output.logits[0, -1].float()
