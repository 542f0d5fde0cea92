"""Parse model names as readers type them, and shorten them for the model box."""

from __future__ import annotations

import re
from urllib.parse import unquote

HUB = re.compile(
    r"(?:https?://)?(?:www\.)?(?:huggingface\.co|hf\.co)/(?:models/)?([^/?#\s]+/[^/?#\s]+)"
    r"(?:/(?:tree|commit)/([^/?#\s]+))?(?:[/?#].*)?",
    re.I,
)
USUAL = "main"  # the revision that a bare name means
CUT = "…"
LONGEST = 24  # characters that fit in the model box


def model_named(typed: str, opened: str = "") -> str:
    """Return the model id for a typed name or a pasted page URL, with its revision if one is given (owner/name@v1).

    A revision alone (@v1) refers to the model that is ``opened``: Streamlit's box (1.67) reports only what was typed
    after a name. Other text is returned stripped.
    """
    typed = typed.strip()
    if typed.startswith("@"):
        return opened.partition("@")[0] + typed
    found = HUB.fullmatch(typed)
    if found is None:
        return typed
    name, version = found.groups()
    return name if version in (None, USUAL) else f"{name}@{unquote(version)}"


def fitting(name: str) -> str:
    """Shorten a long folder path to its end, where folders differ: "…/models/bert-base". A hub id stays as it is."""
    if len(name) <= LONGEST or name.count("/") < 2:
        return name
    end = name[-(LONGEST - 1) :]
    return CUT + (end[end.index("/") :] if "/" in end[:-1] else end)
