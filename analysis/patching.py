"""Activation patching: two texts, the difference of two logits, and a map of what changes it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float

from analysis.joined import decoder_side, encoder_side
from model_runner.capture import Capture

WORD = re.compile(r"·?[^\W\d_]{2,}")  # a displayed token that is a word, or the start of one
LIKELY = 20  # tokens of a distribution that are worth naming
DECIMALS = 4  # of a change of logits; smaller changes are rounding in float32
LEAST = 1e-4  # logits: two runs that differ by less are equal up to rounding


@dataclass(frozen=True, eq=False)
class PatchMap:
    """What each patch adds to the logit difference of two tokens, NaN where not computed.

    ``plain`` and ``other`` are that difference in the patched run and in the source of the patches.
    """

    changes: Float[np.ndarray, "rows positions"]
    plain: float
    other: float

    @property
    def way(self) -> float | None:
        """From the patched run to the other; None if both are equal."""
        way = self.other - self.plain
        return way if abs(way) > LEAST else None

    @property
    def normalised(self) -> Float[np.ndarray, "rows positions"]:
        """0: as in the patched run; 1: as in the other. NaN if both are equal."""
        return self.changes / (self.way or np.nan)

    @property
    def shown(self) -> Float[np.ndarray, "rows positions"]:
        """The changes without rounding errors, for display."""
        return np.round(self.changes, DECIMALS) + 0.0  # no -0.0

    @property
    def extent(self) -> float:
        """The end of the colour scale: the largest change, but not far below the distance of the two runs."""
        return float(np.nanmax(np.abs(self.changes), initial=max(abs(self.other - self.plain) / 20, LEAST)))

    def patched(self, row: int, position: int) -> float:
        """The logit difference after the patch."""
        return self.plain + float(self.changes[row, position])


def patch_map(
    rows: dict[int, Float[np.ndarray, "positions"]],
    n_rows: int,
    plain: Capture,
    other: Capture,
    tokens: tuple[int, int],
) -> PatchMap:
    """The map of the rows found so far. Raises NoLogits."""
    changes = np.full((n_rows, len(plain.tokens)), np.nan)
    for row, values in rows.items():
        changes[row] = values
    return PatchMap(changes, logit_difference(plain, tokens), logit_difference(other, tokens))


def logit_difference(capture: Capture, tokens: tuple[int, int]) -> float:
    """Logit of the first token minus that of the second, after the text, in nats."""
    logits = decoder_side(capture).logits(-1)
    return float(logits[tokens[0]].double() - logits[tokens[1]].double())


def contrasting(plain: Capture, other: Capture) -> tuple[int, int]:
    """The likeliest token after each text; if they are equal, the second is the one that the other text raises most.

    Raises NoLogits.
    """
    before, after = (torch.log_softmax(decoder_side(capture).logits(-1).double(), dim=-1) for capture in (plain, other))
    first = int(before.argmax())
    if int(after.argmax()) != first:
        return first, int(after.argmax())
    likely = [token for token in after.topk(min(LIKELY, len(after))).indices.tolist() if token != first]
    return first, max(likely, key=lambda token: float(after[token] - before[token]))


def likely_tokens(plain: Capture, other: Capture, count: int = 8) -> tuple[int, ...]:
    """The likeliest tokens after either text, by their larger probability. Raises NoLogits."""
    shares = [torch.softmax(decoder_side(capture).logits(-1).double(), dim=-1) for capture in (plain, other)]
    found = {token for share in shares for token in share.topk(min(count, len(share))).indices.tolist()}
    return tuple(sorted(found, key=lambda token: -max(float(share[token]) for share in shares)))


def same_text(plain: Capture, other: Capture) -> bool:
    """True if both have the same tokens; for encoder-decoder models, the same source."""
    return [token.id for token in encoder_side(plain).tokens] == [token.id for token in encoder_side(other).tokens]


def exchanges(capture: Capture, token_text: Callable[[int], str]) -> Iterator[str]:
    """Texts with one word replaced by what the model found likely there, starting with the last word but one.

    The last token stays as long as another can be replaced, since the two texts are compared by what follows it.
    """
    if capture.attentions:
        return  # an encoder predicts no next token
    text, n_tokens = capture.request.text, len(capture.tokens) - len(capture.request.continuation)
    begin = max(0, capture.text.find(text))  # a chat template adds a prefix
    for position in [*range(n_tokens - 2, 0, -1), n_tokens - 1]:
        token = capture.tokens[position]
        start, end = token.start - begin, token.end - begin
        if position < 1 or token.special or not WORD.fullmatch(token.text) or not 0 <= start < end <= len(text):
            continue
        for other in capture.logits(position - 1).topk(LIKELY).indices.tolist():
            shown = token_text(other)
            if WORD.fullmatch(shown) and shown.startswith("·") == token.text.startswith("·") and (
                shown.casefold() != token.text.casefold()
            ):  # fmt: skip
                space = " " if text[start] == " " else ""
                yield text[:start] + space + shown.removeprefix("·") + text[end:]
                break


def shares(capture: Capture, tokens: tuple[int, ...]) -> tuple[float, ...]:
    """Probabilities of these tokens after the text, in float64. Raises NoLogits."""
    return tuple(torch.softmax(decoder_side(capture).logits(-1).double(), dim=-1)[list(tokens)].tolist())
