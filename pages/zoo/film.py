"""FlashAttention on the page Zoo: softmax of the open head by tiles, as a film, and memory traffic of longer texts."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

import numpy as np
import pandas as pd
import streamlit as st

from analysis.flash_film import TWO_TEXTS, FlashFilm, Longer, flash_film, longer, row_sums
from analysis.joined import first_query
from analysis.sentences import joined
from analysis.units import token_units
from analysis.zoo import captured_head
from attention.flash_blocks import Blocks, blocks_of, held
from attention.zoo.head import Head
from model_runner.errors import NotSeparable
from model_runner.memory import readable
from pages.zoo.cut import show_cut
from pages.zoo.numbers import show_rule, show_work
from pages.zoo.state import A100, BY_NAME, SRAM, ZooState, first_drawn, state
from ui.shared.export_bundle import ExportBundle, component_page
from ui.shared.finding import show_finding
from ui.shell.components import mount, show_html
from ui.shell.page import PageContext, translated
from ui.state import session
from ui.state.controls import choose, slider, steps
from ui.state.page_state import change
from ui.wording.i18n import _
from viz.chart import Line, Lines
from viz.chart_svg import charts_svg
from viz.components.flash_film import flash_film as component

LENGTHS = (1_000, 16_000, 128_000, 1_000_000)


@dataclass(frozen=True, eq=False)
class FilmInView:
    """What is in view."""

    opened: PageContext
    start: int  # the first token drawn
    film: FlashFilm
    row: int
    longer: tuple[Longer, ...]
    payload: bytes


def show_film(opened: PageContext) -> FilmInView:
    """Show the film, and its blocks beside it."""
    start = first_drawn(len(opened.capture.tokens))
    if opened.capture.record(opened.layer).rest_in is not None:
        raise NotSeparable(reason=TWO_TEXTS)
    head = captured_head(opened.capture, opened.layer, opened.head, start)
    size = opened.capture.record(opened.layer).k.element_size()
    left, right = st.columns([0.71, 0.29], gap="medium")
    with right:
        film = flash_film(head, _blocks(head, size), state().order, size=size)
    row = head.n_tokens - 1 if opened.query is None else max(0, min(opened.query - start, head.n_tokens - 1))
    looking = first_query(opened.capture)  # in two combined texts only one text has queries
    payload = component.FlashFilmPicture(
        scores=film.scores,
        v=film.v,
        labels=[unit.label for unit in token_units(opened.capture)[start : start + head.n_tokens]],
        first=start,
        d_head=film.d_head,
        size=size,
        rows=film.blocks.rows,
        columns=film.blocks.columns,
        order=film.order,
        sram=_room(film),
        sink=film.sink,
        row=row,
        frame=state().frame,
        texts=translated(component.TEXTS),
    ).packed()
    lengths = _lengths(film, head)
    with left:
        show_finding(escape(_finding(lengths)))
        on = {
            "frame": lambda frame: change(ZooState, frame=int(frame)),
            "row": lambda chosen: session.move(query=max(looking, start + int(chosen)), key=None),
        }
        mount(component.SOURCE, payload, key="flash_film", on=on)
    with right:  # after the film, also on phones
        _show_longer(film, head, lengths)
        show_cut(opened, start)
        show_rule(BY_NAME["flash"])
        show_work(BY_NAME["flash"], {}, film.d_head, [])
    return FilmInView(opened, start, film, row, lengths, payload)


def _blocks(head: Head, size: int) -> Blocks:
    """Show the controls and return the blocks that fit in the SRAM, or the reader's own."""
    shown = state()
    choose(ZooState, "order", shown.order, {"keys": _("keys outside"), "queries": _("queries outside")})
    choose(ZooState, "blocks", shown.blocks, {"sram": _("tiles from SRAM"), "own": _("own tiles")})
    if shown.blocks == "sram":
        words = _("SRAM of one processor of the GPU")
        st.html(f"<p class='atlas-caption'>{escape(words)}</p>")
        steps(ZooState, "sram", shown.sram, {one: f"{one} KB" for one in SRAM})
        found = blocks_of(int(shown.sram) * 1024 // size, head.q.shape[1])
        words = joined(
            _(
                "Keys in a tile: ⌈M/4d⌉ = {columns}; queries: min(⌈M/4d⌉, d) = {rows}; d = {d}; bytes of a number: "
                "{size}."
            ),
            _("The four blocks fill it; scores and sums come on top, as in the paper (O(M))."),
        )
    else:
        longest = head.n_tokens
        found = Blocks(min(shown.rows, longest), min(shown.columns, longest))
        if longest > 1:
            slider(ZooState, "rows", found.rows, (1, longest), _("queries in a tile"))
            slider(ZooState, "columns", found.columns, (1, longest), _("keys in a tile"))
        words = _("Keys in a tile: {columns}; queries: {rows}; d = {d}; bytes of a number: {size}.")
    said = words.format(columns=found.columns, rows=found.rows, d=head.q.shape[1], size=size)
    st.html(f"<p class='atlas-caption'>{escape(said)}</p>")
    return found


def _room(film: FlashFilm) -> int:
    """Numbers that the SRAM holds: the chosen size, or what the reader's own tiles need."""
    if state().blocks == "sram":
        return int(state().sram) * 1024 // film.size
    return held(film.blocks, film.d_head, film.v.shape[1])


def _lengths(film: FlashFilm, head: Head) -> tuple[Longer, ...]:
    """The same head on long texts, with the blocks of a large SRAM."""
    return longer(film, LENGTHS, blocks_of(A100 * 1024 // film.size, film.d_head), causal=not head.looks_ahead)


def _finding(found: tuple[Longer, ...]) -> str:
    """What tiling saves on one of the long texts."""
    long = found[LENGTHS.index(128_000)]
    words = _("At {count} tokens, tiles move {tiled} instead of {plain}")
    return words.format(count=f"{long.n_tokens:,}", tiled=readable(long.tiled), plain=readable(long.plain))


def _show_longer(film: FlashFilm, head: Head, found: tuple[Longer, ...]) -> None:
    """Show in a table the memory traffic on long texts, and on this text."""
    words = (_("tokens"), _("plain"), _("by tiles"))
    names = "".join(f"<th scope='col'>{escape(name)}</th>" for name in words)
    rows = "".join(
        f"<tr><th scope='row'>{one.n_tokens:,}</th><td>{readable(one.plain)}</td><td>{readable(one.tiled)}</td></tr>"
        for one in found
    )
    said = _("What one such head moves from and to HBM in longer texts, by formula, with {size} of SRAM (an A100).")
    show_html(
        f"<table class='atlas-costs'><thead><tr>{names}</tr></thead><tbody>{rows}</tbody></table>"
        f"<p class='atlas-caption'>{escape(said.format(size=f'{A100} KB'))}</p>",
        key="tiles_longer",
    )
    (here,) = longer(film, (len(film.scores),), film.blocks, causal=not head.looks_ahead)
    if here.tiled > here.plain:
        said = _(
            "In this text, of {count} tokens, tiles move more than plain attention, {tiled} and {plain}: the map that "
            "they save is small, and queries, keys or sums are moved again for every tile."
        ).format(count=here.n_tokens, tiled=readable(here.tiled), plain=readable(here.plain))
        st.html(f"<p class='atlas-caption'>{escape(said)}</p>")


# -- export -----------------------------------------------------------------------------------------------------------


def film_view(shown: FilmInView) -> ExportBundle:
    """The row's sums after each tile, and the bytes for longer texts."""
    film, opened = shown.film, shown.opened
    name, blocks = f"L{opened.layer}H{opened.head}", film.blocks
    return ExportBundle(
        name=f"zoo-flash-{name}",
        title=f"{name} · FlashAttention",
        what=f"softmax by tiles of {blocks.rows} queries and {blocks.columns} keys, {film.order} in the outer loop",
        tables=lambda: _tables(shown),
        page=component_page(component.SOURCE, shown.payload),
        picture=lambda title, words: charts_svg([_chart(shown)], title=title, caption=words),
        arrays={"scores": film.scores, "v": film.v},
        code=_code(shown),
    )


def _chart(shown: FilmInView) -> Lines:
    """The memory traffic of longer texts; the film itself is in the HTML."""
    lengths = [one.n_tokens for one in shown.longer]
    return Lines(
        series=[
            Line(_("plain"), lengths, [one.plain for one in shown.longer], points=True),
            Line(_("by tiles"), lengths, [one.tiled for one in shown.longer], points=True),
        ],
        x_title=_("tokens"), y_title=_("bytes"), log_x=True, log_y=True, heading=_("Moved from and to HBM"),
    )  # fmt: skip  # both axes in a line


def _tables(shown: FilmInView) -> dict[str, pd.DataFrame]:
    token = shown.opened.capture.tokens[shown.start + shown.row].text
    sums = row_sums(shown.film, shown.row)
    columns = [_("largest score"), _("sum ℓ")]
    rows = [[one.largest, one.total] for one in sums]
    frame = pd.DataFrame(rows, index=[f"< {one.stop}" for one in sums], columns=columns)
    lengths = [f"{one.n_tokens:,}" for one in shown.longer]
    moved = np.array([[one.plain, one.tiled] for one in shown.longer])
    return {
        f"{token} ({shown.start + shown.row})": frame,
        _("Moved from and to HBM"): pd.DataFrame(moved, index=lengths, columns=[_("plain"), _("by tiles")]),
    }


def _code(shown: FilmInView) -> str:
    opened, film = shown.opened, shown.film
    blocks = f"Blocks({film.blocks.rows}, {film.blocks.columns})"
    return "\n".join(
        [
            "",
            "from attention_atlas.analysis.flash_film import flash_film, longer, row_sums",
            "from attention_atlas.analysis.zoo import captured_head",
            "from attention_atlas.attention.flash_blocks import Blocks, blocks_of",
            "",
            f"head = captured_head(capture, {opened.layer}, {opened.head}, {shown.start})",
            f'film = flash_film(head, {blocks}, "{film.order}", size={film.size})',
            f"sums = row_sums(film, {shown.row})",
            f"large = blocks_of({A100} * 1024 // film.size, film.d_head)",
            f"moved = longer(film, {LENGTHS}, large, causal=not head.looks_ahead)",
        ]
    )
