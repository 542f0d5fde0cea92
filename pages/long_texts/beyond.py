"""A text of more tokens than the model was built for: said before anything runs, with the ways there are."""

from __future__ import annotations

import math
from contextlib import suppress

import streamlit as st
from streamlit.runtime.scriptrunner import StopException

from analysis.long_text import chapter
from analysis.sentences import joined
from model_runner import CaptureRequest, Runner
from model_runner.edits import Edit
from model_runner.errors import RunnerError, SequenceTooLong
from model_runner.rotation_edit import NtkTheta, YarnTheta, stretch
from pages.long_texts.state import open_text
from ui.shell.page import announced, show_stage
from ui.state import edit_list, session, url_state
from ui.state.frame_slots import frame_slots
from ui.wording.i18n import _, language
from ui.wording.sentences import sentence
from viz.markdown import plain


def show_examples() -> None:
    """Two long texts to look at, one within the context of the embedded model and one beyond it."""
    held = chapter(language())
    with st.container(key="long_examples", horizontal=True, vertical_alignment="center", gap="small"):
        words = _("A long text to try: {title}, {author}").format(title=held.title, author=held.author)
        st.html(f"<p class='atlas-caption'>{words}</p>", width="content")
        for name, words, text in (("half", _("half of it"), held.half), ("whole", _("all of it"), held.whole)):
            st.button(words, key=f"long_text_{name}", type="tertiary", on_click=open_text, args=(text,))


def check_length() -> None:
    """Where the text does not fit, say so, offer to cut it or to stretch the rotation, and end the page here."""
    with suppress(RunnerError):  # any other is said by open_page
        runner = announced(session.model(), show_stage)
        try:
            session.capture(runner, show_stage, edit_list.held() if session.edits_on_all_pages() else ())
        except SequenceTooLong as error:
            frame_slots().status.empty()
            url_state.write()
            st.warning(plain(sentence(error)))
            _offer_ways(runner, error.values)
            raise StopException from None
    frame_slots().status.empty()


def _offer_ways(runner: Runner, too_long: dict[str, int]) -> None:
    """Buttons: the text cut, or the rotation, where it can be changed, slowed down so far that its positions fit."""
    context = runner.info.max_tokens
    factor = float(2 ** math.ceil(math.log2(too_long["tokens"] / context)))
    room = too_long["characters"]
    with st.container(key="long_ways", horizontal=True, vertical_alignment="center", gap="small"):
        st.button(_("cut it to the first {count} tokens").format(count=f"{too_long['limit']:,}"), key="long_cut",
                  on_click=_cut, args=(room,), disabled=not room)  # fmt: skip
        if not _turns(runner, NtkTheta(factor)):
            return
        for name, edit in (("NTK", NtkTheta(factor)), ("YaRN", YarnTheta(factor, context))):
            words = _("stretch the rotation: {name} × {factor}").format(name=name, factor=f"{factor:g}")
            st.button(words, key=f"long_{name}", on_click=_stretch, args=(edit,))
    stretched = _(
        "Stretched, pages show the changed model and say so; it was not trained this way. Undo takes it back."
    )
    within = _(
        "Tokens are generated within the {count} positions alone, and pages that begin with the model as it is need a "
        "text that fits it."
    )
    st.caption(joined(stretched, within.format(count=f"{context:,}")))


def _turns(runner: Runner, edit: Edit) -> bool:
    """Whether this model's rotation can be changed so: tried on the text's first characters."""
    try:
        runner.capture(CaptureRequest(session.text().strip()[:20], edits=(edit,)))
    except RunnerError:
        return False
    return True


def _cut(characters: int) -> None:
    open_text(session.text()[:characters])


def _stretch(edit: Edit) -> None:
    """In place of another stretch that was too short; other edits that are carried stay."""
    carried = edit_list.now() if session.edits_on_all_pages() else ()
    edit_list.keep((*(one for one in carried if stretch((one,)) == 1), edit))
    session.apply_to_all_pages(True)
