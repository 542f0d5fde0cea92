"""Texts that grow, pulled one token at a time from whoever answers questions: nothing runs between two of them."""

from __future__ import annotations

import contextlib
import itertools
import uuid
from collections.abc import Callable, Iterator
from typing import TypeVar

from model_runner.errors import Cancelled
from model_runner.kv import RaceStep
from model_runner.question import Asked, Question
from model_runner.questions import EndRun, NextRaceStep, NextToken
from model_runner.request import GenerateRequest
from model_runner.step import Step

A = TypeVar("A")


def generate(asked: Asked, request: GenerateRequest, session: str | None = None) -> Iterator[Step]:
    """One token more at each ``next``; the first one reads the text (prefill). Raises RunnerError.

    A newer question of the session cancels the one under way, which ends the iterator.
    """
    if request.max_new_tokens < 1:
        return
    for step in _pulled(asked, lambda run, index: NextToken(request, run, index), session):
        yield step
        if step.stop:
            return


def race(asked: Asked, request: GenerateRequest, session: str | None = None) -> Iterator[RaceStep]:
    """The greedy continuation twice, with a cache of keys and values and without; one step at each ``next``."""
    for step in _pulled(asked, lambda run, index: NextRaceStep(request, run, index), session):
        if step is None:
            return
        yield step


def new_run() -> str:
    """A name that nothing else has."""
    return uuid.uuid4().hex


def _pulled(asked: Asked, question: Callable[[str, int], Question[A]], session: str | None) -> Iterator[A]:
    run = new_run()
    try:
        for index in itertools.count():
            job = asked.submit(question(run, index), session=session)
            try:
                answer = job.result()
            finally:
                job.cancel()  # nobody waits for it any more, should it still run
            yield answer
    finally:
        with contextlib.suppress(Cancelled):  # the model was given up, and the run with it
            asked.submit(EndRun(run))
