"""The picture of the page Sharing heads: the groups now and after averaging; a click selects a number."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

import streamlit as st

from analysis.kv_bytes import Sharing, cache_bytes
from analysis.sharing import pooled_bytes, shared_counts
from model_runner import Capture
from model_runner.errors import RunnerError
from model_runner.kv import CachedLayer
from model_runner.memory import readable
from model_runner.questions import CacheLayers
from pages.sharing.state import SharingState, state
from ui.shell.components import mount
from ui.shell.page import PageContext, asked, translated
from ui.state import session
from ui.state.page_state import change, refuse
from ui.wording.i18n import _
from viz.components.head_groups import head_groups


@dataclass(frozen=True, eq=False)
class Shares:
    """What can be shared and what is chosen: ``counts`` decrease to 1, ``own`` is the open layer's number.

    ``cache`` is the model's cache for this text, None if it has none.
    """

    counts: tuple[int, ...]
    own: int
    chosen: int
    cache: tuple[CachedLayer, ...] | None

    @property
    def alone(self) -> bool:
        """True if nothing is left to share."""
        return self.counts == (1,) and self.own == 1


def show_picture(opened: PageContext) -> Shares:
    """Show the possible groupings, the model's own and the chosen one, and notes about this model."""
    record, cache = opened.capture.record(opened.layer), _cache(opened)
    n_heads, own = record.q.shape[0], record.k.shape[0]
    counts = shared_counts(opened.capture)
    chosen = _chosen(opened.capture, counts)
    every = [count for count in range(n_heads, 0, -1) if n_heads % count == 0]
    payload = head_groups.HeadGroupsPicture(
        n_heads=n_heads,
        own=own,
        pooled=chosen,
        layer=opened.layer,
        head=opened.head,
        ways=[head_groups.HeadGrouping(one, kind(one, n_heads), _size(opened.capture, cache, one)) for one in every],
        possible=counts,
        texts=translated(head_groups.TEXTS),
        shows="map_before",
    ).packed()

    def open_head(head: int | None) -> None:
        if head is not None:
            session.move(layer=opened.layer, head=int(head))

    def pool(count: int | None) -> None:
        if count is not None:
            change(SharingState, kv_heads=None if count == _usual(opened.capture, counts) else int(count))

    mount(head_groups.SOURCE, payload, key="head_groups", on={"head": open_head, "kv_heads": pool})
    if cache is not None and cache_bytes(opened.capture, cache).latent is not None:
        words = _(
            "The cache of this model holds one compressed vector for all heads (MLA). What is shared here, and counted "
            "in bytes, are the keys and values that its heads make of it."
        )
        st.html(f"<p class='atlas-caption'>{escape(words)}</p>")
    return Shares(counts, own, chosen, cache)


def kind(kv_heads: int, n_heads: int) -> str:
    """MHA, GQA or MQA."""
    return Sharing(kv_heads, 0, own=False).kind(n_heads)


def _cache(opened: PageContext) -> tuple[CachedLayer, ...] | None:
    """The cache after this text; None for a model without one."""
    try:
        return asked(opened, CacheLayers(opened.capture.request))
    except RunnerError:
        return None


def _size(capture: Capture, cache: tuple[CachedLayer, ...] | None, kv_heads: int) -> str:
    return "" if cache is None else readable(pooled_bytes(capture, cache, kv_heads))


def _usual(capture: Capture, counts: tuple[int, ...]) -> int:
    """The largest number that changes something, if there is one."""
    return next((count for count in counts if count < capture.n_kv_heads), counts[-1])


def _chosen(capture: Capture, counts: tuple[int, ...]) -> int:
    """The chosen number, if the heads can be averaged to it; an invalid one is reported and dropped."""
    held = state().kv_heads
    if held is not None and held not in counts:
        words = _("The key/value heads of this model cannot be averaged to “{value}”, only to {counts}.")
        refuse(SharingState, "kv_heads", words.format(value=held, counts=", ".join(map(str, counts))))
        held = None
    return _usual(capture, counts) if held is None else held
