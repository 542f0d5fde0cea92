"""Create the session's film for the open page, or restore it from the URL, and write its state to the URL."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st
from streamlit.delta_generator import DeltaGenerator
from streamlit.runtime.scriptrunner import StopException

from analysis.joined import as_square
from jobs.branches import BranchKey
from jobs.generation_tree import GenerationTree
from model_runner import Capture, RunnerError
from model_runner.errors import CannotContinue, NoLogits
from pages.film.state import FilmState, forced, newest, state
from pages.film.ways import with_others, written
from ui.shared.sampling_settings import SamplingA, current, values_of
from ui.shell.page import PageContext, show_stage
from ui.state import session, url_state
from ui.state.frame_slots import frame_slots
from ui.state.page_state import keep
from ui.state.session_sound import own_sound
from ui.wording.i18n import _
from ui.wording.sentences import sentence
from viz.markdown import plain

_ABOUT = "film_about"  # the text, model and sound of the film


def open_film(opened: PageContext, controls: DeltaGenerator) -> tuple[PageContext, GenerationTree]:
    """Return the session's film of this text, and the page's context with the film's capture: prompt and generated
    tokens.

    On failure, show the error and stop the page, without ``controls`` if the model generates no text.
    """
    try:
        film = _settled(opened)
        film.start(_say)
        capture = film.capture(_say)
        session.jobs().weigh("film", session.kept())
    except RunnerError as error:
        frame_slots().status.empty()
        url_state.write()
        if isinstance(error, CannotContinue | NoLogits):
            controls.empty()
        st.warning(plain(sentence(error)))
        raise StopException from None
    frame_slots().status.empty()
    return replace(opened, capture=capture), film


def _settled(opened: PageContext) -> GenerationTree:
    prompt = _prompt_of(opened)
    sampling, held = current(), state()
    new: list[GenerationTree] = []

    def make(name: str) -> GenerationTree:
        new.append(GenerationTree(opened.runner, prompt, sampling, name=name, limit=held.length))
        return new[0]

    beside = session.model_options()
    about = session.text(), session.model(), own_sound()
    asked = *about, beside.adapter, beside.chat, session.edits_on_all_pages(), beside.attention, beside.target
    asked = *asked, beside.source_language, beside.target_language
    film = session.jobs().get("film", asked, make)
    longer = film.limit != held.length
    film.keep_to(held.length)
    film.base, film.playing = 0, False  # the whole page runs: the picture may be new
    if film.runner is not opened.runner:
        film.go_on_with(opened.runner, prompt)
    other = st.session_state.get(_ABOUT, about) != about
    st.session_state[_ABOUT] = about
    gone_to = session.OPENED_TEXT.take()
    if new and other and gone_to != session.text():  # the URL's parameters are of another text
        keep(FilmState, forced=(), steps=1, frame=None, beams="0", beam=False, ways="")
    if new or session.is_history_navigation():
        _open_ways(film, len(prompt.logits(-1)))
    else:
        film.change(sampling)
    beams = int(state().beams)
    if beams != film.width or longer:  # a beam's length depends on the film's
        film.beams, film.width, film.searching = [], 0, beams
    return film


def _open_ways(film: GenerationTree, n_vocab: int) -> None:
    held = state()
    way = BranchKey(current(), forced(n_vocab), "beam" if held.beam else "forced", held.steps)
    film.open(*with_others(way, n_vocab), at=held.at)


def remember(film: GenerationTree) -> None:
    """Write what determines the film to the URL: the open branch and its length, the open frame, and the other
    branches.
    """
    ways, index = film.ways()
    way = ways[index]
    keep(SamplingA, **values_of(way.sampling))
    frame = None if film.at == newest(way.steps) else film.at
    beam = bool(way.forced) and way.how == "beam"
    keep(FilmState, forced=way.forced, steps=way.steps, frame=frame, beam=beam, ways=written(ways, index))
    url_state.write()


def _prompt_of(opened: PageContext) -> Capture:
    """The text alone, since the film makes the generated tokens that other pages append. Raises RunnerError.

    For an encoder-decoder, the source with only the typed part of the target.
    """
    asked = opened.capture.request
    if opened.capture.attentions:
        return as_square(opened.runner.capture(replace(asked, target=asked.target or "", continuation=())))
    if not opened.capture.request.continuation:
        return opened.capture
    try:
        return session.capture(opened.runner, show_stage, opened.capture.request.edits, continued=False)
    finally:
        frame_slots().status.empty()


def _say() -> None:
    frame_slots().status.caption(_("Reading the text …"))
