"""Attention patterns as small pictures, one of them large: what it keeps, its reach, and a pencil to hide cells.

Sends "pattern" (its name), "layers" (how many the large picture shows), "hidden" (the painted cells) and "query".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from viz.components.picture import UNSENT, Bytes, CellPlace, ColoredPicture, Ints, Texts, sent
from viz.components.source import read_source

N_ = str  # marks a text for Babel without translating it here

TEXTS: dict[str, str] = {
    "patterns": N_("patterns"),
    "axis_query": N_("looking (query)"),
    "axis_key": N_("looked at (key)"),
    "row": N_("{query} sees {seen} of {possible} tokens; after {layers} layers {heard} can reach it."),
    "row_one": N_("{query} sees {seen} of {possible} tokens."),
    "first_seen": N_("It sees the first token."),
    "first": N_("The first token reaches it after {layer} layers."),
    "first_never": N_("The first token does not reach it in the model’s {layers} layers."),
    "sees": N_("{query} sees {key}."),
    "hears": N_("{query} does not see {key}, but can be reached by it after {layers} layers."),
    "never": N_("{key} cannot reach {query} in {layers} layers."),
    "future": N_("{key} comes after {query}."),
    "given": N_("{query} would see nothing else, so it keeps itself."),
    "by_hand": N_("{query} does not see {key}: hidden by hand."),
    "apart": N_("{query} sees {key} as if {distance} positions back; they are {true} apart. {region}"),
    "index": N_("{query} sees every key; the farthest seems {distance} positions back."),
    "reach": N_("Layers"),
    "layers": N_("after {layers} layers"),
    "layer": N_("one layer"),
    "play": N_("let it grow"),
    "stop": N_("stop"),
    "pencil": N_("pencil: hide cells"),
    "clear": N_("clear"),
    "kept": N_("seen"),
    "heard": N_("reached through other tokens"),
    "hidden": N_("hidden by the pattern"),
    "ahead": N_("the future"),
    "painted": N_("hidden by hand"),
    "intra": N_("same chunk: true distance"),
    "successive": N_("chunk before: true, then from a capped query position"),
    "inter": N_("farther back: from the capped query position"),
}

SOURCE = read_source(Path(__file__).parent, "mask_gallery", '<div class="mask-gallery">\n</div>')


@dataclass(frozen=True, eq=False)
class Regions:
    """The apparent position of each key: ``region`` 0 same chunk, 1 the previous one, 2 farther back, 3 the future."""

    distance: NDArray[np.int32]
    region: NDArray[np.uint8]


@dataclass(frozen=True, eq=False)
class MaskGalleryPicture(ColoredPicture):
    """All patterns small, and one large. Raises ValueError if arrays do not match names and tokens.

    With `regions` the large picture shows these, and cells cannot be painted.
    """

    names: Sequence[str]
    labels: Sequence[str]
    small: Bytes
    """[patterns, n, n]: 0 hidden to 200 kept, 255 the future, 251 to 253 the regions of an index map."""
    selected: str
    tokens: Sequence[str]
    reached: Bytes
    """[queries, keys]: the layer after which information from a key reaches the query, 0 for never."""
    n_layers: int
    shown: int
    """Number of layers drawn."""
    query: int | None
    hidden: Sequence[CellPlace]
    """Cells hidden by hand."""
    given: Sequence[int]
    """Queries that keep themselves because nothing else is left."""
    most_hidden: int
    note: str
    texts: Texts
    regions: Annotated[Regions | None, UNSENT] = None
    causal: bool = True
    """Whether keys after the query are the future; they are not for an encoder."""
    max_height: int = 650

    def __post_init__(self) -> None:
        """Check the shapes."""
        n, small, reached = len(self.names), self.small.shape, self.reached.shape
        if n != len(self.labels) or len(self.small) != n or reached != (len(self.tokens), len(self.tokens)):
            raise ValueError(f"{n} names, {len(self.labels)} labels, small {small}, reached {reached}")

    @sent
    def distance(self) -> Ints | None:
        """[queries, keys]: the apparent distance of each key."""
        return None if self.regions is None else self.regions.distance

    @sent
    def region(self) -> Bytes | None:
        """[queries, keys]: each key's region."""
        return None if self.regions is None else self.regions.region
