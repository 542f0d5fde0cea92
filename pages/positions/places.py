"""The selection of the page Positions: its head, and the text to click on."""

from __future__ import annotations

from typing import Literal

import numpy as np

from analysis.joined import side_of
from pages.positions.state import sliders_back
from ui.shared import cached
from ui.shell.components import mount
from ui.shell.page import PageContext, translated
from ui.state import session
from ui.wording.sentences import number
from viz.components.token_strip import token_strip
from viz.token_text import lone_spaces


def show_row_strip(opened: PageContext, query: int, key: int | None, *, sets: Literal["query", "key"]) -> None:
    """Show the text tinted by the query's weights; a click sets the query or the key and resets the sliders.

    ``key`` is None if the view is of the query's token only.
    """
    units = cached.chips(opened.capture)
    capture, place = opened.capture, (opened.layer, opened.head)
    row = capture.weights(*place, queries=slice(query, query + 1), shares=True)[0].cpu().numpy()
    weights = np.array([row[unit.tokens].sum() for unit in units], dtype=np.float32)
    texts = translated(token_strip.TEXTS)
    token = opened.capture.tokens[query].text
    shade = {"shade": texts["row"].format(token=token, layer=opened.layer, head=opened.head)}
    payload = token_strip.TokenStripPicture(
        labels=[lone_spaces(unit.label) for unit in units],
        positions=[unit.start for unit in units],
        counts=[unit.stop - unit.start for unit in units],
        parts=[unit.parts for unit in units],
        special=[unit.special for unit in units],
        metric=weights,
        values=[number(float(weight), "share") for weight in weights],
        selected=query,
        looked_at=key,
        sets=sets,
        texts=texts | shade,
    ).packed()

    def choose(token: int | None) -> None:
        chosen = side_of(opened.capture, token, sets)
        if chosen.keys() == {"key"} and token is not None:
            look_at_key(token)
        else:
            session.move(query=-1 if token is None else token, key=None)
            sliders_back()

    mount(token_strip.SOURCE, payload, key="token_strip", on={"token": choose})


def titled(opened: PageContext, view: str) -> str:
    """A title, such as: L3H2 · rotation."""
    return f"L{opened.layer}H{opened.head} · {view}"


def look_at_key(token: int) -> None:
    """Pin another key, and reset the sliders to the tokens' own positions."""
    session.move(key=token)
    sliders_back()
