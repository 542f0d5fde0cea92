"""A text as the address holds it: as it is, or packed (``textz``) where that would be long, or not at all.

Packed is zlib in the base64 of URLs (RFC 4648, section 5), without the = at its end. Of the long text that the app
brings an address says how many characters it is (``chapter``): that is short, whatever its length.
"""

from __future__ import annotations

import base64
import zlib
from collections.abc import Mapping
from urllib.parse import quote_plus

from analysis.long_text import chapter

NAMES = PLAIN, PACKED, CHAPTER = "text", "textz", "chapter"
LONGEST_PLAIN = 2000  # characters as an address writes them: nine for most Chinese ones
LONGEST_PACKED = 6000  # characters; with the other parts it stays below the 8,000 that servers commonly take
MOST_BYTES = 2**18  # of a text; an address of this length could be unpacked to a thousand times as many


def parts_of(text: str) -> dict[str, str]:
    """The part of the address that holds this text, by its name; none where it would be too long."""
    if len(text) <= LONGEST_PLAIN and len(quote_plus(text)) <= LONGEST_PLAIN:
        return {PLAIN: text}
    written = text.encode() if len(text) <= MOST_BYTES else b""
    packed = base64.urlsafe_b64encode(zlib.compress(written, 9)).decode().rstrip("=")
    if 0 < len(written) <= MOST_BYTES and len(packed) <= LONGEST_PACKED:
        return {PACKED: packed}
    return {CHAPTER: str(len(text))} if chapter().whole.startswith(text) else {}


def text_of(parts: Mapping[str, str]) -> str | None:
    """The text that these parts of an address hold, if they hold one. Raises ValueError where it cannot be read."""
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
