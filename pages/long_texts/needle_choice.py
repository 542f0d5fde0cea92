"""The controls of the needle test: which needle, how deep and in how long a text; and checks of the reader's own
needle.
"""

from __future__ import annotations

import streamlit as st

from analysis.needle import DEPTHS, NEEDLES, Needle, Trial, hidden, own_needle
from model_runner import Runner
from pages.long_texts.state import OWN, LongTextsState, open_text, state
from ui.shell.page import PageContext
from ui.state.controls import choose, pick
from ui.state.inputs import on_change, widget_key
from ui.state.kept_click import button
from ui.state.page_state import address_of, change, setting_of
from ui.wording.i18n import _, language
from ui.wording.sentences import number

CHINESE = next(at for at, one in enumerate(NEEDLES) if one.end == "。")
SIZES = (250, 500, 1000, 2000, 4000)  # characters


def chosen() -> int:
    """Index of the chosen needle; by default the first in the reader's language."""
    held = state().needle
    return (CHINESE if language() == "zh" else 0) if held is None else held


def choose_needle(opened: PageContext, hay: str) -> Needle | None:
    """Show the controls; None, with a sentence, if the typed needle is invalid."""
    held, at = state(), chosen()
    row = st.container(key="needle_controls", horizontal=True, vertical_alignment="center", gap="small")
    with row:
        names = {nth: f"{one.question} …" for nth, one in enumerate(NEEDLES)} | {OWN: _("a sentence of your own")}
        pick(LongTextsState, "needle", at, names, width=300)
        sizes = {str(size): _("{count} characters").format(count=f"{size:,}") for size in SIZES}
        pick(LongTextsState, "characters", held.characters, sizes, width=160)
        choose(LongTextsState, "depth", held.depth, {str(int(100 * depth)): number(depth, "share") for depth in DEPTHS})
    needle = NEEDLES[at] if at != OWN else _typed(opened.runner, hay)
    if needle is not None:
        text = hidden(hay, Trial(needle, int(held.depth) / 100, int(held.characters)))
        with row:
            button(_("open this text on the map"), key="needle_open", type="tertiary", on_click=_open, args=(text,))
    return needle


def _typed(runner: Runner, hay: str) -> Needle | None:
    with st.container(key="needle_typed", horizontal=True, vertical_alignment="center", gap="small"):
        _box("question", _("how it begins, also at the end: The door opens with"))
        _box("answer", _("how it continues: three blue keys"))
    held = state()
    needle = own_needle(held.question, held.answer)
    if needle is None:
        problem = _("Type how the sentence begins and how it continues: the model has to predict the continuation.")
    elif held.answer.strip() in f"{hay[: int(held.characters)]} {held.question}":
        problem = _("“{answer}” is in the text already: hide something that is not.")
    elif not _whole(runner, needle):
        problem = _("In this sentence “{answer}” is tokenized differently than on its own: hide other words.")
    else:
        return needle
    st.info(problem.replace("{answer}", held.answer.strip()))
    return None


def _box(name: str, example: str) -> None:
    value = getattr(state(), name)
    key = widget_key(address_of(LongTextsState, name), value)
    st.text_input(
        _(setting_of(LongTextsState, name).label),
        value,
        key=key,
        max_chars=setting_of(LongTextsState, name).max_length,
        placeholder=example,
        label_visibility="collapsed",
        on_change=on_change(key, lambda typed: change(LongTextsState, **{name: typed.strip()})),
    )


def _whole(runner: Runner, needle: Needle) -> bool:
    """Return True if the answer's tokens in the sentence are the same as alone."""
    ids, answer = (list(runner.ids_of(text)) for text in (needle.sentence, needle.answer))
    return any(ids[at : at + len(answer)] == answer for at in range(len(ids) - len(answer) + 1))


def _open(text: str) -> None:
    open_text(text)
    change(LongTextsState, view="map")
