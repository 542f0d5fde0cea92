"""A model's architecture from top to bottom, and one token's vector at each stage as a strip.

Independent of models: its input is rows of text, shares and vectors.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from viz.components.picture import ColoredPicture, Floats, Texts
from viz.components.source import read_source

N_ = str  # marks a text for Babel without translating it here

SOURCE = read_source(Path(__file__).parent, "model_stages", '<div class="model-stages">\n</div>')

TEXTS: dict[str, str] = {
    "label": N_("What the model is made of, from top to bottom"),
    "dimension": N_("{title} · dimension {dimension}: {value}"),
}


@dataclass(frozen=True)
class StageRow:
    """A stage."""

    kind: Literal["stage", "block", "norm", "part", "sum"]
    """Selects its symbol."""
    title: str
    module: str = ""
    shapes: str = ""
    size: str = ""
    share: float | None = None
    """1 is a full bar."""
    length: str = ""
    depth: int = 0
    """1 is inside the open block."""
    block: int | None = None
    """What a click sends; null: nothing."""
    open: bool = False


@dataclass(frozen=True, eq=False)
class ModelStagesPicture(ColoredPicture):
    """The stages. It sends `block`, that of the clicked row. Raises ValueError if rows lack their vectors."""

    rows: Sequence[StageRow]
    vectors: Floats
    """[rows, d], each scaled to its own maximum; NaN for none."""
    columns: Sequence[str]
    """Headings of names, shapes, sizes and strips."""
    texts: Texts
    max_height: int = 780

    def __post_init__(self) -> None:
        """Check that there is one vector per row."""
        if len(self.rows) != len(self.vectors):
            raise ValueError(f"{len(self.vectors)} vectors for {len(self.rows)} rows")
