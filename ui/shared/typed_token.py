"""A token that somebody typed: the one token of the vocabulary that these characters are."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from model_runner import Runner
from model_runner.errors import NotOneToken

if TYPE_CHECKING:
    from torch import Tensor

SHOWN = {"·": " ", "⏎": "\n", "⇥": "\t"}  # as tokens are drawn


def typed_token(runner: Runner, typed: str, logits: Tensor) -> int:
    """The id of the token with these characters, or with a space before them: of both, the likelier one here.

    Spaces may be typed as they are drawn (·). ``logits`` [vocab] are those of the text that the token is to follow.
    Raises NotOneToken with the pieces that it is instead.
    """
    text = "".join(SHOWN.get(character, character) for character in typed)
    readings = [runner.ids_of(text), *([] if text.startswith(" ") else [runner.ids_of(f" {text}")])]
    single = [ids[0] for ids in readings if len(ids) == 1 and ids[0] < len(logits)]
    if not single or not text.strip(" "):
        raise _not_one(runner.token_text, typed, readings[0] if text.strip(" ") else ())
    return max(single, key=lambda token: float(logits[token]))


def _not_one(token_text: Callable[[int], str], typed: str, ids: tuple[int, ...]) -> NotOneToken:
    pieces = ", ".join(token_text(token) for token in ids[:8]) or "–"
    return NotOneToken(text=typed[:40], count=len(ids), pieces=pieces + ("…" if len(ids) > 8 else ""))
