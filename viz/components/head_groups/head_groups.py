"""Which query heads share a key/value head: in the model, and after averaging to fewer.

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
    "reads_alone": N_("Only {group} reads key/value head {kv}."),
    "reads_shared": N_("{group} read key/value head {kv}."),
    "reads_mean": N_("{group} read the mean of key/value heads {kv}."),
    "queries": N_("queries"),
    "keys_values": N_("keys, values"),
    "means": N_("their means"),
    "this_model": N_("this model"),
    "beyond": N_("the model has only {own}"),
    "too_many": N_("This model has only {own} key/value heads: averaging cannot make more."),
    "summary": N_("{title}: {counts}. {head} is open. {reads} Left and right open another head."),
}

SOURCE = read_source(Path(__file__).parent, "head_groups", '<div class="head-groups">\n</div>')


@dataclass(frozen=True)
class HeadGrouping:
    """A number of key/value heads: its ``name`` (MHA, GQA, MQA), and the text below it."""

    kv_heads: int
    name: str
    note: str


@dataclass(frozen=True, eq=False)
class HeadGroupsPicture(ColoredPicture):
    """Query heads of a layer, and the key/value heads that adjacent ones share.

    `ways` are drawn small, for selection; only those in `possible` can be selected. Raises ValueError if the heads
    cannot be divided evenly.
    """

    n_heads: int
    own: int
    """The model's own number of key/value heads."""
    pooled: int
    """The number after averaging."""
    layer: int
    head: int
    ways: Sequence[HeadGrouping]
    possible: Sequence[int]
    texts: Texts
    shows: str = ""
    """Key of the page element that the open head changes, to which a narrow page scrolls, or ""."""

    def __post_init__(self) -> None:
        """Check that the heads can be divided evenly."""
        n_heads, own, pooled = self.n_heads, self.own, self.pooled
        if n_heads % own or own % pooled or any(n_heads % way.kv_heads for way in self.ways):
            raise ValueError(f"{n_heads} query heads, {own} key/value heads, {pooled} of them left, {list(self.ways)}")
