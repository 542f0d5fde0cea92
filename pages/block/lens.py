"""The logit lens: what the model would predict at every token if it ended after each layer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from html import escape

import numpy as np
import streamlit as st

from analysis.logit_lens import LensMap, lens_map
from model_runner.block_questions import LogitLens
from model_runner.errors import NoSuchPlace
from pages.block.state import BlockState, Shade, state
from pages.block.which_text import one_text
from ui.shared.finding import bare, show_finding
from ui.shell.components import mount, show_html
from ui.shell.page import PageContext, asked, translated
from ui.shell.progressive import show_chart
from ui.state import session
from ui.state.controls import choose
from ui.state.page_state import change, refuse
from ui.wording.i18n import _
from ui.wording.sentences import number, sentence
from viz.chart import Line, Lines
from viz.components.layer_head_map import layer_head_map
from viz.distribution import TEXTS, next_token_bars

N_ = str  # marks a text for Babel without translating it here

MAP_HEIGHT = 470  # px
MAP_TEXTS = layer_head_map.TEXTS | {
    "rows": N_("layers"),
    "columns": N_("positions"),
    "cell": N_("{row} · {column} ({column_index}): {word} · {value}"),
    "missing": N_("{column} ({column_index}): what the model says is on top from {word} on"),
}
SHADES: dict[Shade, str] = {
    "probability": N_("probability of the token that is on top"),
    "entropy": N_("entropy of the distribution, in bits"),
    "kl": N_("KL from the model’s own distribution, in bits"),
}


@dataclass(frozen=True, eq=False)
class LensView:
    """What is drawn: the map, its colours and the open cell."""

    found: LensMap
    shade: Shade
    row: int
    position: int
    first: int  # the page's number of the first token
    payload: bytes

    @property
    def values(self) -> np.ndarray:
        """The coloured quantity [rows, tokens]."""
        return values_of(self.found, self.shade)


def show_lens(opened: PageContext) -> LensView:
    """Show the map with the open cell beside it. Raises RunnerError."""
    opened = one_text(opened)
    found = lens_map(opened.capture, asked(opened, LogitLens(opened.capture.request)), opened.runner.token_text)
    row, shade = _row(found), state().shade
    position = len(found.tokens) - 1 if opened.query is None else opened.query
    with st.container(key="block_controls", horizontal=True, vertical_alignment="center", gap="small"):
        shades: dict[Shade, str] = {"probability": _("probability"), "entropy": _("entropy"), "kl": _("KL")}
        choose(BlockState, "shade", shade, shades)
        words = _(
            "The lens is not trained: it applies the model’s last norm and output layer to streams "
            "they were not made for. Early rows mislead."
        )
        st.html(f"<p class='atlas-caption'>{escape(words)}</p>", width="stretch")
    show_finding(*_finding(found, position, opened.first))
    left, right = st.columns([0.7, 0.3], gap="medium")
    payload = lens_payload(found, shade, (row, position), opened.first)
    with left:
        mount(layer_head_map.SOURCE, payload, key="lens_map", on={"head": _open(found, opened.first)})
    with right, st.container(key="lens_cell"):
        _show_cell(opened, found, row, position)
    return LensView(found, shade, row, position, opened.first, payload)


def _finding(found: LensMap, position: int, first: int) -> tuple[str, str]:
    """The layer from which on the model's final token ranks first; HTML."""
    at, last = int(found.stays[position]), len(found.words) - 1
    token = f"<bdi>{escape(bare(found.words[-1][position]))}</bdi>"
    if at == last:
        said = _("“{token}” is on top at the end only").format(token=token)
    elif at == 0:
        said = _("“{token}” is on top from the embedding on").format(token=token)
    else:
        said = _("“{token}” is on top from {layer} on").format(token=token, layer=escape(found.names[at]))
    words = _("after {token} ({position}), with {share} at the end")
    share = number(float(found.probabilities[-1, position, 0]), "share")
    return said, escape(words.format(token=found.tokens[position], position=first + position, share=share))


