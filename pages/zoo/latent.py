"""A latent KV cache (MLA) on the page Zoo: its size compared with the heads' keys and values, and its error."""

from __future__ import annotations

from html import escape

from analysis.kv_bytes import cache_bytes
from analysis.latent_bytes import LatentBytes, kept
from analysis.sentences import joined
from attention.zoo import mla
from attention.zoo.head import Head
from model_runner.errors import RunnerError
from model_runner.questions import CacheLayers
from ui.shell.components import show_html
from ui.shell.page import PageContext, asked
from ui.wording.i18n import _
from ui.wording.sentences import number


def kept_here(opened: PageContext, rank: int) -> tuple[LatentBytes, ...]:
    """The sizes for the open layer."""
    return kept(opened.capture.record(opened.layer), rank)


def holds_latent(opened: PageContext) -> bool:
    """Return True if the model itself caches one compressed vector for all heads (MLA)."""
    try:
        layers = asked(opened, CacheLayers(opened.capture.request))
    except RunnerError:  # a model without a cache
        return False
    return cache_bytes(opened.capture, layers).latent is not None


def show_kept(opened: PageContext, head: Head, rank: int) -> None:
    """Show a row per way of sharing, then how much of the layer's keys and values the latent loses."""
    if head.layer is None:
        return
    names = "".join(f"<th scope='col'>{escape(one)}</th>" for one in (_("kept per token"), _("numbers"), _("bytes")))
    mark = "" if holds_latent(opened) else " · " + _("this model")
    rows = "".join(
        f"<tr><th scope='row'>{escape(one.name)}{escape(mark if one.own else '')}</th>"
        f"<td>{one.numbers:,}</td><td>{one.n_bytes:,}</td></tr>"
        for one in kept_here(opened, rank)
    )
    share = number(mla.left_out(head.layer, rank), "share")
    n_heads, total = len(head.layer.k), min(head.layer.rows.shape)
    said = _("Nothing of its keys and values is left out: the text has no more than {last} independent rows.")
    if rank < total:
        said = _(
            "The keys and values of {heads} heads, {width} numbers a token: {share} of their norm is left out, the "
            "singular values from {first} to {last}."
        )
    words = joined(
        _("In this layer; + RoPE is the turned part that DeepSeek keep beside the latent, d / 2 numbers."),
        said.format(heads=n_heads, width=head.layer.rows.shape[1], share=share, first=rank + 1, last=total),
    )
    show_html(
        f"<table class='atlas-costs'><thead><tr>{names}</tr></thead><tbody>{rows}</tbody></table>"
        f"<p class='atlas-caption'>{escape(words)}</p>",
        key="latent_kept",
    )
