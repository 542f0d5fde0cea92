"""Typed tokens: find the vocabulary entry that the typed characters are."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from model_runner import Runner
from model_runner.errors import NotOneToken

if TYPE_CHECKING:
    from torch import Tensor

SHOWN = {"·": " ", "⏎": "\n", "⇥": "\t"}  # how tokens are displayed


def typed_token(runner: Runner, typed: str, logits: Tensor) -> int:
    """The id of the token with these characters, with or without a leading space, whichever is likelier here.

    Spaces may be typed as they are displayed (·). ``logits`` [vocab] are those of the text that the token follows.
    Raises NotOneToken with the pieces that the characters tokenize to.
    """
    text, readings = _readings(runner, typed)
    single = [ids[0] for ids in readings if len(ids) == 1 and ids[0] < len(logits)]
    if not single or not text.strip(" "):
        raise _not_one(runner.token_text, typed, readings[0] if text.strip(" ") else ())
    return max(single, key=lambda token: float(logits[token]))


def vocabulary_token(runner: Runner, typed: str) -> int:
    """The id of the token with these characters, or else with a leading space, regardless of the text.

    The unknown token does not count. Raises NotOneToken.
    """
    text, readings = _readings(runner, typed)
    wanted = text.strip().casefold()
    for ids in readings:
        if wanted and len(ids) == 1 and _bare(runner.token_text(ids[0])).casefold() == wanted:
            return ids[0]
    raise _not_one(runner.token_text, typed, readings[0] if wanted else ())


def _readings(runner: Runner, typed: str) -> tuple[str, list[tuple[int, ...]]]:
    """The typed text and its tokenizations: as it is, and with a leading space."""
    text = "".join(SHOWN.get(character, character) for character in typed)
    return text, [runner.ids_of(text), *([] if text.startswith(" ") else [runner.ids_of(f" {text}")])]


def _bare(shown: str) -> str:
    return "".join(SHOWN.get(character, character) for character in shown).strip().removeprefix("##")


def _not_one(token_text: Callable[[int], str], typed: str, ids: tuple[int, ...]) -> NotOneToken:
    pieces = ", ".join(token_text(token) for token in ids[:8]) or "–"
    return NotOneToken(text=typed[:40], count=len(ids), pieces=pieces + ("…" if len(ids) > 8 else ""))
