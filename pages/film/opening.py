"""From the opened page to its film: made anew for another text, settled on the settings, or a sentence why not."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from jobs.film import Film
from model_runner import Capture, RunnerError
from model_runner.errors import Cancelled
from pages.film.state import forced, state
from ui import session
from ui.i18n import _
from ui.page import PageContext, show_stage
from ui.sampling_settings import current
from ui.wording import plain, sentence


def open_film(opened: PageContext) -> tuple[PageContext, Film]:
    """The session's film of this text, and the page's material with the film's capture: prompt and generated tokens.

    On a failure its sentence is shown and the page ends here.
    """
    try:
        film = _settled(opened)
        film.start(_say)
        capture = film.capture(_say)
        session.jobs().weigh("film", session.kept())
    except Cancelled:
        st.stop()
    except RunnerError as error:
        session.slots()["status"].empty()
        st.warning(plain(sentence(error)))
        st.stop()
    session.slots()["status"].empty()
    return replace(opened, capture=capture), film


def _settled(opened: PageContext) -> Film:
    prompt = _prompt_of(opened)
    sampling, held = current(), state()
    new: list[Film] = []

    def make(name: str) -> Film:
        new.append(Film(opened.runner, prompt, sampling, name=name, limit=held.length))
        return new[0]

    asked = opened.runner.info.name, session.text(), session.chat(), session.carried()
    film = session.jobs().get("film", asked, make)
    film.keep_to(held.length)
    film.base = 0  # the whole page runs: the picture may be a new one
    if film.runner is not opened.runner:
        film.go_on_with(opened.runner, prompt)
    if new:
        film.goal = held.steps
        film.searching = int(held.beams)
        film.go(sampling, forced(len(prompt.logits(-1))), at=held.at)
    else:
        film.change(sampling)
    return film


def _prompt_of(opened: PageContext) -> Capture:
    """The text alone: the generated tokens that other pages show are here the film's to make. Raises RunnerError."""
    if not opened.capture.request.continuation:
        return opened.capture
    try:
        return session.capture(opened.runner, show_stage, opened.capture.request.edits, continued=False)
    finally:
        session.slots()["status"].empty()


def _say() -> None:
    session.slots()["status"].caption(_("Reading the text …"))
