"""Words for how far two continuations agree."""

from __future__ import annotations

from collections.abc import Callable

N_ = str  # marks a text for Babel without translating it here


def equal_up_to(differs_at: int | None, count: int, say: Callable[[str], str]) -> str:
    """Say up to which of ``count`` tokens two texts are equal; None: all of them. ``say`` translates."""
    if differs_at is None:
        return say(N_("equal: all {count} tokens")).format(count=count)
    if differs_at:
        return say(N_("equal up to token {count}")).format(count=differs_at)
    return say(N_("different from the first token on"))
