"""Limits that a host sets on requests: length of the text and number of generated tokens."""

from __future__ import annotations

from collections.abc import Callable

from hosting.settings import Limits
from model_runner import CaptureRequest, GenerateRequest
from model_runner.errors import TextTooLongHere, TooManyTokensHere
from model_runner.request import requests_in


def limit_check(limits: Limits) -> Callable[[object], None]:
    """Return a function that checks a question. It raises TextTooLongHere or TooManyTokensHere."""

    def look(question: object) -> None:
        own = [question] if isinstance(question, CaptureRequest | GenerateRequest) else []
        for request in [*own, *requests_in(question).values()]:
            characters = max(len(request.text), len(request.target or ""))
            if characters > limits.text:
                raise TextTooLongHere(characters=characters, limit=limits.text)
            tokens = len(request.continuation)
            if isinstance(request, GenerateRequest):
                tokens += request.max_new_tokens
            if tokens > limits.tokens:
                raise TooManyTokensHere(tokens=tokens, limit=limits.tokens)

    return look
