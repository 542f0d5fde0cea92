"""How a text flows through parallel and successive parts, as HTML. Independent of models."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path

from viz.token_text import escaped

_ARROW = '<span class="arrow" aria-hidden="true">↓</span>'


def flow(first: str, lanes: Sequence[Sequence[str]], join: str, last: str) -> str:
    """From `first` through every lane, whose parts follow each other, to `join` (empty: nothing joins them) and `last`.

    Screen readers get the lanes as lists. Strings are escaped here.
    """
    apart = len(lanes) > 1
    beside = "".join(f"<ol>{_parts(lane, apart)}</ol>" for lane in lanes)
    through = f"<div>{beside}</div>" if apart else f"{_ARROW}<div>{beside}</div>{_ARROW}"
    after = [_part(one) for one in (join, last) if one]
    return f'<style>{_css()}</style><div class="atlas-flow">{_part(first)}{through}{_ARROW.join(after)}</div>'


def _part(words: str) -> str:
    return f'<span class="part">{escaped(words)}</span>'


def _parts(lane: Sequence[str], apart: bool) -> str:
    """Arrows between the parts; with several lanes also into the first and out of the last."""
    last = len(lane) - 1
    return "".join(
        f"<li>{_ARROW if place or apart else ''}{_part(words)}{_ARROW if apart and place == last else ''}</li>"
        for place, words in enumerate(lane)
    )


@cache
def _css() -> str:
    return (Path(__file__).parent / "flow.css").read_text(encoding="utf-8")
