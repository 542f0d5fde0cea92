"""With which tokens a decoder begins to write: its start, and the first one that its settings force, a language often.

Translators of many languages are told by one token which to write. M2M100, NLLB and mBART-50 are forced to write it
first (``forced_bos_token_id``); mBART begins with it instead of a start of its own (``decoder_start_token_id``).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class DecoderStart:
    """Of one model. ``languages`` are the tokens of its tokenizer; ``language`` the one that its settings write in."""

    def __init__(self, model: Any, start: int, languages: Mapping[str, int]) -> None:
        self.languages = languages
        self._start, self._forced = start, _forced(model)
        self.language = next((code for code, one in languages.items() if one in (self._forced, start)), None)

    def of(self, language: str | None) -> tuple[int, ...]:
        """The ids; a language that is not chosen is the one of the settings, or none."""
        chosen = self.languages.get(language or "")
        if chosen is not None and self._start in self.languages.values():
            return (chosen,)
        first = self._forced if chosen is None else chosen
        return (self._start,) if first is None else (self._start, first)


def _forced(model: Any) -> int | None:
    for settings in (getattr(model, "generation_config", model.config), model.config):
        if isinstance(found := getattr(settings, "forced_bos_token_id", None), int):
            return found
    return None
