"""Scores of a text's tokens: their surprisal, and the likeliest tokens at a position."""

from __future__ import annotations

from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Tensor

from model_runner.capture import Capture, index
from model_runner.errors import EncoderSaysNothing
from model_runner.token_questions import LikelyTokens

ROWS = 128  # positions at a time: nothing of size tokens × vocabulary is stored

OutputLayer = Callable[[Tensor], Tensor]  # hidden states [batch, tokens, d_model] to logits


def surprisals(capture: Capture, output: OutputLayer) -> Float[Tensor, "tokens_after_the_first"]:
    """−ln p of each token but the first, given those before it, in nats, float32."""
    _check_side(capture)
    hidden = capture.hidden
    ids = torch.tensor([token.id for token in capture.tokens[1:]], dtype=torch.long, device=hidden.device)
    blocks = [
        torch.nn.functional.cross_entropy(output(hidden[:-1][rows][None])[0], ids[rows], reduction="none")
        for rows in (slice(start, start + ROWS) for start in range(0, len(ids), ROWS))
    ]
    return torch.cat(blocks) if blocks else hidden.new_zeros(0, dtype=torch.float32)


def likely_tokens(capture: Capture, output: OutputLayer, position: int, top: int) -> LikelyTokens:
    """The ``top`` tokens with the largest logits after a position, or all if there are fewer."""
    _check_side(capture)
    position = index("position", position, len(capture.tokens))
    logits = output(capture.hidden[position : position + 1][None])[0, 0]
    best = logits.topk(max(1, min(top, len(logits))))
    return LikelyTokens(best.indices, best.values, float(logits.double().logsumexp(0)))


def _check_side(capture: Capture) -> None:
    if capture.request.attention == "encoder":
        raise EncoderSaysNothing()
