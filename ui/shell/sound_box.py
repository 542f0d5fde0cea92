"""In the sidebar, in the place of the text: the sound that a model listens to, and the way to another."""

from __future__ import annotations

import streamlit as st

from hosting import settings
from ui.state import session
from ui.state.kept_click import button
from ui.state.page_state import change
from ui.state.selection import ModelOptions
from ui.state.session_sound import SOUND, own_sound, sound
from ui.wording.i18n import _
from ui.wording.sentences import sentence
from viz.markdown import plain

FILE, PROBLEM, GIVEN = "sound_file", "sound_problem", "sounds_given"
MEGABYTES = 64  # as many as wav.py reads


def show_sound() -> None:
    """What is heard, to be played; a file can be given where the app is its user's own."""
    own, heard = own_sound(), sound()
    with st.container(key="sound_box", gap="small"):
        said = _("A tone of {seconds} s that rises from 220 to 880 Hz, made here.") if own is None else _(
            "Your sound of {seconds} s, at {rate} samples a second."
        )  # fmt: skip
        st.html(f"<p class='atlas-caption'>{said.format(seconds=f'{heard.seconds:.2f}', rate=f'{heard.rate:,}')}</p>")
        st.audio(heard.samples().numpy(), sample_rate=heard.rate)
        if settings.current():
            words = _("This server does not accept sounds from visitors.")
            st.html(f"<p class='atlas-caption'>{words}</p>")
            return
        words = _("Choose a file")  # where Streamlit (1.67) has English ones, which frame.css hides
        st.html(f"<style>.st-key-sound_box {{ --atlas-choose: '{words}' }}</style>")
        label = _("A WAV file, up to 30 seconds")
        st.file_uploader(label, "wav", key=_key(), max_upload_size=MEGABYTES, on_change=_take)
        if problem := st.session_state.get(PROBLEM):
            st.warning(plain(sentence(problem)))
        if own is not None:
            words = _("A link cannot hold a sound: a copied link or a reloaded page has the tone.")
            st.html(f"<p class='atlas-caption'>{words}</p>")
            button(_("the tone instead"), key="tone_instead", type="tertiary", on_click=_back_to_the_tone)


def _key() -> str:
    """Of the box of files; of one that is empty again there is another key (Streamlit 1.67 has no way to empty it)."""
    return f"{FILE}_{st.session_state.get(GIVEN, 0)}"


def _take() -> None:
    """The file that was given; one that cannot be read is told, and what was heard before stays.

    So it does where a file is taken away: a browser does that (Streamlit 1.67) before it gives another one.
    """
    from model_runner.errors import RunnerError
    from model_runner.wav import read_wav

    file = st.session_state[_key()]
    st.session_state[PROBLEM] = None
    try:
        if file is not None:
            _listen_to(read_wav(file.getvalue()))
    except RunnerError as error:
        st.session_state[PROBLEM] = error  # said in the language of each run


def _back_to_the_tone() -> None:
    """And no file is named any more as if it were heard."""
    st.session_state[GIVEN] = st.session_state.get(GIVEN, 0) + 1
    st.session_state[PROBLEM] = None
    _listen_to(None)


def _listen_to(other: object) -> None:
    """What was written of another sound means nothing, nor do its places."""
    st.session_state[SOUND] = other
    change(ModelOptions, continuation=(), target="")
    session.move(query=-1, key=None, window=None)
