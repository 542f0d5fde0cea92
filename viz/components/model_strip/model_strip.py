"""The model as a strip, from the text to the next token, with what the page shows of it lit: "you are here".

Sends "head", the layer, the head and the attention to open, and "part", the name of a part whose page is asked for.
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

PARTS = ("text", "embedding", "logits", "next")  # beside the layers, in their order
LIT = ("head", "attention", "ffn", "ffns", "stream", "loop", *PARTS)
PICKS = ("here", "layers", "heads")  # heads that open on this page; layers too that have none; heads that open on Heads


@dataclass(frozen=True)
class LayerKind:
    """Layers of one make."""

    attentions: tuple[Annotated[tuple[int, int], Parts(("heads", "group"))] | None, ...]
    """Of each attention of the row: its heads, and how many share a key and value head; null: no weights."""
    experts: int
    """How many its feed-forward part has; 0: a plain one; -1: it has no such part."""


@dataclass(frozen=True)
class LayerRow:
    """One stack: the names of its layers' attentions, its parts before and after."""

    attentions: tuple[str, ...]
    before: tuple[str, ...]
    after: tuple[str, ...]
    kinds: tuple[LayerKind, ...]
    layers: tuple[int, ...]
    """Of each layer the number of its kind."""


@dataclass(frozen=True, eq=False)
class ModelStripPicture(Picture):
    """Rows of layers, and the parts that this page shows. ValueError for what is not in ``LIT`` or ``PICKS``."""

    rows: Sequence[LayerRow]
    open: Annotated[tuple[int, int, str], Parts(("layer", "head", "attention"))]
    lit: Sequence[str]
    picks: Literal["here", "layers", "heads"]
    """Heads that open on this page; layers too that have none; heads that open on Heads."""
    texts: Texts
    links: Sequence[str] = ()
    """Parts that have a page."""
    changed: Sequence[Annotated[tuple[str, int, int], Parts(("attention", "layer", "head"))]] = ()
    """What an edit changes, -1 for all of them."""
    layer_names: Mapping[int, str] = field(default_factory=dict[int, str])
    """Of layers that are called otherwise than L3."""
    head_names: Sequence[str] = ()
    """Those of the open layer, where they say more than a head's number and whose keys it shares."""

    def __post_init__(self) -> None:
        """Check the names."""
        picks = [] if self.picks in PICKS else [self.picks]
        if unknown := [*(one for one in self.lit if one not in LIT), *picks]:
            raise ValueError(f"a strip has no {unknown}")
