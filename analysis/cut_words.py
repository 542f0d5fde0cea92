"""Words that a model's tokenizer splits up; for a small vocabulary, those that were never in training."""

from __future__ import annotations

from analysis.units import word_units
from model_runner.capture import Capture


def cut_words(capture: Capture) -> tuple[str, ...]:
    """Each word that is not a single token, once, with its leading space if any, in order."""
    found: list[str] = []
    units = word_units(capture)
    for unit, before in zip(units, (None, *units), strict=False):
        start, end = (capture.tokens[unit.start].start, capture.tokens[unit.stop - 1].end)
        word = capture.text[start:end].strip()
        apart = before is not None and before.label == "·"  # a known word includes its space
        if not unit.special and any(letter.isalnum() for letter in word) and (len(unit.parts) > 1 or apart):
            found.append(word)
    return tuple(dict.fromkeys(found))
