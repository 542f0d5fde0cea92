"""All residual streams side by side: attention as links between them, and which ones the next token needs."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from weakref import ref

import numpy as np
import pandas as pd
import streamlit as st

from analysis.mask_effect import looks_ahead
from analysis.stream_links import Link, link_shares, needed_streams, strongest_links
from jobs.mean_streams import MeanStreams, mean_streams
from pages.block.state import BlockState, Links, Streams, state
from pages.block.which_text import one_text
from ui.shared.export_bundle import ExportBundle, component_page
from ui.shared.finding import bare, show_finding
from ui.shell.components import mount, show_heading, show_html
from ui.shell.page import PageContext, translated
from ui.shell.progressive import progressive, show_progress
from ui.state import session
from ui.state.controls import choose, pick
from ui.state.url_values import options_of
from ui.wording.i18n import _
from ui.wording.sentences import number
from viz.components.layer_head_map import layer_head_map
from viz.components.still import still
from viz.markdown import plain
from viz.streams_svg import Columns, DrawnLink, columns_html, columns_svg

N_ = str  # marks a text for Babel without translating it here

MOST = 64  # tokens that fit side by side
MAP_TEXTS = layer_head_map.TEXTS | {
    "columns": N_("positions"),
    "cell": N_("{row} · {column} ({column_index}) · log p changes by {value}"),
    "missing": N_("{row} · {column} ({column_index}) · not computed"),
}


@dataclass(frozen=True, eq=False)
class StreamsView:
    """What is drawn: the weights, the streams needed at this threshold, and the effect of replacing each."""

    shares: np.ndarray
    needed: np.ndarray
    least: float
    head: int | None
    columns: Columns
    changes: np.ndarray | None
    target: int
    names: list[str]
    rows: list[str]


def show_streams(opened: PageContext) -> StreamsView | None:
    """Show the picture and, in the view of needed streams, the measured map; None if a sentence is shown instead."""
    opened = one_text(opened)
    capture = opened.capture
    if looks_ahead(capture) or capture.attentions or capture.request.attention is not None:
        words = _("This view follows a causal model to its next token; choose a model with one stack of such layers.")
        st.info(plain(words))
        return None
    n = len(capture.tokens)
    if n > MOST:
        words = _("There is room for {most} streams beside each other; this text has {count} tokens. Shorten it.")
        st.info(plain(words.format(most=MOST, count=f"{n:,}")))
        return None
    least = _controls(opened)
    head = opened.head if state().links == "head" else None
    shares = link_shares(capture, head)
    needed, links = needed_streams(shares, least)
    probabilities = capture.logits(-1).double().softmax(0)
    target = int(probabilities.argmax())
    said = f"{opened.runner.token_text(target)} {number(float(probabilities[target]), 'share')}"
    columns = _columns(opened, shares, needed, links, said)
    title, beside = _said(opened, needed, head, least)
    show_finding(escape(title), escape(beside), of_several=True)
    show_heading(escape(_("Streams and the attention between them")))
    show_html(columns_html(columns, f"{title}. {beside}"), key="streams")
    found = StreamsView(
        shares, needed, least, head, columns, None, target, [one.text for one in capture.tokens], [*columns.rows]
    )
    return _measured(opened, found) if state().streams == "needed" else found


def _controls(opened: PageContext) -> float:
    """Show the controls and return the threshold."""
    held = state()
    with st.container(key="block_controls", horizontal=True, vertical_alignment="center", gap="small"):
        shown: dict[Streams, str] = {
            "all": _("all streams"),
            "needed": _("which the next token needs"),
            "cache": _("with a KV cache"),
        }
        choose(BlockState, "streams", held.streams, shown)
        links: dict[Links, str] = {"all": _("all heads"), "head": _("H{head} of every layer").format(head=opened.head)}
        choose(BlockState, "links", held.links, links)
        if held.streams == "needed":
            words = _("links from {share} % on")
            shares = {one: words.format(share=one) for one in options_of(BlockState, "least")}
            pick(BlockState, "least", held.least, shares, width=170)
    return int(held.least) / 100


def _columns(opened: PageContext, shares: np.ndarray, needed: np.ndarray, links: list[Link], end: str) -> Columns:
    """The columns: filled where the chosen view computes or needs a stream; links are each token’s strongest, or all
    needed.
    """
    shown, last = state().streams, needed.shape[1] - 1
    lit = np.ones_like(needed) if shown == "all" else needed
    if shown == "cache":
        lit = np.zeros_like(needed)
        lit[:, last] = True
    drawn = [
        DrawnLink(
            link.layer, link.key, link.query, link.share, shown == "all" or (shown == "cache" and link.query == last)
        )
        for link in strongest_links(shares)
    ]
    if shown == "needed":
        kept = {(link.layer, link.query, link.key) for link in links}
        drawn = [one for one in drawn if (one.row, one.end, one.start) not in kept]
        drawn += [DrawnLink(link.layer, link.key, link.query, link.share, lit=True) for link in links]
    tokens = [token.text for token in opened.capture.tokens]
    rows = [_("embedding"), *(_("after {layer}").format(layer=f"L{layer}") for layer in range(len(shares)))]
    return Columns(tokens, rows, lit.tolist(), drawn, f"→ {end}")


def _said(opened: PageContext, needed: np.ndarray, head: int | None, least: float) -> tuple[str, str]:
    """How many streams of how many, and what a link means."""
    whose = (
        _("a link’s width: the largest w · ‖v‖ of any head, as a share of its row")
        if head is None
        else _("a link’s width: the weight of {head} in each layer").format(head=f"H{head}")
    )
    last = bare(opened.capture.tokens[-1].text)
    if state().streams == "all":
        words = _("{count} streams run through {layers} layers at once")
        return words.format(count=needed.shape[1], layers=len(needed) - 1), whose
    if state().streams == "cache":
        words = _("With a KV cache only the column of “{token}” is computed")
        beside = _("{count} streams of earlier tokens are not run again: their keys and values are read from the cache")
        return words.format(token=last), beside.format(count=needed.shape[1] - 1)
    words = _("The next token after “{token}” needs {count} of {total} streams")
    beside = _("reached backward from the last row through links of at least {share}; {whose}")
    share = number(least, "share")
    return (
        words.format(token=last, count=int(needed.sum()), total=needed.size),
        beside.format(share=share, whose=whose),
    )


# -- measurement ------------------------------------------------------------------------------------------------------


def _measured(opened: PageContext, found: StreamsView) -> StreamsView:
    """The map of what replacing each stream changes, layer by layer."""
    setting = MeanStreams(opened.capture.request, found.target, len(found.shares))
    key = ref(opened.runner), setting
    rows = session.jobs().get("mean_streams", key, lambda name: mean_streams(opened.runner, setting, name))

    def draw() -> None:
        changes = setting.map_of(rows.items, len(found.names))
        token = bare(opened.runner.token_text(found.target))
        title = _("Measured: log p(“{token}”) when one stream is replaced by the text’s mean, in nats")
        if len(rows.items) < setting.layers:
            show_progress(rows, setting.layers, _("{done} of {total} layers"), key="mean_streams")
        else:
            st.html(f"<p class='atlas-caption'>{escape(_inside_and_outside(found, changes))}</p>")
        show_heading(escape(title.format(token=token)))
        payload = layer_head_map.LayerHeadMapPicture(
            changes,
            title=_("change of log p"),
            scale="signed",
            low=float(np.nanmin(changes, initial=-1e-4)),
            high=float(np.nanmax(changes, initial=1e-4)),
            number="plain",
            open=None,
            texts=translated(MAP_TEXTS) | {"rows": _("layers")},
            row_labels=[f"L{layer}" for layer in range(setting.layers)],
            column_labels=found.names,
            max_height=360,
        ).packed()
        mount(layer_head_map.SOURCE, payload, key="mean_streams_map", on={"head": _pin})

    progressive(rows, draw)
    changes = setting.map_of(rows.items, len(found.names))
    return StreamsView(
        found.shares, found.needed, found.least, found.head, found.columns, changes, found.target, found.names,
        found.rows,
    )  # fmt: skip  # all but one as they were


def _pin(cell: list[int] | None) -> None:
    """A click pins the token on every page."""
    if cell is not None:
        session.move(query=int(cell[1]), key=None)


def _inside_and_outside(found: StreamsView, changes: np.ndarray) -> str:
    """Compare the largest change inside and outside the needed streams, which confirms or refutes them."""
    needed = found.needed[:-1]
    words = _("{where} {place} changes most, by {change}.")
    sides = ((_("Of the needed streams"), needed), (_("Of the others"), ~needed))
    said = []
    for where, chosen in sides:
        sizes = np.where(chosen, np.abs(changes), -1.0)
        layer, position = np.unravel_index(int(sizes.argmax()), sizes.shape)
        if sizes.max() >= 0:
            place = f"{found.names[position]} ({position}) → L{layer}"
            said.append(
                words.format(where=where, place=place, change=f"{changes[layer, position]:+.3f}".replace("-", "−"))
            )
    said.append(_("Each stream is replaced by itself; links below the threshold can add up."))
    return " ".join(said)


# -- export -----------------------------------------------------------------------------------------------------------


def streams_view(found: StreamsView) -> ExportBundle:
    """Which streams are needed, the effect of each, and all weights."""
    names = [f"{place} {name}" for place, name in enumerate(found.names)]
    whose = "all heads, largest w·|v| as a share of its row" if found.head is None else f"H{found.head} of every layer"

    def tables() -> dict[str, pd.DataFrame]:
        made = {_("needed streams"): pd.DataFrame(found.needed.astype(float), index=found.rows, columns=names)}
        if found.changes is not None:
            rows = [f"L{layer}" for layer in range(len(found.changes))]
            made[_("change of log p")] = pd.DataFrame(found.changes, index=rows, columns=names)
        return made

    arrays = {"shares": found.shares, "needed": found.needed}
    return ExportBundle(
        name="streams",
        title=_("streams"),
        what=f"streams that reach the last one through links of at least {found.least:g} ({whose}), and the change of "
        f"the next token's log-probability (nats) when each alone is replaced by the text's mean",
        tables=tables,
        page=component_page(still.SOURCE, still.still_picture(columns_html(found.columns, _("streams"))).packed()),
        picture=lambda title, words: columns_svg(found.columns, title=title, caption=words),
        arrays=arrays if found.changes is None else arrays | {"changes": found.changes},
        code=CODE.format(head=found.head, least=found.least, target=found.target),
    )


CODE = """
from attention_atlas.analysis.stream_links import link_shares, needed_streams
from attention_atlas.model_runner.questions import MeanStream

shares = link_shares(capture, {head})
needed, links = needed_streams(shares, {least!r})
changes = [
    runner.submit(MeanStream(capture.request, layer, {target})).result().tolist() for layer in range(capture.n_layers)
]
"""
