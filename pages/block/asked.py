"""What the page asks the model beside its capture: each answer is waited for with its progress, once, and kept."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

from analysis.joined import Joined
from jobs.waiting import waited
from model_runner.question import Question
from ui import cached, session
from ui.page import PageContext, show_stage

A = TypeVar("A")


def asked(opened: PageContext, question: Question[A]) -> A:
    """The answer. Raises RunnerError."""
    return cached.made(("asked", repr(opened.capture.request), repr(question)), lambda: _answer(opened, question))


def one_text(opened: PageContext) -> PageContext:
    """The text whose stream is looked at, with its own positions: of two that are drawn as one, what is written."""
    capture = opened.capture
    if not isinstance(capture, Joined) or capture.cross is None:
        return opened
    query = None if opened.query is None else opened.query - capture.n_read
    return replace(opened, capture=capture.cross, query=query, first=capture.n_read)


def chosen_text(opened: PageContext) -> PageContext:
    """The same, but of two that are drawn as one the text whose token was chosen last: with a key, what is read."""
    capture = opened.capture
    if isinstance(capture, Joined) and capture.cross is not None and opened.key is not None:
        return replace(opened, capture=capture.cross.attention("encoder"), query=opened.key)
    return one_text(opened)


def _answer(opened: PageContext, question: Question[A]) -> A:
    try:
        return waited(opened.runner.submit(question), lambda: show_stage("reading", 0, 0))
    finally:
        session.slots()["status"].empty()
