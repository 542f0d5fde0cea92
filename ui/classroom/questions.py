"""The questions for a class about the current page, each with the model's own answer on this text."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import streamlit as st
from streamlit.runtime.scriptrunner import StopException

from analysis.comparison import output_position
from analysis.predictions import Distribution, of_ablation, of_looks, of_next_token
from attention.metrics import METRICS
from classroom.answers import Heads, Options
from classroom.poll import ClassQuestion
from classroom.room import Room
from classroom.vocabulary import Vocabulary
from model_runner import RunnerError
from model_runner.edits import ScaledHead
from ui.classroom.changes import in_words
from ui.classroom.sidebar import PROBLEM
from ui.shared import cached
from ui.shared.head_views import sink_note
from ui.shell.page import PageContext, announced, edited, open_page, settle, show_stage
from ui.state import session
from ui.state.run_context import run_context
from ui.wording.i18n import _
from ui.wording.sentences import sentence

N_ = str  # marks a text for Babel without translating it here

SHOWN = 8  # likeliest answers of the model that are shown
MOST_KEYS = 200  # keys that a phone can show to be tapped
TWO_TEXTS = N_(
    "Questions about a model that reads one text and writes another are not supported yet. Its "
    "pages are shown to the class like any others."
)
NO_NEXT = N_("This model does not predict a next token.")
NO_EFFECT = N_("Without this head the next token is exactly as likely: choose another head.")
CHANGED = N_("Head {head} is changed already: choose another head, or undo the change.")
TOO_LONG = N_("This text has too many tokens to tap on one of them: choose a shorter one.")


class QuestionNotPossible(Exception):
    """The question cannot be asked about this text; the message gives the reason."""


def askable() -> bool:
    """Return True if a class may be asked about the open model; loads the model."""
    try:
        return not announced(session.model(), show_stage).info.attentions
    except RunnerError:  # the page itself shows the error
        return False


def ask(room: Room, kind: str, metric: str = "") -> None:
    """Ask the class about what the page showed last; show a warning above the page if that is not possible.

    ``metric``: the head metric that the question is about.
    """
    question = question_about(kind, metric)
    if question is not None:
        room.ask(question)


def question_about(kind: str, metric: str = "") -> ClassQuestion | None:
    """Return the question about what the page shows, or None with the reason in PROBLEM.

    Errors that the page itself shows, such as edits that do not fit the model or a place that does not exist, are not
    repeated.
    """
    opened = looked_at()
    if opened is None:
        return None
    try:
        question = _head(opened, metric) if kind == "head" else KINDS[kind](opened)
        return replace(question, changed=in_words(opened.capture.request.edits))
    except QuestionNotPossible as error:
        PROBLEM.set(str(error))
    except RunnerError as error:
        PROBLEM.set(sentence(error))
    return None


def looked_at() -> PageContext | None:
    """Return what the page shows, or None if a class cannot be asked about it (PROBLEM may have the reason)."""
    try:
        runner = announced(session.model(), show_stage)
    except RunnerError:  # the page itself shows the error
        return None
    if runner.info.attentions:  # the page may support encoder-decoder models; questions do not
        PROBLEM.set(TWO_TEXTS)
        return None
    aside = st.empty()
    try:
        with aside.container():
            return open_page(plain_model=run_context().plain_model, strip=None)
    except StopException:
        return None
    finally:
        aside.empty()


def _next(opened: PageContext) -> ClassQuestion:
    found = _of_next(opened)
    runner = opened.runner
    key = ("vocabulary", runner.info.name, runner.info.revision, len(found.probabilities))
    labels = cached.made(key, lambda: Vocabulary([runner.token_text(id) for id in range(len(found.probabilities))]))
    return ClassQuestion(
        "next",
        _("Which token comes next?"),
        session.text(),
        labels,
        [str(token) for token in found.likeliest(SHOWN)],
        lambda value: float(found.probabilities[int(value)]),
        told=_entropy(found),
        model=runner.info.name,
    )


def _where(opened: PageContext) -> ClassQuestion:
    opened, query, _key = settle(opened)
    found, tokens = of_looks(opened.capture, opened.layer, opened.head, query), opened.capture.tokens
    if len(found.probabilities) > MOST_KEYS:
        raise QuestionNotPossible(TOO_LONG)
    words = _("Where does “{token}” (position {position}) look, in head {head}?")
    head = f"L{opened.layer}H{opened.head}"
    return ClassQuestion(
        "where",
        words.format(token=tokens[query].text, position=query, head=head),
        session.text(),
        Options([(str(place), f"{place} {tokens[place].text}") for place in range(len(found.probabilities))]),
        [str(place) for place in found.likeliest(SHOWN)],
        lambda value: float(found.probabilities[int(value)]),
        told=" · ".join(one for one in (_entropy(found), sink_note(opened)) if one),
        model=opened.runner.info.name,
        layer=opened.layer,
        head=opened.head,
    )


def _ablate(opened: PageContext) -> ClassQuestion:
    before, head = _of_next(opened), f"L{opened.layer}H{opened.head}"
    if any(
        isinstance(edit, ScaledHead) and (edit.layer, edit.head) == (opened.layer, opened.head)
        for edit in opened.capture.request.edits
    ):
        raise QuestionNotPossible(_(CHANGED).format(head=head))
    token = opened.runner.token_text(before.likeliest(1)[0])
    found = of_ablation(opened.capture, edited(opened, (ScaledHead(opened.layer, opened.head, 0.0),)))
    if found.after == found.before:
        raise QuestionNotPossible(NO_EFFECT)
    words = _("Without head {head}: is “{token}” likelier as the next token, or less likely?")
    told = _("{token}: {before} before, {after} without the head; surprise {first} bits, then {second}")
    right = "likelier" if found.likelier else "less"
    first, second = found.bits
    return ClassQuestion(
        "ablate",
        words.format(head=head, token=token),
        session.text(),
        Options([("likelier", _("likelier")), ("less", _("less likely"))]),
        ["likelier", "less"],
        lambda value: float(value == right),
        told=told.format(
            token=token,
            before=_("{number} %").format(number=f"{100 * found.before:.2f}"),
            after=_("{number} %").format(number=f"{100 * found.after:.2f}"),
            first=f"{first:.3f}",
            second=f"{second:.3f}",
        ),
        model=opened.runner.info.name,
        layer=opened.layer,
        head=opened.head,
        before=found.before,
        after=found.after,
    )


def _head(opened: PageContext, name: str) -> ClassQuestion:
    """Ask which head has the largest metric. The reveal shows the metric, which is not a distribution over heads."""
    metric = next(one for one in METRICS if one.name == name)
    capture, grid = opened.capture, cached.grid(opened.capture)
    values, heads = grid.metrics[name], grid.metrics[name].shape[1]
    defined = [place for place in grid.ranking(name) if not np.isnan(values.flat[place])]
    if not defined:
        raise QuestionNotPossible(_("No head has a value of “{metric}” on this text.").format(metric=_(metric.label)))
    words = _("In which head is this largest: {metric}? ({definition})")
    return ClassQuestion(
        "head",
        words.format(metric=_(metric.label), definition=_(metric.definition)),
        session.text(),
        Heads([len(capture.q(at)) if capture.has_weights(at) else 0 for at in range(capture.n_layers)]),
        [f"L{place // heads}H{place % heads}" for place in defined[:SHOWN]],
        measured=lambda head: float(values[tuple(map(int, head.removeprefix("L").split("H")))]),
        unit=metric.unit,
        told=_("{metric}: the mean over this text, measured; it is not a probability").format(metric=_(metric.label)),
        model=opened.runner.info.name,
    )


def _of_next(opened: PageContext) -> Distribution:
    if output_position(opened.capture, opened.query) is not None:
        raise QuestionNotPossible(NO_NEXT)
    return of_next_token(opened.capture)


def _entropy(found: Distribution) -> str:
    return _("unsure by {bits} bits (entropy)").format(bits=f"{found.entropy:.2f}")


KINDS = {"next": _next, "where": _where, "ablate": _ablate}
