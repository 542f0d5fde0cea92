"""What the page reads, the chapter or the session's text, and what happens if that is too long for the model."""

from __future__ import annotations

import math
from contextlib import suppress
from html import escape
from typing import NoReturn

import streamlit as st
from streamlit.runtime.scriptrunner import StopException

from analysis.long_text import chapter
from analysis.sentences import joined
from model_runner import CaptureRequest, Runner
from model_runner.edits import Edit
from model_runner.errors import RunnerError, SequenceTooLong
from model_runner.rotation_edit import NtkTheta, YarnTheta, stretch
from pages.long_texts.place import show_part
from pages.long_texts.state import open_text, state
from ui.shared.long_example import Shown, long_example, part_shown, takes_chapter
from ui.shell.page import announced, show_stage
from ui.state import edit_list, session, url_state
from ui.state.frame_slots import frame_slots
from ui.state.inputs import choose_one
from ui.state.kept_click import button
from ui.wording.i18n import _, language
from ui.wording.sentences import sentence
from viz.markdown import plain


def choose_text() -> str | None:
    """Return the text to read, cut to fit, or None for the session's own text.

    Stops the page if the session's text does not fit.
    """
    part = part_shown(state().shown)
    text, too_long, runner = long_example(part), None, None
    with suppress(RunnerError):  # open_page reports it
        runner = announced(session.model(), show_stage)
        if not takes_chapter(runner.info):
            return None
        try:
            session.capture(runner, show_stage, _edits(), instead=text)
        except SequenceTooLong as error:
            too_long = error.values
            if text is None:
                _refuse(runner, error)
            else:
                text = text[: too_long["characters"]]
    frame_slots().status.empty()
    _show_choice(part, too_long)
    if too_long is not None and runner is not None and part == "whole":
        _offer_to_stretch(runner, too_long)
    return text


def _edits() -> tuple[Edit, ...]:
    return edit_list.held() if session.edits_on_all_pages() else ()


def _show_choice(part: Shown, too_long: dict[str, int] | None) -> None:
    """Show the choice between the chapter, half of it and the session's text, and the chapter's author."""
    held = chapter(language())
    words: dict[Shown, str] = {
        "half": _("half a chapter"),
        "whole": _("all of the chapter"),
        "own": _("your text"),
    }
    if too_long is not None and part != "own":
        words[part] = _("its first {count} tokens").format(count=f"{too_long['limit']:,}")
    with st.container(key="long_examples", horizontal=True, vertical_alignment="center", gap="small"):
        choose_one(_("text"), "long_texts.shown", words, part, show_part)
        if part != "own":
            st.html(f"<p class='atlas-caption'>{escape(held.title)} · {escape(held.author)}</p>", width="content")


def _refuse(runner: Runner, error: SequenceTooLong) -> NoReturn:
    """Say that the text does not fit, offer to cut it or to scale the rotation, and stop the page."""
    frame_slots().status.empty()
    _show_choice("own", None)
    url_state.write()
    st.warning(plain(sentence(error)))
    room = error.values["characters"]
    with st.container(key="long_ways", horizontal=True, vertical_alignment="center", gap="small"):
        button(_("cut it to the first {count} tokens").format(count=f"{error.values['limit']:,}"), key="long_cut",
                  on_click=_cut, args=(room,), disabled=not room)  # fmt: skip
        stretchable = _stretch_buttons(runner, error.values)
    if stretchable:
        _explain_stretch(runner)
    raise StopException


def _offer_to_stretch(runner: Runner, too_long: dict[str, int]) -> None:
    """Show the ways to read the whole chapter."""
    with st.container(key="long_ways", horizontal=True, vertical_alignment="center", gap="small"):
        words = _("The chapter has {count} tokens.").format(count=f"{too_long['tokens']:,}")
        st.html(f"<p class='atlas-caption'>{words}</p>", width="content")
        if _stretch_buttons(runner, too_long):
            with st.popover("?", type="tertiary"):
                _explain_stretch(runner)


def _stretch_buttons(runner: Runner, too_long: dict[str, int]) -> bool:
    """Show buttons that scale the rotation so that the text's positions fit. Returns False if it cannot be scaled."""
    context = runner.info.max_tokens
    factor = float(2 ** math.ceil(math.log2(too_long["tokens"] / context)))
    if not _turns(runner, NtkTheta(factor)):
        return False
    for name, edit in (("NTK", NtkTheta(factor)), ("YaRN", YarnTheta(factor, context))):
        words = _("stretch the rotation: {name} × {factor}").format(name=name, factor=f"{factor:g}")
        button(words, key=f"long_{name}", on_click=_stretch, args=(edit,))
    return True


def _explain_stretch(runner: Runner) -> None:
    stretched = _(
        "Stretched, pages show the changed model and say so; it was not trained this way. Undo takes it back."
    )
    within = _(
        "Tokens are generated only within the {count} positions, and pages that begin with the "
        "model as it is need a text that fits it."
    )
    st.caption(joined(stretched, within.format(count=f"{runner.info.max_tokens:,}")))


def _turns(runner: Runner, edit: Edit) -> bool:
    """Return True if this model's rotation can be edited like this, tried on the start of the session's text."""
    try:
        runner.capture(CaptureRequest(session.text().strip()[:20], edits=(edit,)))
    except RunnerError:
        return False
    return True


def _cut(characters: int) -> None:
    open_text(session.text()[:characters])


def _stretch(edit: Edit) -> None:
    """Replace a previous edit of the rotation; other edits that apply to all pages stay."""
    carried = edit_list.now() if session.edits_on_all_pages() else ()
    edit_list.keep((*(one for one in carried if stretch((one,)) == 1), edit))
    session.apply_to_all_pages(True)
