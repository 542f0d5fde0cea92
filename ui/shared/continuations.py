"""Greedy continuations that are made while somebody waits, and found by a later look."""

from __future__ import annotations

from collections.abc import Callable

from model_runner import GenerateRequest, Runner, Token


class Continuations:
    """Greedy continuations of the session's text, by request; a later look finds them."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._known: dict[GenerateRequest, tuple[Token, ...]] = {}

    def get(self, runner: Runner, request: GenerateRequest, say: Callable[[], object]) -> tuple[Token, ...]:
        """The tokens, made one by one. Raises RunnerError; ``say`` may raise to leave."""
        if request not in self._known:
            made: list[Token] = []
            for step in runner.generate(request, session=self._name):
                made.append(step.token)
                say()
            self._known[request] = tuple(made)
        return self._known[request]

    def close(self) -> None:
        """Nothing is under way between two looks."""
