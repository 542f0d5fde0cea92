"""Greedy continuations, cached for the session."""

from __future__ import annotations

from collections.abc import Callable

from model_runner import GenerateRequest, Runner, Token


class Continuations:
    """Greedy continuations of the session's text, cached by request."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._known: dict[GenerateRequest, tuple[Token, ...]] = {}

    def get(self, runner: Runner, request: GenerateRequest, say: Callable[[], object]) -> tuple[Token, ...]:
        """Return the tokens, generated one by one. Raises RunnerError; ``say`` may raise to abandon the wait."""
        if request not in self._known:
            made: list[Token] = []
            for step in runner.generate(request, session=self._name):
                made.append(step.token)
                say()
            self._known[request] = tuple(made)
        return self._known[request]

    def close(self) -> None:
        """Do nothing: no work continues between two runs."""
