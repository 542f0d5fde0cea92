"""The list of lessons and tours in the sidebar of every page."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import streamlit as st

from ui.lessons.state import LessonState, Opened, shelf
from ui.lessons.way import show_way
from ui.shell.frame import Entry
from ui.state.page_state import current
from ui.wording.i18n import _
from viz.markdown import plain


def show_lessons(entries: Sequence[Entry], here: Entry) -> None:
    """Show the expandable list; ``here`` is the current page."""
    state = current(LessonState)
    with st.container(key="lessons_menu", width="content"):
        # a new key makes a new, closed expander: Streamlit (1.67) cannot close one
        key = f"lessons_{state.lesson}_{state.step}"
        menu = st.popover(_("Lessons"), type="tertiary", on_change="rerun", key=key)
    if not menu.open:
        return
    found, left_out = shelf(entries)
    with menu:
        with st.container(key="lesson_list", gap=None):
            for heading, tour in ((_("Lessons"), False), (_("Tours of a whole subject"), True)):
                group = [lesson for lesson in found if lesson.tour is tour]
                if group:
                    st.html(f"<p class='atlas-caption'>{escape(heading)}</p>")
                for lesson in group:
                    show_way(plain(lesson.title), f"lesson_{lesson.name}", entries, here, Opened(lesson, 1))
        for one in left_out:
            reason = _(one.reason).format(**one.values)
            st.warning(plain(_("The lesson “{lesson}” is left out: {reason}.").format(lesson=one.name, reason=reason)))
