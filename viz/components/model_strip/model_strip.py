"""The model as a strip, from the text to the next token, with what the page shows of it lit: "you are here".

Sends "head", the layer, the head and the attention to open, and "part", the name of a part whose page is asked for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from viz.components.packing import pack
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
    """Layers of one make: [heads, heads that share a key and value head] of each attention, in the order of the row's.

    None for one without weights. ``experts``: how many its feed-forward part has; 0: a plain one; -1: it has no such
    part.
    """

    attentions: tuple[tuple[int, int] | None, ...]
    experts: int


@dataclass(frozen=True)
class LayerRow:
    """One stack: the names of its layers' attentions, its parts before and after, and each layer's kind by number."""

    attentions: tuple[str, ...]
    before: tuple[str, ...]
    after: tuple[str, ...]
    kinds: tuple[LayerKind, ...]
    layers: tuple[int, ...]


def payload(
    *,
    rows: Sequence[LayerRow],
    open_head: tuple[int, int, str],
    lit: Sequence[str],
    picks: str,
    links: Sequence[str] = (),
    changed: Sequence[tuple[str, int, int]] = (),
    layer_names: Mapping[int, str] | None = None,
    head_names: Sequence[str] = (),
    texts: Mapping[str, str],
) -> bytes:
    """Rows of layers, the open one of them (layer, head, attention), and the parts that this page shows.

    ``changed``: (attention, layer, head) that an edit changes, -1 for all of them. ``links``: parts that have a page.
    ``layer_names``: of layers that are called otherwise than L3; ``head_names``: those of the open layer, where they
    say more than a head's number and whose keys it shares. ValueError for what is not in ``LIT`` or ``PICKS``.
    """
    if unknown := [*(one for one in lit if one not in LIT), *(one for one in (picks,) if one not in PICKS)]:
        raise ValueError(f"a strip has no {unknown}")
    meta = {
        "rows": [asdict(row) for row in rows],
        "open": list(open_head),
        "lit": list(lit),
        "picks": picks,
        "links": list(links),
        "changed": [list(place) for place in changed],
        "layer_names": {str(layer): name for layer, name in (layer_names or {}).items()},
        "head_names": list(head_names),
        "texts": dict(texts),
    }
    return pack(meta, {})
