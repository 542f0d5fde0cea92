"""The model as a strip, from the text to the next token, with the parts that the page shows highlighted.

Sends "head", the layer, head and attention to open, and "part", the name of a part whose page is requested.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal

from viz.components.picture import Parts, Picture, Texts
from viz.components.source import read_source

N_ = str  # marks a text for Babel without translating it here

TEXTS: dict[str, str] = {
    "text": N_("text"),
    "sound": N_("sound"),
    "written": N_("written so far"),
    "embedding": N_("embedding"),
    "logits": N_("logits"),
    "next": N_("next token"),
    "filled": N_("filled-in token"),
    "classes": N_("classes"),
    "no_head": N_("{name}: no attention weights"),
    "elsewhere": N_("{name}: open in Heads"),
    "opens": N_("{part}: open its page"),
    "pages": N_("Pages of the model's parts"),
    "changed": N_("{name}, changed"),
    "layer": N_("Layer"),
    "head": N_("Head"),
    "choose": N_("{name}: choose a layer and a head"),
    "summary": N_(
        "The model: {layers} layers. {name} is open. Up and down open another layer, left and right another head."
    ),
    "summary_elsewhere": N_(
        "The model: {layers} layers. Up and down choose another layer, left and right another head; Enter opens it in "
        "Heads."
    ),
}

SOURCE = read_source(Path(__file__).parent, "model_strip", '<div class="model-strip">\n</div>')

PARTS = ("text", "embedding", "logits", "next")  # besides the layers, in order
LIT = ("head", "attention", "ffn", "ffns", "stream", "loop", *PARTS)
PICKS = ("here", "layers", "heads")  # heads open on this page; layers without heads too; heads open on the page Heads


@dataclass(frozen=True)
class LayerKind:
    """Layers of the same kind."""

    attentions: tuple[Annotated[tuple[int, int], Parts(("heads", "group"))] | None, ...]
    """For each attention in the row: its heads, and how many share a key/value head; null: no weights."""
    experts: int
    """Number of experts in its feed-forward network; 0: a dense one; -1: none."""


@dataclass(frozen=True)
class LayerRow:
    """One stack: the names of its layers' attentions, and the parts before and after it."""

    attentions: tuple[str, ...]
    before: tuple[str, ...]
    after: tuple[str, ...]
    kinds: tuple[LayerKind, ...]
    layers: tuple[int, ...]
    """The index of each layer's kind."""


@dataclass(frozen=True, eq=False)
class ModelStripPicture(Picture):
    """Rows of layers, and the parts that this page shows. Raises ValueError for names not in ``LIT`` or ``PICKS``."""

    rows: Sequence[LayerRow]
    open: Annotated[tuple[int, int, str], Parts(("layer", "head", "attention"))]
    lit: Sequence[str]
    picks: Literal["here", "layers", "heads"]
    """Heads open on this page; layers without heads too; heads open on the page Heads."""
    texts: Texts
    links: Sequence[str] = ()
    """Parts that have a page."""
    changed: Sequence[Annotated[tuple[str, int, int], Parts(("attention", "layer", "head"))]] = ()
    """What an edit changes, -1 for all."""
    layer_names: Mapping[int, str] = field(default_factory=dict[int, str])
    """Names of layers that are not called L3."""
    head_names: Sequence[str] = ()
    """Names of the open layer's heads, if they say more than a number and the shared keys."""

    def __post_init__(self) -> None:
        """Check the names."""
        picks = [] if self.picks in PICKS else [self.picks]
        if unknown := [*(one for one in self.lit if one not in LIT), *picks]:
            raise ValueError(f"a strip has no {unknown}")
