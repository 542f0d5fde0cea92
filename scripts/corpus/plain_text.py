"""Straight quotes, single spaces, no invisible characters."""

from __future__ import annotations

import re

# Curly quotes and the characters of careful typesetting; the last five are invisible or only look like a space.
PLAIN_PUNCTUATION = str.maketrans(
    {
        "\u201c": '"',
        "\u201d": '"',
        "\u2018": "'",
        "\u2019": "'",
        "\u2026": "...",
        "\u2e3a": "\u2014",  # a two-em dash becomes an em dash
        "\u00a0": " ",
        "\u200a": "",
        "\u2060": "",
        "\ufeff": "",
        "\u00ad": "",
    }
)


def plain(text: str) -> str:
    """The text as it would be typed: straight quotes, single spaces, nothing invisible; trimmed."""
    return re.sub(r"[ \t]+", " ", text.translate(PLAIN_PUNCTUATION)).strip()
