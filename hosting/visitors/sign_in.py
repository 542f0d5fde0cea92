"""Sign-in for teachers through the school's OpenID Connect provider; everybody else is a guest."""

from __future__ import annotations

import streamlit as st

from hosting import settings
from hosting.drain import DRAIN
from hosting.teachers import may_teach as may
from ui.state.kept_click import button
from ui.wording.i18n import _, language
from viz.markdown import plain

TOLD = "restart_told"  # of this session
LOOK = 10.0  # seconds between checks, on a teacher's page, whether the server is about to restart


def may_teach() -> bool:
    """Return True if this session's user may open a room: always in single-user mode, otherwise only a teacher."""
    return may(settings.current(), st.user.to_dict())


def show_foot(*, inside: bool = True) -> None:
    """Show the end of a hosted app's sidebar: the privacy link and the sign-in for teachers.

    Admitted visitors (``inside``) are told there, and once above the page, that the server is about to restart.
    """
    hosted = settings.current()
    if hosted is None:
        return
    with st.sidebar, st.container(key="visitors_foot", horizontal=True, vertical_alignment="center", gap="small"):
        words, where = _("Privacy"), f"privacy?lang={language()}"
        st.html(f"<a class='atlas-caption' href='{where}' target='_blank'>{words}</a>", width="content")
        if inside:
            _say_restart_without_a_click() if may_teach() else _say_restart()
        if not hosted.sign_in.metadata:
            return
        if not st.user.get("is_logged_in"):
            button(_("For teachers: sign in"), key="sign_in", type="tertiary", on_click=st.login)
            return
        name = plain(str(st.user.get("name") or st.user.get("email") or ""))
        words = _("{name} teaches") if may_teach() else _("{name}, who is not on this server’s list of teachers")
        st.caption(words.format(name=name))
        button(_("sign out"), key="sign_out", type="tertiary", on_click=st.logout)


def _say_restart() -> None:
    if not DRAIN.begun:
        st.session_state.pop(TOLD, None)  # that restart was cancelled; the next one is announced again
        return
    words = _("This server restarts within {minutes} min. Save what you still need.").format(minutes=DRAIN.minutes_left)
    st.caption(words)
    if not st.session_state.get(TOLD):
        st.session_state[TOLD] = True
        st.toast(words, duration="long")


@st.fragment(run_every=LOOK)
def _say_restart_without_a_click() -> None:
    """Announce the restart on an idle page too, for a teacher who explains or waits for answers."""
    _say_restart()
