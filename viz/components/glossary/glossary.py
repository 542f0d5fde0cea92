"""The glossary: a word of the field is explained where it stands, and all of them in one list.

It looks at the whole page, shadow roots included, so no view needs to know of it: what the pointer rests on is looked
up, and the first time a word stands on the page it has a dotted line. The list is what a keyboard reaches.
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

_BOTH = re.compile(r"([^\x00-\x7f]+) ([A-Za-z -]+)")  # a word and its English name


def terms_in(translate: Callable[[str], str]) -> tuple[GlossaryTerm, ...]:
    """The terms in a language, with their English names: on the screen stands "熵 entropy", or either."""
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
