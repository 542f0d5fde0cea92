"""The second text of activation patching: suggested or typed, and read by the same model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import chain, islice

from analysis.joined import apart, same_tokens
from analysis.patching import exchanges, same_text
from jobs.waiting import await_job
from model_runner import Capture, CaptureRequest, Runner
from model_runner.errors import RunnerError

TRIES = 8  # suggestions that are tried
PAIRS = {
    "The pig is behind the dog. It": "The cat is behind the dog. It",
    "The dog chased the squirrel because it": "The dog chased the book because it",
    "The capital of France is": "The capital of Italy is",
    "The capital of Italy is Rome. The capital of France is": "The capital of Italy is Rome. The capital of Japan is",
    "king bell ball lion king bell ball": "king bell ball apple king bell ball",
    "John gave the book to Anna. Anna gave the book back to": "Mary gave the book to Anna. Anna gave the book back to",
    "lamp river seven cloud lamp river seven cloud lamp river seven": (
        "lamp river seven dog lamp river seven dog lamp river seven"
    ),
    "When Mary and John went to the store, John gave a drink to": (
        "When Sara and John went to the store, John gave a drink to"
    ),
    "3 + 5 = ": "3 + 4 = ",
    "def add(a, b): return a +": "def add(a, n): return a +",
    "猫看见了狗，它": "牛看见了狗，它",
    "意大利的首都是罗马。法国的首都是": "意大利的首都是罗马。英国的首都是",
    "火车，春天，学校，医生，火车，春天，学校，": "火车，春天，学校，苹果，火车，春天，学校，",
    "小丽把花给了小芳，小芳又把它还给了": "小明把花给了小芳，小芳又把它还给了",
    "The dog chased the cat in the garden yesterday.": "The dog chased the boy in the garden yesterday.",
    "The boy writes the expensive letter every week.": "The girl writes the expensive letter every week.",
    "小明和小红去了商店，小红把一本书送给了": "小丽和小红去了商店，小红把一本书送给了",
    "8加9等于17。2加4等于": "8加9等于17。3加4等于",
}  # well-suited second texts for examples: one word differs, and so does the next token

Say = Callable[[], None]


class OneCapture:
    """A capture that is computed once."""

    def __init__(self, look: Callable[[Say], Capture | None]) -> None:
        self._look: Callable[[Say], Capture | None] | None = look
        self._known: Capture | None = None

    def find(self, say: Say) -> Capture | None:
        """Return the capture. Raises RunnerError, and then tries again at the next call."""
        if self._look is not None:
            self._known = self._look(say)
            self._look = None  # releases the model
        return self._known

    def close(self) -> None:
        """Do nothing: no work continues between two runs."""


def suggestion(runner: Runner, capture: Capture, name: str, say: Say) -> Capture | None:
    """The first suggested text with as many tokens that differs from this one; ``name`` identifies the session at the
    runner.
    """
    text = capture.request.text
    known = [PAIRS[text]] if text in PAIRS else []
    for other in islice(chain(known, exchanges(capture, runner.token_text)), TRIES):
        try:
            found = read(runner, capture, other, name, say)
        except RunnerError:
            continue  # skip suggestions that cannot be read
        if len(found.tokens) == len(apart(capture).tokens) and not same_text(capture, found):
            return found
    return None


def read(runner: Runner, capture: Capture, text: str, name: str, say: Say) -> Capture:
    """Capture another text with this capture's request, its target text included. Raises RunnerError."""
    return asked(runner, replace(same_tokens(capture, capture.request.edits), text=text), name, say)


def asked(runner: Runner, request: CaptureRequest, name: str, say: Say) -> Capture:
    """Wait for a request's capture; ``say`` is called ten times a second. Raises RunnerError."""
    return await_job(runner.submit(request, session=name), say)
