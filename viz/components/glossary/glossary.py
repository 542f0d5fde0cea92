"""The glossary: terms are explained where they occur, and in one list.

It observes the whole page, including shadow roots, so views do not need to know about it: hovering a term shows its
definition, and the first occurrence on the page has a dotted underline. Keyboard users reach the list.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from viz.components.glossary.term import GlossaryTerm
from viz.components.glossary.terms import TERMS
from viz.components.picture import Picture, Texts
from viz.components.source import read_source

N_ = str

TEXTS: dict[str, str] = {"open": N_("Glossary"), "close": N_("Close")}

SOURCE = read_source(Path(__file__).parent, "glossary", '<div class="glossary"></div>\n')

_BOTH = re.compile(r"([^\x00-\x7f]+) ([A-Za-z -]+)")  # a term and its English name


def terms_in(translate: Callable[[str], str]) -> tuple[GlossaryTerm, ...]:
    """The terms in a language with their English names; the screen may show "熵 entropy" or either part."""
    return tuple(map(partial(_translated, translate), TERMS))


def _translated(translate: Callable[[str], str], term: GlossaryTerm) -> GlossaryTerm:
    names: list[str] = []
    for name in term.names:
        here = translate(name)
        both = _BOTH.fullmatch(here)
        names += [here, *(both.groups() if both else ()), name]
    return replace(term, names=tuple(dict.fromkeys(names)), meaning=translate(term.meaning))


@dataclass(frozen=True, eq=False)
class GlossaryPicture(Picture):
    """The terms in the reader's language, in the order of the list."""

    terms: Sequence[GlossaryTerm]
    texts: Texts
