"""For the projector: the room's code, large; a question, and how many answered; then the answers and the model's."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from html import escape

import streamlit as st

from classroom.frames import Refused
from classroom.poll import Bar, Poll
from classroom.qr import qr_picture
from classroom.room import Room
from pages.classroom import sidebar
from pages.classroom.links import join_link, only_here
from ui.i18n import _
from ui.progressive import show_chart
from viz.chart import Bars

N_ = str  # marks a text for Babel without translating it here

BAR, ROOM_FOR_AXIS = 34, 40  # px, of one answer and of what is below all of them


def show_code(room: Room) -> None:
    """Code, link and QR code, as large as a room needs them."""
    link = join_link(room.code)
    name, opened, typed = _("QR code of the link"), _("On your phone, open"), _("and type")
    with st.container(key="class_code"):
        with st.container(horizontal=True, vertical_alignment="center", gap="large"):
            picture = f"<img class='atlas-qr' alt='{escape(name)}' src='{qr_picture(link)}'>"
            st.html(picture, width="content")
            short = link.split("://", 1)[-1].removesuffix(f"/{room.code}")
            st.html(
                f"<p class='atlas-large'>{escape(opened)}<br><b>{escape(short)}</b></p>"
                f"<p class='atlas-large'>{escape(typed)}</p><p class='atlas-huge'>{escape(room.code)}</p>",
                width="content",
            )
        if only_here():
            st.info(_("This address is only found on this machine: phones need the one of a server on their network."))
        st.button(_("Go on to the page"), key="hide_code", type="primary", on_click=sidebar.show_code, args=(False,))


def show_poll(room: Room) -> None:
    """The question, and until the reveal nothing that tells the answer."""
    poll = room.poll
    if poll is None:
        return
    with st.container(key="class_poll"):
        st.html(f"<h2 class='atlas-question'>{escape(poll.question.words)}</h2>")
        st.html(f"<p class='atlas-quoted'>{escape(poll.question.text)}</p>")
        if poll.state == "open":
            _show_open(room, poll)
        else:
            _show_answers(room, poll)


def _show_open(room: Room, poll: Poll) -> None:
    words = _("{count} answered").format(count=f"<b class='class-answered'>{poll.answered}</b>")
    st.html(f"<p class='atlas-answered' role='status'>{words}</p>")
    if len(poll.votes) > 1:
        again = _("Second vote, after the discussion.")
        st.html(f"<p class='atlas-caption'>{again}</p>")
    with st.container(key="poll_actions", horizontal=True, gap="small"):
        st.button(_("Reveal"), key="reveal", type="primary", on_click=_quietly, args=(room.reveal,))
        if len(poll.votes) == 1:
            st.button(_("Discuss, then vote again"), key="vote_again", on_click=_quietly, args=(room.ask_again,))
        st.button(_("Drop the question"), key="drop_poll", type="tertiary", on_click=room.drop)


def _show_answers(room: Room, poll: Poll) -> None:
    """The class and the model side by side: the same answers in the same order."""
    bars = poll.bars()
    names = [_("The class")] if len(poll.votes) == 1 else [_("First vote"), _("Second vote")]
    columns = st.columns(len(names) + 1, gap="medium")
    for vote, (name, column) in enumerate(zip(names, columns)):
        with column:
            _show_bars(f"poll_vote_{vote}", name, _surprise(poll, vote), bars, _counted(bars, vote), 0)
    with columns[-1]:
        values = [(bar.probability, _of_model(poll, bar)) for bar in bars]
        _show_bars("poll_model", _("The model"), poll.question.told, bars, values, 1)
    with st.container(key="poll_actions", horizontal=True, gap="small"):
        st.button(_("Back to the page"), key="drop_poll", type="primary", on_click=room.drop)
        sidebar.show_results(room, "results")


def _show_bars(key: str, name: str, about: str, bars: list[Bar], values: list[tuple[float, str]], color: int) -> None:
    heading = f"{name} · {about}"
    st.html(f"<h3 class='atlas-heading'>{escape(name)}<span>{escape(about)}</span></h3>")
    chart = Bars(
        labels=[bar.label for bar in bars],
        values=[value for value, _words in values],
        words=[words for _value, words in values],
        colors=[color] * len(bars),
        height=BAR * len(bars) + ROOM_FOR_AXIS,
        heading=heading,
    )
    show_chart(chart, key=key, alt=heading, still=True)


def _counted(bars: list[Bar], vote: int) -> list[tuple[float, str]]:
    whole = sum(bar.counts[vote] for bar in bars) or 1
    return [(bar.counts[vote] / whole, f"{bar.counts[vote]} · {bar.counts[vote] / whole:.0%}") for bar in bars]


def _of_model(poll: Poll, bar: Bar) -> str:
    if poll.question.kind == "ablate":
        return _("so it is") if bar.probability else ""
    bits = "∞" if math.isinf(bar.bits) else f"{bar.bits:.1f}"
    return _("{share} · {bits} bits").format(share=f"{bar.probability:.1%}", bits=bits)


def _surprise(poll: Poll, vote: int) -> str:
    """What the model makes of the class: the mean surprise of the answers; of an ablation, how many were right."""
    answers = len(poll.votes[vote])
    mean = poll.surprise(vote)
    if mean is None:
        return _("no answers")
    if poll.question.kind == "ablate":
        right = sum(poll.question.probability(answer) > 0 for answer, _name in poll.votes[vote].values())
        return _("{right} of {count} right").format(right=right, count=answers)
    bits = "∞" if math.isinf(mean) else f"{mean:.2f}"
    return _("answers: {count} · surprise: {bits} bits").format(count=answers, bits=bits)


def _quietly(do: Callable[[], None]) -> None:
    """A second click on what is done already changes nothing."""
    with suppress(Refused):
        do()
