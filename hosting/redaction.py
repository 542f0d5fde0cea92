"""What a hosted server never says: where something lies on its disk."""

from __future__ import annotations

import re

from hosting import settings

PATH = re.compile(r"(?<![\w.:/])~?/(?:[\w.@+\-]+/)+[\w.@+\-]*|\b[A-Za-z]:\\[\w.@+\-\\ ]+")
HIDDEN = "…"


def redact_paths(sentence: str) -> str:
    """The sentence with every path of this machine left out, where the app is hosted; else as it is."""
    return PATH.sub(HIDDEN, sentence) if settings.current() else sentence
