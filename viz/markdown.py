"""Escaping of plain text for places that render Markdown."""

from __future__ import annotations

import re

# CommonMark 0.31 and the extensions of GitHub and Streamlit: characters with a meaning anywhere, …
ANYWHERE = re.compile(r"[\\`*_\[\]<>|~$&]|:(?=\S|$)|\.(?=[^\W\d])")
# … and characters with a meaning only at the start of a line
AT_A_START = re.compile(r"(?m)^(\s*)(?:([#+=-])|(\d+)([.)](?=\s|$)))")


def plain(text: str) -> str:
    """Escape every character that has a meaning where it stands; others are not escaped, as labels are read aloud."""
    return AT_A_START.sub(_at_a_start, ANYWHERE.sub(r"\\\g<0>", text))


def _at_a_start(found: re.Match[str]) -> str:
    space, mark, digits, end = found.groups()
    return f"{space}\\{mark}" if mark else f"{space}{digits}\\{end}"
