"""A server refuses requests beyond its limits, in whichever field of a question the request is."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest

from hosting.settings import Limits
from jobs.request_limits import limit_check
from model_runner import CaptureRequest, GenerateRequest
from model_runner.block_questions import StreamAdditions
from model_runner.errors import TextTooLongHere, TooManyTokensHere
from model_runner.questions import Beams

LIMITS = replace(Limits(), text=10, tokens=5)
LONG, SHORT = CaptureRequest("x" * 11), CaptureRequest("x" * 10)


@dataclass(frozen=True)
class OfTwoTexts:
    """A question of tomorrow."""

    one: CaptureRequest
    other: CaptureRequest


@pytest.mark.parametrize(
    "question",
    [LONG, replace(SHORT, target="y" * 11), StreamAdditions(LONG, 0), OfTwoTexts(SHORT, LONG), OfTwoTexts(LONG, SHORT)],
)
def test_a_text_that_is_too_long_is_refused_wherever_it_stands(question: object):
    with pytest.raises(TextTooLongHere):
        limit_check(LIMITS)(question)


@pytest.mark.parametrize(
    "question",
    [
        replace(SHORT, continuation=(1,) * 6),
        GenerateRequest("x", max_new_tokens=6),
        Beams(GenerateRequest("x", continuation=(1,), max_new_tokens=5), 2),
    ],
)
def test_too_many_tokens_are_refused(question: object):
    with pytest.raises(TooManyTokensHere):
        limit_check(LIMITS)(question)


def test_what_is_within_the_limits_is_asked():
    for question in (SHORT, OfTwoTexts(SHORT, SHORT), Beams(GenerateRequest("x", max_new_tokens=5), 2), "no question"):
        limit_check(LIMITS)(question)
