"""Descriptions of edits that change a head's queries, keys and values before attention."""

from __future__ import annotations

from collections.abc import Callable

from model_runner.capture import Capture
from model_runner.edits import Int8Cache, SharedKeys, SharpenedHead, edits_of

N_ = str  # marks a text for Babel without translating it here

SHARPENED = N_(
    "{vectors} is what the head computes, divided by the edit’s temperature {temperature}, so "
    "its scores are divided by it too."
)
SHARED = N_("{vectors}: the mean over the key/value heads that the edit merges into one.")
ROUNDED = N_("{vectors}: what the head computes, stored in 8 bits (int8) by the edit and read back.")


def changed_vectors(capture: Capture, layer: int, head: int, translate: Callable[[str], str]) -> dict[str, str]:
    """For "q", "k" and "v", if an edit changes it, a sentence with a placeholder for the names of the ``{vectors}``.

    Edits of masks and of a head's output do not change them.
    """
    found: dict[str, list[str]] = {}
    for edit in edits_of(capture.request.edits, capture.request.attention):
        match edit:
            case SharpenedHead(of, one, temperature) if (of, one) == (layer, head) and temperature != 1:
                found.setdefault("q", []).append(translate(SHARPENED).replace("{temperature}", f"{temperature:g}"))
            case SharedKeys(kv_heads) if kv_heads < len(capture.record(layer).k):
                _add(found, translate(SHARED))
            case Int8Cache():
                _add(found, translate(ROUNDED))
            case _:
                pass
    return {name: " ".join(words) for name, words in found.items()}


def _add(found: dict[str, list[str]], words: str) -> None:
    for name in "kv":
        found.setdefault(name, []).append(words)


def changed_words(capture: Capture, layer: int, head: int, translate: Callable[[str], str]) -> str:
    """One text for all three, empty if no edit changes any."""
    found = changed_vectors(capture, layer, head, translate)
    together = {words: [name for name in found if found[name] == words] for words in dict.fromkeys(found.values())}
    return " ".join(words.replace("{vectors}", ", ".join(names)) for words, names in together.items())
