"""Record the current page as a lesson step: a file to download into a lesson folder. The server writes nothing."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape

import streamlit as st

from lessons.step import LONGEST, QUESTIONS, Broken, LessonStep, read, written
from ui.lessons.card import ASKED
from ui.lessons.state import LessonState, pages_of
from ui.lessons.way import KEPT
from ui.shell.frame import Entry
from ui.state import url_state
from ui.state.page_state import address_of, fields
from ui.wording.i18n import _
from viz.markdown import plain


def show_record(entries: Sequence[Entry], here: Entry) -> None:
    """Show the form for the step's title, words and question in the teacher's menu; once filled in, its file."""
    with st.container(key="record_menu", width="content"):
        menu = st.popover(_("Record a step"), type="tertiary", on_change="rerun", key="record_step_menu")
    if not menu.open:
        return
    with menu:
        _show_form(entries, here)


def _show_form(entries: Sequence[Entry], here: Entry) -> None:
    words = _("A file with the link of this page and your words.")
    st.html(f"<p class='atlas-caption'>{escape(words)}</p>")
    above = st.container(key="record_given")  # below the form it would be out of view
    with st.form("record_step", border=False, enter_to_submit=False):
        title = st.text_input(_("Title"), key="record_title", max_chars=200)
        words = st.text_area(_("Words, in Markdown"), key="record_words", max_chars=LONGEST // 2, height=120)
        questions = {"": _("no question"), **{name: _(ASKED[name]) for name in QUESTIONS}}
        asked = st.selectbox(_("Question"), list(questions), format_func=questions.__getitem__, key="record_question")
        given = st.form_submit_button(_("Record a step"))
    if given:
        with above:
            _show_given(entries, here, title, words, asked)


def _show_given(entries: Sequence[Entry], here: Entry, title: str, words: str, asked: str) -> None:
    """Show the step's file, or why it cannot be made."""
    if not (title.strip() and words.strip()):
        st.warning(_("A step has a title and words."))
        return
    name = (re.sub(r"[\W_]+", "-", title.lower()).strip("-") or "step") + ".md"
    text = written(LessonStep(title, here.address, _parts(), words, asked))
    try:
        read(text, pages_of(entries))
    except Broken as error:
        reason = _(error.reason).format(file=name, **error.values)
        st.warning(plain(_("This is not a lesson yet: {reason}.").format(reason=reason)))
        return
    label = _("Save {file}").format(file=plain(name))
    st.download_button(label, text, name, "text/markdown", key="record_save", on_click="ignore")


def _parts() -> tuple[tuple[str, str], ...]:
    """The URL parameters of the page, without the reader's own settings."""
    own = {*KEPT, *(address_of(LessonState, name) for name in fields(LessonState))}
    return tuple((name, value) for name, value in url_state.parts().items() if name not in own)
