"""One or two heads as lines between two columns of tokens: queries on the left, keys on the right.

Sends the state "query": the pinned query's position, or None when it is released; and "cell", [query, key], for a key
that is pinned or, None, released: the query is the pinned one, or None if it is not drawn.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from viz.components.picture import ColoredPicture, Floats, Texts
from viz.components.source import read_source

N_ = str

TEXTS: dict[str, str] = {
    "summary": N_("Lines from each token to the tokens it looks at."),
    "queries": N_("looking (query)"),
    "keys": N_("looked at (key)"),
    "line": N_("{query} puts {value} on {key}"),
    "looked_at": N_("{key} is looked at most by {query}: {value}"),
    "threshold": N_("Lines under {value} are left out."),
    "cut": N_("Only the first {count} tokens of each column are drawn."),
    "percent": N_("{number} %"),
}

MAX_ROWS = 96
THRESHOLD = 0.02

SOURCE = read_source(Path(__file__).parent, "token_lines", '<div class="token-lines"></div>\n')


@dataclass(frozen=True, eq=False)
class TokenLinesPicture(ColoredPicture):
    """The lines of one or two heads. Only the first 96 rows of each column are drawn, which the figure says.

    Raises ValueError unless the weights are of one or two heads with these labels.
    """

    queries: Sequence[str]
    keys: Sequence[str]
    query_offset: int
    """Position of the column's first label; `key_offset` too."""
    key_offset: int
    weights: Floats
    """[heads, queries, keys], NaN where masked."""
    head_labels: Sequence[str]
    selected: int | None
    """Position of the pinned query."""
    texts: Texts
    looked_at: int | None = None
    """Position of the pinned key."""
    max_height: int = 560
    threshold: float = THRESHOLD
    max_rows: int = MAX_ROWS
    cut: bool = field(init=False, default=False)
    """Rows were left out."""

    def __post_init__(self) -> None:
        """Check the shape, and leave out rows."""
        most = self.max_rows
        expected = (len(self.head_labels), len(self.queries), len(self.keys))
        if self.weights.shape != expected or not 1 <= len(self.head_labels) <= 2:
            raise ValueError(f"weights of shape {self.weights.shape}; expected one or two heads and labels' {expected}")
        self._set(
            cut=max(len(self.queries), len(self.keys)) > most,
            queries=self.queries[:most],
            keys=self.keys[:most],
            weights=self.weights[:, :most, :most],
        )
