"""Texts that grow by one token per request, with any runner: nothing runs between two requests."""

from __future__ import annotations

import contextlib
import functools
import itertools
import threading
import uuid
from collections.abc import Callable, Iterator
from queue import SimpleQueue
from typing import TypeVar

from model_runner.errors import UserFacingError
from model_runner.kv import RaceStep
from model_runner.question import Answerer, Question
from model_runner.questions import EndRun, NextRaceStep, NextToken
from model_runner.request import GenerateRequest
from model_runner.step import Step

A = TypeVar("A")


def generate(asked: Answerer, request: GenerateRequest, session: str | None = None) -> Iterator[Step]:
    """One more token per ``next``; the first one reads the text (prefill). Raises RunnerError.

    A newer question of the session cancels the current one, which ends the iterator.
    """
    if request.max_new_tokens < 1:
        return
    for step in _pulled(asked, lambda run, index: NextToken(request, run, index), session):
        yield step
        if step.stop:
            return


def race(asked: Answerer, request: GenerateRequest, session: str | None = None) -> Iterator[RaceStep]:
    """The greedy continuation twice, with a KV cache and without; one step per ``next``."""
    for step in _pulled(asked, lambda run, index: NextRaceStep(request, run, index), session):
        if step is None:
            return
        yield step


def new_run() -> str:
    """A unique name."""
    return uuid.uuid4().hex


def _pulled(asked: Answerer, question: Callable[[str, int], Question[A]], session: str | None) -> Iterator[A]:
    run, ended = new_run(), _ended()
    try:
        for index in itertools.count():
            job = asked.submit(question(run, index), session=session)
            try:
                answer = job.result()
            finally:
                job.cancel()  # nobody waits for it any more, in case it still runs
            yield answer
    finally:
        ended.put((asked, run))


@functools.cache
def _ended() -> SimpleQueue[tuple[Answerer, str]]:
    """A queue for runs that have ended; a separate thread reports them to the runner.

    A dropped iterator ends wherever Python frees it, possibly while that thread holds a lock of the question queue,
    where it would deadlock. A SimpleQueue is safe to put into even then.
    """
    ended: SimpleQueue[tuple[Answerer, str]] = SimpleQueue()

    def tell() -> None:
        while True:
            asked, run = ended.get()
            with contextlib.suppress(UserFacingError):  # the model was evicted, closed or hangs, and the run with it
                asked.submit(EndRun(run))
            del asked  # otherwise the model would not be freed before the next run ends

    threading.Thread(target=tell, name="ended runs", daemon=True).start()
    return ended
