"""The first tokens of a decoder: its start token, and the one forced by its settings, often a language.

Multilingual translation models are told the target language by a token. M2M100, NLLB and mBART-50 are forced to
generate it first (``forced_bos_token_id``); mBART uses it as its start token (``decoder_start_token_id``).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class DecoderStart:
    """For one model. ``languages`` are its tokenizer's language tokens; ``language`` is that of its settings."""

    def __init__(self, model: Any, start: int, languages: Mapping[str, int]) -> None:
        self.languages = languages
        self._start, self._forced = start, _forced(model)
        self.language = next((code for code, one in languages.items() if one in (self._forced, start)), None)

    def of(self, language: str | None) -> tuple[int, ...]:
        """The ids; by default the language of the settings, if any."""
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
