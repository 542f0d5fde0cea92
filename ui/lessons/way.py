"""From step to step: the page of a step is opened as by its address, and stays the reader's own in the rest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from lessons.step import LessonStep
from ui.lessons.state import LessonState, Opened, opened
from ui.shell.components import leave_for
from ui.shell.frame import Entry
from ui.state import session, text_in_url, url_state
from ui.state.inputs import set_value
from ui.state.kept_click import button
from ui.state.page_state import change
from ui.wording.i18n import KEY as LANGUAGE
from ui.wording.i18n import languages, settle_language

KEPT = (LANGUAGE, "room", "device", "dtype")  # parts that are the reader's, whatever a step says


def show_way(
    label: str, key: str, entries: Sequence[Entry], here: Entry, to: Opened, *, disabled: bool = False
) -> None:
    """What is pressed to go to a step. To another page it is a link: one step of Back (Streamlit 1.67)."""
    parts = _parts_of(to)
    with st.container(key=key, width="content"):
        if to.step.page == here.address or disabled:
            button(label, key=f"{key}_here", type="tertiary", on_click=_go, args=(parts,), disabled=disabled)
        else:
            st.page_link(
                next(one.path for one in entries if one.address == to.step.page), label=label, query_params=parts
            )


def _parts_of(to: Opened) -> dict[str, str]:
    return _as_written({**dict(to.step.parts), **own_parts(), **to.parts})


def _as_written(parts: dict[str, str]) -> dict[str, str]:
    """As the page will write them itself: what it leaves out would be one step of Back more."""
    usual = parts.get(text_in_url.PLAIN) == url_state.DEFAULT_TEXT and "model" not in parts
    if usual and text_in_url.parts_of(session.text()):  # a text that no address holds stays where none is named
        return {name: value for name, value in parts.items() if name != text_in_url.PLAIN}
    return parts


def _go(parts: Mapping[str, str]) -> None:
    """In a callback: the run that follows shows the open page with these parts."""
    session.go_to(parts)
    set_value("text_box", session.text())  # over what was typed and not yet asked for


def translated(entries: Sequence[Entry], here: Entry, code: str) -> None:
    """In a callback: change the language; who looks at a step's picture has that of the new words."""
    before = opened(entries)
    stood = before is not None and shown(here, before.step)
    url_state.choose(LANGUAGE, code, next(iter(languages())))  # the browser's own is not worth a place in the address
    settle_language()
    after = opened(entries)
    if before is None or after is None or not stood or after.step.parts == before.step.parts:
        return
    _go(_parts_of(after))
    if after.step.page != here.address:
        leave_for(next(one.path for one in entries if one.address == after.step.page))


def close() -> None:
    """No lesson; the page stays."""
    change(LessonState, lesson="", step=1)


def own_parts() -> dict[str, str]:
    """What of the address is the reader's own."""
    return {name: value for name in KEPT if (value := url_state.written(name)) is not None}


def shown(here: Entry, step: LessonStep) -> bool:
    """Whether the page shows what the step opened: nobody has turned to something else since."""
    held = {text_in_url.PLAIN: session.text(), **url_state.parts()}
    return step.page == here.address and all(held.get(name) == value for name, value in step.parts)
