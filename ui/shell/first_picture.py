"""The first picture of an example, stored in advance and painted with the frame until the engine is imported.

It is what the page Heads mounts for an example of the default model, made by ``python -m scripts.first_pictures``. A
picture made for another model or other component versions, or a store that cannot be read, is ignored; only the head
start is lost. The page drawn afterwards has the same elements under the same keys, so that each replaces its stored
version.
"""

from __future__ import annotations

import functools
import hashlib
import json
import logging
import zipfile
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import streamlit as st

from ui.shell.components import mount
from ui.shell.engine import engine_is_up
from ui.state import session, url_state
from ui.state.frame_slots import frame_slots
from ui.state.url_state import DEFAULT_MODEL
from ui.wording.i18n import KEY, _, language
from viz.components.head_grid import head_grid
from viz.components.head_map import head_map
from viz.components.model_strip import model_strip
from viz.components.source import Source
from viz.components.token_lines import token_lines
from viz.components.token_strip import token_strip

STORE = Path(__file__).with_name("first_pictures.zip")
MODEL = Path(__file__).resolve().parents[2] / "model_runner" / "default_model"
PARTS: dict[str, Source] = {
    part.SOURCE.name: part.SOURCE for part in (model_strip, token_strip, head_grid, head_map, token_lines)
}
INDEX = "index.json"
OPENED = {"layer", "head", KEY}  # URL parameters that are allowed beside an example's text


@dataclass(frozen=True)
class FirstPicture:
    """``layer`` and ``head`` are the selection; ``html`` has the texts and ``parts`` the payloads, by name."""

    layer: int
    head: int
    html: Mapping[str, str]
    parts: Mapping[str, bytes]


@functools.cache
def made_for() -> str:
    """Return a fingerprint of the model and the components that a store must match."""
    digest = hashlib.blake2b(digest_size=16)
    for name in ("config.json", "tokenizer.json", "model.safetensors"):
        digest.update((MODEL / name).read_bytes())
    for source in PARTS.values():
        digest.update(source.js.encode() + source.css.encode() + source.html.encode())
    return digest.hexdigest()


def stored(text: str, lang: str) -> FirstPicture | None:
    """Return the stored picture of this text and language, or None if there is none for this model and these
    components.
    """
    try:
        with zipfile.ZipFile(STORE) as archive:
            index = json.loads(archive.read(INDEX))
            found = index["pictures"].get(f"{lang} {text}")
            if found is None or index["made_for"] != made_for():
                return None
            parts = {name: archive.read(f"{found['folder']}/{name}") for name in PARTS}
            return FirstPicture(found["layer"], found["head"], found["html"], parts)
    except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
        logging.getLogger(__name__).warning("The stored first pictures cannot be read: %s", error)
        return None


def show_first_picture(page: str) -> bool:
    """Draw the stored picture for the session's selection on this page (its URL). Returns True if there was one."""
    if engine_is_up() or page or session.model() != DEFAULT_MODEL:
        return False
    asked = url_state.held()
    picture = stored(session.text(), language()) if asked.keys() <= OPENED else None
    place = {} if picture is None else {"layer": str(picture.layer), "head": str(picture.head)}
    if picture is None or any(asked.get(name, value) != value for name, value in place.items()):
        return False
    _draw(picture)
    return True


def _draw(picture: FirstPicture) -> None:
    """Draw the picture as pages/heads/page.py does: the same containers in the same order."""
    words = _("stored with the model · checking")
    frame_slots().badge.html(f"<span class='atlas-badge stored'>{words}</span>")
    frame_slots().status.empty()
    with frame_slots().strip:
        _mount("model_strip", picture, head=_open)
    st.html("<div class='atlas-room-for-menus'></div>")
    strip = st.container()
    with st.container(key="heads_columns"):
        left, middle, right = st.columns([0.33, 0.42, 0.25], gap="medium")
    with middle:
        st.html(picture.html["heading"])
        with st.container(key="first_habit", gap=None):
            st.html(picture.html["habit"] or "<p></p>")
        st.html("<div class='atlas-room-for-map-controls'></div>")
        _mount("head_map", picture, cell=_pin)
        st.html(picture.html["caption"])
    with right:
        st.html("<div class='atlas-room-for-controls'></div>")
        _mount("token_lines", picture, cell=_pin, query=lambda query: _pin([query, None]))
    with strip:
        _mount("token_strip", picture, token=lambda token: _pin([token, None]), key=lambda key: session.move(key=key))
    with left:
        st.html("<div class='atlas-room-for-grid-controls'></div>")
        _mount("head_grid", picture, head=_open)
        st.html(picture.html["next"])


def _mount(name: str, picture: FirstPicture, **on: Callable[[Any], None]) -> None:
    """Mount a component without handlers; other events, such as zooming, wait for the page itself."""
    mount(PARTS[name], picture.parts[name], key=name, on=defaultdict(lambda: lambda _value: None, on))


def _pin(cell: list[int | None] | None) -> None:
    query, key = cell if cell is not None else (None, None)
    session.move(query=query, key=key)


def _open(place: list[int] | None) -> None:
    if place is not None:
        session.move(layer=int(place[0]), head=int(place[1]))
