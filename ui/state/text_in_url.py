"""A text in the URL: plain, compressed (``textz``) if it is long, or left out.

The compressed form is zlib in URL-safe base64 (RFC 4648, section 5) without padding. For the app's own long text the
URL has only its length in characters (``chapter``).
"""

from __future__ import annotations

import base64
import zlib
from collections.abc import Mapping
from urllib.parse import quote_plus

from analysis.long_text import chapter

NAMES = PLAIN, PACKED, CHAPTER = "text", "textz", "chapter"
LONGEST_PLAIN = 2000  # characters after percent-encoding: nine for most Chinese ones
LONGEST_PACKED = 6000  # characters; with the other parameters it stays below the 8,000 that servers commonly accept
MOST_BYTES = 2**18  # limit of a decompressed text; a URL could expand a thousandfold


def parts_of(text: str) -> dict[str, str]:
    """Return the URL parameter that holds this text, or nothing if it would be too long."""
    if len(text) <= LONGEST_PLAIN and len(quote_plus(text)) <= LONGEST_PLAIN:
        return {PLAIN: text}
    written = text.encode() if len(text) <= MOST_BYTES else b""
    packed = base64.urlsafe_b64encode(zlib.compress(written, 9)).decode().rstrip("=")
    if 0 < len(written) <= MOST_BYTES and len(packed) <= LONGEST_PACKED:
        return {PACKED: packed}
    return {CHAPTER: str(len(text))} if chapter().whole.startswith(text) else {}


def text_of(parts: Mapping[str, str]) -> str | None:
    """Return the text in these URL parameters, or None. Raises ValueError if it cannot be decoded."""
    if CHAPTER in parts:
        return _of_chapter(parts[CHAPTER])
    if PACKED not in parts:
        return parts.get(PLAIN)
    packed, unpacking = parts[PACKED], zlib.decompressobj()
    if len(packed) > LONGEST_PACKED:
        raise ValueError("too long")
    try:
        written = unpacking.decompress(base64.b64decode(packed + "=" * (-len(packed) % 4), b"-_", True), MOST_BYTES)
    except zlib.error as error:
        raise ValueError("no text was packed so") from error
    if not unpacking.eof or unpacking.unused_data:
        raise ValueError("cut off, or of a longer text")
    return written.decode()


def _of_chapter(characters: str) -> str:
    whole = chapter().whole
    if not (characters.isascii() and characters.isdigit() and len(characters) <= len(str(len(whole)))):
        raise ValueError("no number of its characters")
    return whole[: int(characters)]
