"""Which query heads share a key and a value head: as a model has it, and after its own ones were averaged to fewer.

Sends "head", the query head to open, and "kv_heads", the number of key/value heads to average to.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from viz.components.picture import ColoredPicture, Texts
from viz.components.source import read_source

N_ = str  # marks a text for Babel without translating it here

TEXTS: dict[str, str] = {
    "ways": N_("How many key/value heads to share"),
    "own": N_("as it is"),
    "pooled": N_("averaged to {kv_heads}"),
    "counts": N_("{heads} query heads read {kv_heads} key/value heads"),
    "reads_alone": N_("{group} alone reads key/value head {kv}."),
    "reads_shared": N_("{group} read key/value head {kv}."),
    "reads_mean": N_("{group} read the mean of key/value heads {kv}."),
    "queries": N_("queries"),
    "keys_values": N_("keys, values"),
    "means": N_("their means"),
    "this_model": N_("this model"),
    "beyond": N_("the model has only {own}"),
    "too_many": N_("This model has only {own} key/value heads: more cannot be made of them by averaging."),
    "summary": N_("{title}: {counts}. {head} is open. {reads} Left and right open another head."),
}

SOURCE = read_source(Path(__file__).parent, "head_groups", '<div class="head-groups">\n</div>')


@dataclass(frozen=True)
class HeadGrouping:
    """One number of key/value heads: its ``name`` (MHA, GQA, MQA), and what is written under it."""

    kv_heads: int
    name: str
    note: str


@dataclass(frozen=True, eq=False)
class HeadGroupsPicture(ColoredPicture):
    """Query heads of a layer, and the key/value heads that neighbours share.

    `ways` are drawn small, to choose from; only those in `possible` can be chosen. ValueError where heads cannot be
    shared out evenly.
    """

    n_heads: int
    own: int
    """Key/value heads of the model itself."""
    pooled: int
    """What they are averaged to."""
    layer: int
    head: int
    ways: Sequence[HeadGrouping]
    possible: Sequence[int]
    texts: Texts
    shows: str = ""
    """The key of the part of the page that the open head changes, to which a narrow page scrolls, or ""."""

    def __post_init__(self) -> None:
        """Check that heads can be shared out."""
        n_heads, own, pooled = self.n_heads, self.own, self.pooled
        if n_heads % own or own % pooled or any(n_heads % way.kv_heads for way in self.ways):
            raise ValueError(f"{n_heads} query heads, {own} key/value heads, {pooled} of them left, {list(self.ways)}")
