"""Sentences of any language, one after the other."""

from __future__ import annotations


def joined(*sentences: str) -> str:
    """One sentence after the other; a full-width mark at the end of one brings its own space."""
    whole = ""
    for part in filter(None, sentences):
        whole += part if not whole or whole.endswith(("。", "！", "？", "：")) else f" {part}"
    return whole
