"""Words of a text that a model's tokens cut up: of a model that learned few, those that it never read."""

from __future__ import annotations

from analysis.units import word_units
from model_runner.capture import Capture


def cut_words(capture: Capture) -> tuple[str, ...]:
    """Each word once that is no token of its own, with the space before it where there is one, in its order."""
    found: list[str] = []
    units = word_units(capture)
    for unit, before in zip(units, (None, *units), strict=False):
        start, end = (capture.tokens[unit.start].start, capture.tokens[unit.stop - 1].end)
        word = capture.text[start:end].strip()
        apart = before is not None and before.label == "·"  # a word that was read has its space in its token
        if not unit.special and any(letter.isalnum() for letter in word) and (len(unit.parts) > 1 or apart):
            found.append(word)
    return tuple(dict.fromkeys(found))
