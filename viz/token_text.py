"""Labels for drawings: without characters that a file cannot contain, cut to a width, measured in ems.

Independent of tokenizers: display strings in, display strings out.
"""

from __future__ import annotations

import html
import re
import unicodedata
from typing import Literal

# XML 1.0 forbids these even as references; a single one would make an exported file unreadable.
_FORBIDDEN = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_DOWNWARDS = re.compile("[\u3000-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef·]+$")
_ELEMENT = re.compile("<[^>]*>")


def printable(text: str) -> str:
    """The text with every character that XML or UTF-8 cannot contain (controls, lone surrogates) replaced by U+FFFD."""
    return _FORBIDDEN.sub("\ufffd", text)


def escaped(text: str) -> str:
    """The text escaped for HTML and XML, as element content and as a quoted attribute."""
    return html.escape(printable(text))


def lone_spaces(label: str) -> str:
    """A token's label; if it is only spaces, each is shown as ␣, since a single dot reads as a dot."""
    return label.replace("·", "␣") if label and not label.strip("·") else label


def plain_text(markup: str) -> str:
    """The text of this HTML, which the app made, without its elements."""
    return html.unescape(_ELEMENT.sub("", markup)).strip()


def ems(text: str) -> float:
    """Estimated width in ems: wide East Asian characters count 1, marks 0, all others 0.58."""
    return sum(_character_ems(character) for character in text)


def shortened(text: str, limit: float) -> str:
    """The text itself if it is at most `limit` ems wide, else its beginning and an ellipsis within that width."""
    if ems(text) <= limit:
        return text
    used, kept = 1.0, 0  # the ellipsis is about one em wide
    for character in text:
        used += _character_ems(character)
        if used > limit:
            break
        kept += 1
    return text[:kept] + "…"


def stance(label: str, room: float) -> Literal["upright", "stacked", "turned"]:
    """The orientation of a label over a column of `room` ems, as in components/shared/upright.js."""
    if ems(label) <= room - 0.25 or len(label) == 1:
        return "upright"
    return "stacked" if _DOWNWARDS.match(label) else "turned"


def stacked(label: str, most: int) -> list[str]:
    """The letters of a stacked label, as many as fit, without the dot of a space."""
    letters = [letter for letter in label if letter != "·"]
    return [*letters[: most - 1], "…"] if len(letters) > most else letters


def _character_ems(character: str) -> float:
    if unicodedata.combining(character) or unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0.0
    return 1.0 if unicodedata.east_asian_width(character) in "WF" else 0.58


# a word, or a Chinese character with following characters that may not start a line
_UNITS = re.compile(r"[^\u2e80-\uffff]+|[\u2e80-\uffff][，。、；：？！）”]*")


def wrapped(text: str, limit: float) -> list[str]:
    """Wrap the text to lines of at most `limit` ems, at spaces or between Chinese characters.

    A word is broken only if it is too long by itself.
    """
    lines: list[str] = []
    line = ""
    for piece in re.findall(r"\s*\S+", " ".join(text.split())):
        if line and ems(line + piece) > limit:
            lines.append(line)
            piece, line = piece.lstrip(), ""
        for unit in _UNITS.findall(piece):
            if line and ems(line + unit) > limit:
                lines.append(line)
                line = ""
            for character in unit:
                if line and ems(line + character) > limit:
                    lines.append(line)
                    line = ""
                line += character
    return [*lines, line] if line else lines
