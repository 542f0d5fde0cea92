"""Navigation between steps: a step's URL is opened, except for parameters that are the reader's own."""

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

KEPT = (LANGUAGE, "room", "device", "dtype")  # parameters that stay the reader's, whatever a step says


def show_way(
    label: str, key: str, entries: Sequence[Entry], here: Entry, to: Opened, *, disabled: bool = False
) -> None:
    """Show the button to a step; a link if its page is another, so that one Back returns (Streamlit 1.67)."""
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
    """Normalize the parameters as the page would write them; a default left in would cost an extra step of Back."""
    usual = parts.get(text_in_url.PLAIN) == url_state.DEFAULT_TEXT and "model" not in parts
    if usual and text_in_url.parts_of(session.text()):  # a text too long for the URL stays if the step names none
        return {name: value for name, value in parts.items() if name != text_in_url.PLAIN}
    return parts


def _go(parts: Mapping[str, str]) -> None:
    """Callback: the next run shows the current page with these parameters."""
    session.go_to(parts)
    set_value("text_box", session.text())  # replace text that was typed but not submitted


def translated(entries: Sequence[Entry], here: Entry, code: str) -> None:
    """Callback: change the language, and show a step's page in the new language if the learner is still on it."""
    before = opened(entries)
    stood = before is not None and shown(here, before.step)
    url_state.choose(LANGUAGE, code, next(iter(languages())))  # the browser's own language needs no URL parameter
    settle_language()
    after = opened(entries)
    if before is None or after is None or not stood or after.step.parts == before.step.parts:
        return
    _go(_parts_of(after))
    if after.step.page != here.address:
        leave_for(next(one.path for one in entries if one.address == after.step.page))


def close() -> None:
    """Close the lesson; the page stays."""
    change(LessonState, lesson="", step=1)


def own_parts() -> dict[str, str]:
    """The URL parameters that are the reader's own."""
    return {name: value for name in KEPT if (value := url_state.written(name)) is not None}


def shown(here: Entry, step: LessonStep) -> bool:
    """Return True if the page still shows what the step opened."""
    held = {text_in_url.PLAIN: session.text(), **url_state.parts()}
    return step.page == here.address and all(held.get(name) == value for name, value in step.parts)
