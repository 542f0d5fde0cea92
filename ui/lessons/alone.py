"""A step's question for a learner without a class: asked before the page is shown, answered by a click, then judged."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

import streamlit as st

from ui.classroom.lesson_step import ShowMap
from ui.lessons.state import Opened
from ui.state import url_state
from ui.state.kept_click import button
from ui.state.session_value import SessionValue
from ui.wording.i18n import _
from ui.wording.sentences import number
from viz.distribution import percent

if TYPE_CHECKING:  # the engine is imported only after the frame is painted
    from classroom.poll import ClassQuestion

N_ = str  # marks a text for Babel without translating it here

OFFERED = 8  # likeliest next tokens offered as answers
MOST_BUTTONS = 24  # more options are shown as a list

SKIP = N_("Skip the question and show the page")
Place = tuple[str, int]


@dataclass(frozen=True)
class LearnerAnswer:
    """The learner's answer and the model's. Shares are in 0..1; ``told`` describes the effect of an ablation."""

    kind: str
    said: str
    share: float
    best: str
    best_share: float
    told: str

    @property
    def right(self) -> bool:
        """Return True if the model gives the same answer."""
        return self.said == self.best


# The answer to a lesson's step; None if it was skipped.
ANSWERED = SessionValue[dict[Place, LearnerAnswer | None]]("lesson_answered", dict)


def waits(found: Opened) -> bool:
    """Return True if the step's question must be answered or skipped before its page is shown."""
    return bool(found.step.question) and _place(found) not in ANSWERED.get()


def show_question(found: Opened, question: ClassQuestion, show_map: ShowMap | None) -> None:
    """Replace the page by the question, its text, a button per answer and a button to skip.

    ``show_map`` draws the map that is needed to answer, with the answer covered, if the text alone is not enough.
    """
    options = _options(question)
    with st.container(key="lesson_asks"):
        st.html(f"<h2 class='atlas-question'>{escape(question.words)}</h2>")
        st.html(f"<p class='atlas-quoted'>{escape(question.text)}</p>")
        if show_map is None:
            _show_options(found, question, options)
        else:
            left, right = st.columns([0.42, 0.58], gap="medium")
            with left:
                _show_options(found, question, options)
            with right:
                show_map(lambda value: _answer(found, question, value, options))
    url_state.write()


def _show_options(found: Opened, question: ClassQuestion, options: list[tuple[str, str]]) -> None:
    if question.kind == "where":
        hint = _("Choose a token, or click a cell of the covered row.")
        st.html(f"<p class='atlas-caption'>{escape(hint)}</p>")
    if len(options) > MOST_BUTTONS:
        _show_list(found, question, options)
    else:
        with st.container(key="lesson_options", horizontal=True, gap="small"):
            for value, label in options:
                key = f"lesson_answer_{value}"
                button(label, key=key, on_click=_answer, args=(found, question, value, options))
    button(_(SKIP), key="lesson_skip", type="tertiary", on_click=_skip, args=(found,))


def show_verdict(found: Opened) -> None:
    """Show the verdict on the step's card after the question was answered."""
    answer = ANSWERED.get().get(_place(found))
    if answer is None:
        return
    kind = "right" if answer.right else "wrong"
    st.html(f"<p class='atlas-verdict {kind}' role='status'>{escape(verdict(answer))}</p>")


def verdict(answer: LearnerAnswer) -> str:
    """The verdict in one or two sentences."""
    said, best = f"“{answer.said}”", f"“{answer.best}”"
    if answer.kind == "ablate":
        words = _("Right: {said}.") if answer.right else _("No: {best}.")
        return f"{words.format(said=answer.said, best=answer.best)} {answer.told}".strip()
    shares = {"share": number(answer.share, "share"), "most": number(answer.best_share, "share")}
    if answer.right:
        return _("Right: {said}, with {share}.").format(said=said, **shares)
    return _("Most goes to {best}: {most}. {said} gets {share}.").format(said=said, best=best, **shares)


def _show_list(found: Opened, question: ClassQuestion, options: list[tuple[str, str]]) -> None:
    labels = dict(options)
    chosen = st.selectbox(
        question.words,
        list(labels),
        None,
        format_func=labels.__getitem__,
        key="lesson_list_answer",
        label_visibility="collapsed",
    )
    if chosen is not None:
        button(_("Answer"), key="lesson_give", on_click=_answer, args=(found, question, chosen, options))


def _options(question: ClassQuestion) -> list[tuple[str, str]]:
    """Values and labels. From a whole vocabulary, the likeliest tokens in an order that does not reveal their ranks."""
    offered = question.answers.offered()["options"]
    if offered is not None:
        return [(value, label) for value, label in offered]
    tokens = [(value, question.answers.label(value)) for value in question.likeliest[:OFFERED]]
    return sorted(tokens, key=lambda pair: pair[1].casefold())


def _answer(found: Opened, question: ClassQuestion, value: str, options: list[tuple[str, str]]) -> None:
    """Callback of an answer button."""
    share: Callable[[str], float] = question.probability or (lambda _value: 0.0)
    best = max((one for one, _label in options), key=share)
    label = question.answers.label
    told = _effect(question) if question.kind == "ablate" else ""
    answer = LearnerAnswer(question.kind, label(value), share(value), label(best), share(best), told)
    ANSWERED.get()[_place(found)] = answer


def _effect(question: ClassQuestion) -> str:
    words = _("The probability is {before} before, {after} without the head.")
    before, after = (percent(share, _("{number} %")) for share in (question.before, question.after))
    return words.format(before=before, after=after)


def _skip(found: Opened) -> None:
    """Callback of the skip button."""
    ANSWERED.get()[_place(found)] = None


def _place(found: Opened) -> Place:
    return found.lesson.name, found.number
