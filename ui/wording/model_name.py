"""Names of models as a reader gives them and as they fit into a narrow box."""

from __future__ import annotations

import re
from urllib.parse import unquote

HUB = re.compile(
    r"(?:https?://)?(?:www\.)?(?:huggingface\.co|hf\.co)/(?:models/)?([^/?#\s]+/[^/?#\s]+)"
    r"(?:/(?:tree|commit)/([^/?#\s]+))?(?:[/?#].*)?",
    re.I,
)
USUAL = "main"  # the version that a name alone stands for
CUT = "…"
LONGEST = 24  # characters that the model box shows


def model_named(typed: str, opened: str = "") -> str:
    """The id of a model whose page's address was pasted, with the version if the page is of one (owner/name@v1).

    A version alone (@v1) is one of the model that is ``opened``: of a name with something typed behind it, Streamlit's
    box (1.67) tells what was typed alone. Anything else is as it was typed, without blanks around it.
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
    """A folder of a long path by its end, where folders differ: "…/models/bert-base". An id of the hub as it is."""
    if len(name) <= LONGEST or name.count("/") < 2:
        return name
    end = name[-(LONGEST - 1) :]
    return CUT + (end[end.index("/") :] if "/" in end[:-1] else end)
