"""Two texts token under token as HTML; different tokens are marked. Independent of models."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from itertools import zip_longest
from pathlib import Path

from viz.token_text import escaped


def text_pair(
    first: Sequence[str],
    second: Sequence[str],
    *,
    headings: tuple[str, str],
    differ: Sequence[bool],
    shown: Sequence[bool],
    label: str,
) -> str:
    """A table of two rows; `differ` marks columns, and the longer text's extra tokens have no counterpart.

    Adjacent columns that are not `shown` are merged into one with dots. `label` describes the table to screen readers.
    Strings are escaped here.
    """
    pairs = list(zip_longest(first, second))
    if not len(differ) == len(shown) == len(pairs):
        raise ValueError(f"{len(differ)} marks, {len(shown)} of them shown, for {len(pairs)} columns")
    rows: list[str] = []
    for side, heading in enumerate(headings):
        cells = (_cell(pair[side], marked) for pair, marked in zip(pairs, differ, strict=True))
        rows.append(f'<tr><th scope="row">{escaped(heading)}</th>{"".join(_with_dots(cells, shown))}</tr>')
    return (
        f"<style>{text_pair_css()}</style>"
        f'<div class="atlas-pair" tabindex="0" role="group" aria-label="{escaped(label)}">'
        f"<table>{''.join(rows)}</table></div>"
    )


def _with_dots(cells: Iterable[str], shown: Sequence[bool]) -> Iterable[str]:
    before = True
    for cell, here in zip(cells, shown, strict=True):
        if here or before:
            yield cell if here else '<td class="left-out">…</td>'
        before = here


def _cell(token: str | None, marked: bool) -> str:
    if token is None:
        return '<td class="none"></td>'
    shown = f"<bdi>{escaped(token)}</bdi>"
    return f"<td><mark>{shown}</mark></td>" if marked else f"<td>{shown}</td>"


@cache
def text_pair_css() -> str:
    """The style of the table and of marked words, also for other tables."""
    return (Path(__file__).parent / "text_pair.css").read_text(encoding="utf-8")
