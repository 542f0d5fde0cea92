"""Two numbers side by side for several items, as an accessible HTML table whose bars are drawn by CSS alone.

Independent of what is compared: its input is labels, lengths and words.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from viz.token_text import escaped


@dataclass(frozen=True)
class Pair:
    """A row: two bars, as shares of the track in 0..1, with their words; None has words but no bar.

    ``note`` is shown small under the label; ``between`` is the difference in words.
    """

    label: str
    first: float | None
    second: float | None
    words: tuple[str, str]
    between: str
    note: str = ""


def paired_bars(pairs: Sequence[Pair], *, headings: tuple[str, str, str, str], label: str) -> str:
    """The table: headings for labels, both columns of bars and the difference; ``label`` is its name.

    Strings are escaped here.
    """
    head = "".join(f'<th scope="col">{escaped(word)}</th>' for word in headings)
    return (
        f"<style>{_css()}</style>"
        f'<table class="atlas-paired" aria-label="{escaped(label)}"><thead><tr>{head}</tr></thead>'
        f"<tbody>{''.join(map(_row, pairs))}</tbody></table>"
    )


def _row(pair: Pair) -> str:
    note = f"<small>{escaped(pair.note)}</small>" if pair.note else ""
    bars = zip(("first", "second"), (pair.first, pair.second), pair.words, strict=True)
    cells = "".join(f'<td class="{side}">{_bar(share, words)}</td>' for side, share, words in bars)
    return (
        f'<tr><th scope="row"><bdi>{escaped(pair.label)}</bdi>{note}</th>{cells}'
        f'<td class="between">{escaped(pair.between)}</td></tr>'
    )


def _bar(share: float | None, words: str) -> str:
    width = 0.0 if share is None else 100 * min(max(share, 0.0), 1.0)
    bar = "" if share is None else f'<div class="bar" style="width:{width:.2f}%"></div>'
    return f'<div class="track">{bar}<span class="number">{escaped(words)}</span></div>'


@cache
def _css() -> str:
    return Path(__file__).with_suffix(".css").read_text(encoding="utf-8")
