"""A decoder under teacher forcing as an accessible HTML table: input, target and its probability at each position.

Independent of models: its input is labels and probabilities.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from viz.distribution import percent
from viz.token_text import escaped

N_ = str  # marks a text for Babel without translating it here

TEXTS: dict[str, str] = {
    "given": N_("is given"),
    "wanted": N_("has to say"),
    "own": N_("would say"),
    "free": N_("says freely"),
    "percent": N_("{number} %"),
}


@dataclass(frozen=True)
class ForcedRow:
    """One position; ``probability`` is that of ``wanted``, None if undefined. ``differs``: ``own`` is another token."""

    given: str
    wanted: str
    probability: float | None
    own: str
    free: str
    differs: bool


def forced_table(rows: Sequence[ForcedRow], *, heading: str, beside: str, texts: dict[str, str] | None = None) -> str:
    """HTML of the positions in order; if the model would choose another token, it is highlighted.

    Strings are escaped.
    """
    words = TEXTS | (texts or {})
    head = "".join(f'<th scope="col">{escaped(words[name])}</th>' for name in ("given", "wanted", "own", "free"))
    body = "".join(_row(row, words) for row in rows)
    return (
        f'<style>{_css()}</style><div class="atlas-forced" tabindex="0" role="region" aria-label="{escaped(heading)}">'
        f"<table><caption>{escaped(heading)} <span>{escaped(beside)}</span></caption>"
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _row(row: ForcedRow, words: dict[str, str]) -> str:
    share = 0.0 if row.probability is None else 100 * min(max(row.probability, 0.0), 1.0)
    amount = "–" if row.probability is None else percent(row.probability, words["percent"])
    kind = ' class="differs"' if row.differs else ""
    return (
        f'<tr{kind}><td>{_token(row.given)}</td><td class="wanted"><div class="track">'
        f'<div class="bar" style="width:{share:.2f}%"></div><span>{_token(row.wanted)}</span>'
        f'<span class="number">{escaped(amount)}</span></div></td>'
        f'<td class="own">{_token(row.own)}</td><td>{_token(row.free)}</td></tr>'
    )


def _token(label: str) -> str:
    return f"<bdi>{escaped(label)}</bdi>" if label else "–"


@cache
def _css() -> str:
    return (Path(__file__).parent / "forced_table.css").read_text(encoding="utf-8")
