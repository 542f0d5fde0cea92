"""Two continuations of a text, one above the other, with the first different token marked; an HTML table.

Independent of models: its input is tokens as displayed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from viz.token_text import escaped


@dataclass(frozen=True)
class TextEnding:
    """``tokens`` as displayed, a leading space as ``·``; ``note`` is shown under the name."""

    name: str
    note: str
    tokens: Sequence[str]


def continuations(ways: Sequence[TextEnding], *, differs_at: int | None, heading: str, beside: str = "") -> str:
    """HTML of the continuations; token number ``differs_at`` is marked in each, and what follows is faint.

    Strings are escaped here.
    """
    rows = []
    for kind, way in zip(("first", "second", "third"), ways, strict=False):
        name = f'<th scope="row"><b>{escaped(way.name)}</b><span>{escaped(way.note)}</span></th>'
        rows.append(f'<tr class="{kind}">{name}<td><div tabindex="0">{_tokens(way.tokens, differs_at)}</div></td></tr>')
    caption = f"<caption>{escaped(heading)} <span>{escaped(beside)}</span></caption>"
    return f'<style>{_css()}</style><table class="atlas-lanes">{caption}<tbody>{"".join(rows)}</tbody></table>'


def _tokens(tokens: Sequence[str], differs_at: int | None) -> str:
    if differs_at is None:
        return _plain(tokens)
    marked = "".join(f"<mark>{_plain([token])}</mark>" for token in tokens[differs_at : differs_at + 1])
    return f'{_plain(tokens[:differs_at])}{marked}<span class="past">{_plain(tokens[differs_at + 1 :])}</span>'


def _plain(tokens: Sequence[str]) -> str:
    return escaped("".join(tokens)).replace("·", " ")


@cache
def _css() -> str:
    return (Path(__file__).parent / "continuations.css").read_text(encoding="utf-8")
