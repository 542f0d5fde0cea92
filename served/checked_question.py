"""Validation of a question from outside: a known type, within the limits of its key, under its name."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hosting.settings import Limits, in_bytes
from jobs.request_limits import limit_check
from model_runner.errors import AnswerTooLarge, Unreadable
from model_runner.expert_questions import RandomRouting
from model_runner.question import Logits, Question
from model_runner.questions import EndRun, NextRaceStep, NextToken
from model_runner.request import CaptureRequest
from model_runner.runner import ModelInfo
from model_runner.wire import from_bytes
from served.settings import Access, QuestionLimits

FLOAT = 4  # bytes
WIDTH = 64  # smallest width of the tiny random model


def checked_question(body: bytes, access: Access, limits: QuestionLimits) -> CaptureRequest | Question[Any]:
    """Parse a question, and prefix its run, if it has one, with the key's name.

    Raises Unreadable, TextTooLongHere, TooManyTokensHere.
    """
    question = from_bytes(body)
    if not isinstance(question, CaptureRequest | Question):
        raise Unreadable()
    try:
        limit_check(Limits(text=limits.text, tokens=min(limits.tokens, access.tokens)))(question)
    except (AttributeError, TypeError, ValueError) as error:  # a field of another type than declared
        raise Unreadable() from error
    if isinstance(question, NextToken | NextRaceStep | EndRun):
        return replace(question, run=f"{access.name} {question.run}")
    return question


def check_answer(question: object, info: ModelInfo, limits: QuestionLimits) -> None:
    """Raises AnswerTooLarge if a small question would have a large answer."""
    rows, width = 0, info.n_vocab
    if isinstance(question, Logits):
        rows = len(question.hidden)
    elif isinstance(question, RandomRouting):
        rows, width = question.n_vocab, WIDTH
    if rows * width * FLOAT > in_bytes(limits.answer):
        raise AnswerTooLarge(limit=limits.answer)
