"""Joining of sentences in any language."""

from __future__ import annotations


def joined(*sentences: str) -> str:
    """Join sentences with spaces; a full-width mark at the end of one needs none."""
    whole = ""
    for part in filter(None, sentences):
        whole += part if not whole or whole.endswith(("。", "！", "？", "：")) else f" {part}"
    return whole
