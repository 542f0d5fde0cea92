"""Strip filesystem paths from messages of a hosted server."""

from __future__ import annotations

import re

from hosting import settings

PATH = re.compile(r"(?<![\w.:/])~?/(?:[\w.@+\-]+/)+[\w.@+\-]*|\b[A-Za-z]:\\[\w.@+\-\\ ]+")
HIDDEN = "…"


def redact_paths(sentence: str) -> str:
    """Return the sentence without paths of this machine if the app is hosted, otherwise unchanged."""
    return PATH.sub(HIDDEN, sentence) if settings.current() else sentence
