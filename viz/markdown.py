"""Text as it is, for places that read Markdown."""

from __future__ import annotations

import re

# CommonMark 0.31 and the extensions of GitHub and Streamlit, for what could mean something else anywhere, …
ANYWHERE = re.compile(r"[\\`*_\[\]<>|~$&]|:(?=\S|$)|\.(?=[^\W\d])")  # … a link too, as www.name; not the point of 0.5
AT_A_START = re.compile(r"(?m)^(\s*)(?:([#+=-])|(\d+)([.)](?=\s|$)))")  # … and only where a line begins


def plain(text: str) -> str:
    """Every character escaped that could mean something else where it stands; others not, as labels are read aloud."""
    return AT_A_START.sub(_at_a_start, ANYWHERE.sub(r"\\\g<0>", text))


def _at_a_start(found: re.Match[str]) -> str:
    space, mark, digits, end = found.groups()
    return f"{space}\\{mark}" if mark else f"{space}{digits}\\{end}"
