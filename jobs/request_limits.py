"""What a server refuses to be asked, by the limits of its host: too long a text, too many tokens."""

from __future__ import annotations

from collections.abc import Callable

from hosting.settings import Limits
from model_runner import CaptureRequest, GenerateRequest, RunnerError
from model_runner.errors import N_
from model_runner.request import requests_in


class TextTooLongHere(RunnerError):
    message = N_("The text has {characters} characters, and this server reads up to {limit}.")
    hint = N_("Shorten it.")


class TooManyTokensHere(RunnerError):
    message = N_("You asked for {tokens} tokens; this server generates up to {limit}.")
    hint = N_("Ask for fewer.")


def limit_check(limits: Limits) -> Callable[[object], None]:
    """Looks at a question before it is asked. Raises TextTooLongHere, TooManyTokensHere."""

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
