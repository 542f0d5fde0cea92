"""Edited entries of small matrices, as the URL holds them: ``X01_1.5~Q00_-2``.

Each entry is a letter for the matrix (as in viz/components/step_by_step/edits.js), its row and column, and the number.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import TypeVar

from ui.state.page_state import State, change, tell
from ui.state.url_parsing import short
from ui.wording.i18n import _
from viz.components.step_by_step.step_by_step import MOST

LETTERS = "XQKVOSPGFBDE"
EDIT = re.compile(rf"([{LETTERS}])([0-7])([0-7])_(-?\d{{1,6}}(?:\.\d{{1,15}})?(?:e-?\d{{1,3}})?)", re.ASCII)

Change = tuple[str, int, int, float]
T = TypeVar("T")


def changes_of(written: str, letters: str) -> tuple[list[Change], list[str]]:
    """Parse the edited entries of these matrices; return them and the parts that could not be parsed."""
    found: list[Change] = []
    wrong: list[str] = []
    for part in filter(None, written.split("~")):
        read = EDIT.fullmatch(part)
        value = float(read[4]) if read is not None else math.inf
        if read is None or read[1] not in letters or not abs(value) <= MOST:
            wrong.append(part)
        else:
            found.append((read[1], int(read[2]), int(read[3]), value))
    return found, wrong


def readable_changes(kind: type[State], written: str, letters: str) -> str:
    """Return the readable entries of a page's field ``numbers``; report and drop the others."""
    wrong = changes_of(written, letters)[1]
    if not wrong:
        return written
    kept = "~".join(part for part in written.split("~") if part and part not in wrong)
    change(kind, numbers=kept)
    words = _("“{value}” is not a valid number here; it was left out.")
    tell(kind, words.format(value=short("~".join(wrong))))
    return kept


def with_changes(numbers: T, written: str, names: Mapping[str, str], letters: str) -> T:
    """Apply the edits to the tables of ``numbers`` (``letters``: letter → field), ignoring entries out of range."""
    for letter, row, column, value in changes_of(written, letters)[0]:
        table = getattr(numbers, names[letter]) if letter in names else None
        if table is not None and row < table.shape[0] and column < table.shape[1]:
            table[row, column] = value
    return numbers
