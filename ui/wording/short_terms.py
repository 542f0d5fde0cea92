"""Names of terms where many stand in one row."""

from __future__ import annotations

import re

_ENGLISH_BEHIND = re.compile(r"(?<=[\u4e00-\u9fff]) [A-Za-z][A-Za-z -]*$")


def short_term(words: str) -> str:
    """A term in Chinese without the English behind it (残差流 residual stream → 残差流); any other as it is.

    For a row of names that has no room for both. What such a name opens has both in its heading or its explanation.
    """
    return _ENGLISH_BEHIND.sub("", words)
