"""The projector view of a room: its code in large type, a question with the count of answers, then the reveal."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from html import escape

import streamlit as st

from classroom.frames import Refused
from classroom.poll import Poll
from classroom.qr import qr_picture
from classroom.room import Room
from ui.classroom import ending, sidebar
from ui.classroom.columns import Column, columns_of
from ui.classroom.lesson_step import ShowMap, StepInRoom
from ui.classroom.links import join_link, only_here
from ui.shell.progressive import show_chart
from ui.state import session
from ui.state.kept_click import button
from ui.state.run_context import run_context
from ui.wording.i18n import _
from viz.chart import Bars, on_one_scale

N_ = str  # marks a text for Babel without translating it here

BAR = 30  # px per answer: nine bars and the buttons below fit on a projector


def show_code(room: Room) -> None:
    """Show the code, the link and the QR code, large enough for a room."""
    link = join_link(room.code)
    name, opened, typed = _("QR code of the link"), _("On your phone, open"), _("and type")
    with st.container(key="class_code"):
        with st.container(horizontal=True, vertical_alignment="center", gap="large"):
            picture = f"<img class='atlas-qr' alt='{escape(name)}' src='{qr_picture(link)}'>"
            st.html(picture, width="content")
            short = link.split("://", 1)[-1].removesuffix(f"/{room.code}")
            st.html(
                f"<p class='atlas-large'>{escape(opened)}<br><b><bdi>{escape(short)}</bdi></b></p>"
                f"<p class='atlas-large'>{escape(typed)}</p><p class='atlas-huge'>{escape(room.code)}</p>",
                width="content",
            )
        if only_here():
            st.info(_("This address is only found on this machine: phones need the one of a server on their network."))
        button(_("Go on to the page"), key="hide_code", type="primary", on_click=sidebar.show_code, args=(False,))


def show_first(on: Callable[[], None]) -> None:
    """Offer the questions to ask before a page that may show the answer; ``on`` continues without one."""
    with st.container(key="class_first"):
        words = _("Ask the class first?")
        st.html(f"<h2 class='atlas-question'>{escape(words)}</h2>")
        st.html(f"<p class='atlas-quoted'>{escape(session.text())}</p>")
        with st.container(key="first_actions", horizontal=True, gap="small"):
            for kind, question in sidebar.QUESTIONS.items():
                key = f"first_{kind}"
                button(_(question), key=key, type="primary", on_click=sidebar.ask_class, args=(kind,))
            button(_("Show the page"), key="show_page", on_click=on)


def show_poll(room: Room, step: StepInRoom | None, show_map: ShowMap | None) -> None:
    """Show the question, hiding all that gives the answer away until the reveal. A lesson's ``step`` adds its card and
    map.
    """
    poll = room.poll
    if poll is None:
        return
    if step is not None:
        run_context().lesson = step.words
        step.show_card()
    with st.container(key="class_poll"):
        st.html(f"<h2 class='atlas-question'>{escape(poll.question.words)}</h2>")
        st.html(f"<p class='atlas-quoted'>{escape(poll.question.text)}</p>")
        if poll.question.changed:
            st.html(f"<p class='atlas-caption class-changed'>{escape(poll.question.changed)}</p>")
        if poll.state == "open" and show_map is not None:
            left, right = st.columns([0.42, 0.58], gap="medium")
            with left:
                _show_open(room, poll)
            with right:
                show_map(lambda _answer: None)
        elif poll.state == "open":
            _show_open(room, poll)
        else:
            _show_answers(room, poll)


def _show_open(room: Room, poll: Poll) -> None:
    there = max(room.there, poll.answered)  # phones that answered may have left
    words = _("{count} of {there} answered").format(
        count=f"<b class='class-answered'>{poll.answered}</b>", there=f"<span class='class-there'>{there}</span>"
    )
    st.html(f"<p class='atlas-answered' role='status'>{words}</p>")
    if len(poll.votes) > 1:
        again = _("Second vote, after the discussion.")
        st.html(f"<p class='atlas-caption'>{again}</p>")
    with st.container(key="poll_actions", horizontal=True, gap="small"):
        button(_("Reveal"), key="reveal", type="primary", on_click=_quietly, args=(room.reveal,))
        if len(poll.votes) == 1:
            button(_("Discuss, then vote again"), key="vote_again", on_click=_quietly, args=(room.ask_again,))
        if not poll.step:  # a step's question is skipped on its card
            button(_("Drop the question"), key="drop_poll", type="tertiary", on_click=room.drop)


def _show_answers(room: Room, poll: Poll) -> None:
    """Show the class and the model side by side, with the same answers in the same order."""
    columns = columns_of(poll)
    charts = _bars(columns)
    for place, (column, shown) in enumerate(zip(st.columns(len(columns), gap="medium"), columns, strict=True)):
        with column:
            _show_bars("poll_model" if place == len(columns) - 1 else f"poll_vote_{place}", shown, charts[place])
    with st.container(key="poll_actions", horizontal=True, gap="small"):
        button(_("Back to the page"), key="drop_poll", type="primary", on_click=room.drop)
        ending.show_results(room, "results")


def _bars(columns: list[Column]) -> list[Bars]:
    """Return one chart per column; charts of shares use one common scale."""
    charts = [
        Bars(
            labels=shown.labels,
            values=shown.values,
            words=shown.words,
            colors=shown.colors,
            height=BAR * len(shown.labels),
            heading=f"{shown.name} · {shown.about}",
        )
        for shown in columns
    ]
    shares = iter(on_one_scale([chart for chart, shown in zip(charts, columns, strict=True) if shown.share]))
    return [next(shares) if shown.share else chart for chart, shown in zip(charts, columns, strict=True)]


def _show_bars(key: str, shown: Column, chart: Bars) -> None:
    st.html(f"<h3 class='atlas-heading'>{escape(shown.name)}<span>{escape(shown.about)}</span></h3>")
    said = "; ".join(f"{label}: {words}" if words else label for label, words in zip(shown.labels, shown.words))
    # Plotly remembers text widths measured before presentation mode enlarges the text, and would print labels over bars
    show_chart(chart, key=key, alt=f"{chart.heading}. {said}", still=False)


def _quietly(do: Callable[[], None]) -> None:
    """Ignore the error that a second click raises after the action is done."""
    with suppress(Refused):
        do()
