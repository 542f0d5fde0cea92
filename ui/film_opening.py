"""From the opened page to its film: made anew for another text, settled on the settings, or a sentence why not."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from model_runner import RunnerError
from model_runner.errors import Cancelled
from ui import session
from ui.film import Film
from ui.film_controls import forced, goal, length
from ui.i18n import _
from ui.page import ADDRESS_PARTS, Opened, prompt_of
from ui.sampling_settings import current
from ui.wording import plain, sentence


def open_film(opened: Opened) -> tuple[Opened, Film]:
    """The session's film of this text, and the page's material with the film's capture: prompt and generated tokens.

    On a failure its sentence is shown and the page ends here.
    """
    try:
        film = _settled(opened)
        film.start(_say)
        capture = film.capture(_say)
    except Cancelled:
        st.stop()
    except RunnerError as error:
        session.slots()["status"].empty()
        st.warning(plain(sentence(error)))
        st.stop()
    session.slots()["status"].empty()
    return replace(opened, capture=capture), film


def _settled(opened: Opened) -> Film:
    prompt = prompt_of(opened)  # the generated tokens that other pages show are here the film's to make
    new: list[Film] = []

    def make(name: str) -> Film:
        new.append(Film(opened.runner, prompt, current(), name=name, limit=length()))
        return new[0]

    film = session.film((opened.runner.info.name, session.text(), session.chat(), session.carried()), make)
    film.limit = length()
    film.base = 0  # the whole page runs: the picture may be a new one
    if film.runner is not opened.runner:
        film.go_on_with(opened.runner, prompt)
    if new:
        film.goal = goal()
        film.go(current(), _forced(len(prompt.logits(-1))), at=film.goal if film.goal > 1 else 0)
    else:
        film.change(current())
    return film


def _say() -> None:
    session.slots()["status"].caption(_("Reading the text …"))


def _forced(n_vocab: int) -> dict[int, int]:
    try:
        return forced(n_vocab)
    except ValueError as error:
        words = _("“{value}” is not a number for {what}.").format(value=error, what=_(ADDRESS_PARTS["forced"]))
        st.info(plain(words))
        session.choose("forced", "", "")
        return {}
