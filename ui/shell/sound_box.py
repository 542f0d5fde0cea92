"""The sound of an audio model, in the sidebar where other models have the text box, with upload."""

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
MEGABYTES = 64  # the limit of wav.py


def show_sound() -> None:
    """Show a player for the sound; in single-user mode also a file upload."""
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
        words = _("Choose a file")  # Streamlit (1.67) has English words here, which frame.css hides
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
    """Return the key of the upload box; a new key empties it, since Streamlit (1.67) has no other way."""
    return f"{FILE}_{st.session_state.get(GIVEN, 0)}"


def _take() -> None:
    """Callback: read the uploaded file. If it cannot be read, report it and keep the previous sound.

    The sound also stays if the file is removed: a browser does that (Streamlit 1.67) before it sends another one.
    """
    from model_runner.errors import RunnerError
    from model_runner.wav import read_wav

    file = st.session_state[_key()]
    st.session_state[PROBLEM] = None
    try:
        if file is not None:
            _listen_to(read_wav(file.getvalue()))
    except RunnerError as error:
        st.session_state[PROBLEM] = error  # translated in each run


def _back_to_the_tone() -> None:
    """Callback: return to the built-in tone, and empty the upload box."""
    st.session_state[GIVEN] = st.session_state.get(GIVEN, 0) + 1
    st.session_state[PROBLEM] = None
    _listen_to(None)


def _listen_to(other: object) -> None:
    """Change the sound, and reset the target text and positions, which belong to the old one."""
    st.session_state[SOUND] = other
    change(ModelOptions, continuation=(), target="")
    session.move(query=-1, key=None, window=None)
