"""Short names of terms, for rows with many of them."""

from __future__ import annotations

import re

_ENGLISH_BEHIND = re.compile(r"(?<=[\u4e00-\u9fff]) [A-Za-z][A-Za-z -]*$")


def short_term(words: str) -> str:
    """Drop the English behind a Chinese term (残差流 residual stream → 残差流); other terms stay as they are.

    The heading or explanation that such a name opens has both.
    """
    return _ENGLISH_BEHIND.sub("", words)
