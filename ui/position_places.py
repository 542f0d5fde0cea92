"""Where the page Positions looks: its head, the text to click on, and the places its sliders begin at."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import streamlit as st

from ui import cached, session
from ui.components import mount
from ui.head_names import head_name
from ui.i18n import _
from ui.inputs import holding
from ui.page import Opened, translated
from ui.wording import number, plain
from viz.components.token_strip import token_strip

SLIDERS = ("at", "m", "n")  # their places in the address


def show_head(opened: Opened) -> None:
    """Layer and head; a layer without weights is not offered."""
    capture = opened.capture
    layers = [layer for layer in range(capture.n_layers) if capture.has_weights(layer)]
    heads = range(len(capture.q(opened.layer)))
    _choose_place(_("Layer"), "layer", opened.layer, {layer: f"L{layer}" for layer in layers})
    _choose_place(_("Head"), "head", opened.head, {head: head_name(capture, opened.layer, head) for head in heads})


def _choose_place(label: str, name: str, value: int, names: dict[int, str]) -> None:
    key = holding(f"positions_{name}", value)
    st.selectbox(
        label,
        list(names),
        list(names).index(value),
        key=key,
        format_func=names.__getitem__,
        on_change=lambda: session.move(**{name: int(st.session_state[key])}),
        label_visibility="collapsed",
        width=84 if max(map(len, names.values())) < 6 else 116,
    )


def show_row_strip(opened: Opened, query: int, key: int, *, sets: str) -> None:
    """The text coloured by the query's weights; a click sets the query or the key, and the sliders go back to them."""
    units = cached.chips(opened.capture)
    row = opened.capture.weights(opened.layer, opened.head, queries=slice(query, query + 1))[0].cpu().numpy()
    weights = np.array([row[unit.tokens].sum() for unit in units], dtype=np.float32)
    payload = token_strip.payload(
        labels=[unit.label for unit in units],
        positions=[unit.start for unit in units],
        counts=[unit.stop - unit.start for unit in units],
        parts=[unit.parts for unit in units],
        special=[unit.special for unit in units],
        metric=weights,
        values=[number(float(weight), "share") for weight in weights],
        selected=query,
        looked_at=key,
        texts=translated(token_strip.TEXTS),
    )

    def choose(token: int | None) -> None:
        if sets == "key" and token is not None:
            look_at_key(token)
        else:
            session.move(query=-1 if token is None else token, key=None)
            _forget_sliders()

    mount(token_strip.SOURCE, payload, key="token_strip", on={"token": choose})


def look_at_key(token: int) -> None:
    """Pin another key; the sliders go back to the tokens' own positions."""
    session.move(key=token)
    _forget_sliders()


def _forget_sliders() -> None:
    for name in SLIDERS:
        session.choose(name, "", "")


def slider_place(name: str, default: int, count: int) -> int:
    """Where the address puts a slider of ``count`` positions; what is none of them is said and replaced."""
    given = session.written(name)
    if given is None:
        return default
    if not given.isdecimal():
        problem = _("“{value}” is not a number for {what}.").format(value=given, what=_("position"))
    elif int(given) >= count:
        problem = _("Position {value} is beyond the slider, which ends at {end}.").format(value=given, end=count - 1)
    else:
        return int(given)
    session.choose(name, "", "")
    st.info(plain(problem))
    return default


def remember(name: str, default: int) -> Callable[[int], None]:
    """What keeps a slider's place in the address; the token's own position is not worth one."""
    return lambda place: session.choose(name, str(place), str(default))