def _row(found: LensMap) -> int:
    """The open row; an invalid one is reported and dropped."""
    last, held = len(found.words) - 1, state().row
    if held is not None and held > last:
        refuse(BlockState, "row", sentence(NoSuchPlace(what=N_("row"), value=held, count=last + 1)))
        held = None
    return last if held is None else held


def values_of(found: LensMap, shade: Shade) -> np.ndarray:
    """The quantity that colours the cells."""
    return {"probability": found.probabilities[..., 0], "entropy": found.entropy, "kl": found.kl}[shade]


def lens_payload(found: LensMap, shade: Shade, open_cell: tuple[int, int], first: int = 0) -> bytes:
    """The map's payload; its last row names the layer from which on the model's final token ranks first."""
    values = values_of(found, shade)
    strip = np.full((1, len(found.tokens)), np.nan)
    return layer_head_map.LayerHeadMapPicture(
        np.concatenate([values, strip]),
        title=_(SHADES[shade]),
        scale="sequential",
        low=0.0,
        # the embedding’s KL would dominate the scale
        high=1.0 if shade == "probability" else float(values[1:].max(initial=0.0)),
        number="percent" if shade == "probability" else "plain",
        open=open_cell,
        texts=translated(MAP_TEXTS),
        row_labels=[*row_labels(found), _("first on top at layer")],
        column_labels=found.tokens,
        first_column=first,
        words=[*found.words, [found.names[row] for row in found.first]],
        max_height=MAP_HEIGHT,
        shows="lens_cell",
    ).packed()


def row_labels(found: LensMap) -> list[str]:
    """Row labels: the stream before the first layer, after each layer, and the model's output."""
    layers = found.names[1:]
    after = [_("after {layer}").format(layer=layer) for layer in layers]
    return [_("embedding"), *after[:-1], _("model ({layer})").format(layer=layers[-1])]


def _open(found: LensMap, read: int) -> Callable[[list[int] | None], None]:
    """A click opens a row and its token, after ``read`` (for another text); in the last row, the row that the cell
    names.
    """

    def answer(cell: list[int] | None) -> None:
        if cell is None:
            return
        row, position = int(cell[0]), int(cell[1])
        row = int(found.first[position]) if row == len(found.words) else row
        change(BlockState, row=None if row == len(found.words) - 1 else row)
        session.move(query=read + position, key=None)

    return answer


def _show_cell(opened: PageContext, found: LensMap, row: int, position: int) -> None:
    """Show the lens's prediction in the cell, and how it develops over the layers."""
    chances = found.probabilities[row, position]
    show_html(
        next_token_bars(
            [opened.runner.token_text(int(token)) for token in found.ids[row, position]],
            chances.tolist(),
            rest=max(0.0, 1.0 - float(chances.sum())),
            heading=row_labels(found)[row],
            beside=f"{found.tokens[position]} ({opened.first + position})",
            texts=translated(TEXTS),
        ),
        key="lens_next",
    )
    words = _("The model’s own choice here, {token}, has {share} in this row: place {rank}.")
    said = words.format(
        token=found.words[-1][position],
        share=number(float(found.final[row, position]), "share"),
        rank=int(found.rank[row, position]) + 1,
    )
    st.html(f"<p class='atlas-caption'>{escape(said)}</p>")
    chart = lens_chart(found, position)
    show_chart(chart, key="lens_chart", alt=chart.y_title, still=True)


def lens_chart(found: LensMap, position: int) -> Lines:
    """Entropy and KL divergence at one token, by layer."""
    rows = list(range(len(found.words)))
    return Lines(
        series=[
            Line(_("entropy"), rows, found.entropy[:, position].tolist(), points=True),
            Line(_("KL"), rows, found.kl[:, position].tolist(), points=True, dash="dash"),
        ],
        x_title=_("layers gone through"),
        y_title=_("bits"),
        height=230,
    )
