"""The small numbers of the page Step by step: the usual ones, and those that a reader changed, as the address has them.

``X01_1.5~Q00_-2``: the matrix (X, Q, K, V, O), its row and column, the number. S is the row of scores of the view
softmax, P the row of products of the view why √d.
"""

from __future__ import annotations

import math
import re
from typing import Any, Literal

from attention.small_attention import ExampleNumbers, usual_numbers
from pages.steps.state import StepsState, state
from ui.state.page_state import change, tell
from ui.state.url_parsing import short
from ui.wording.i18n import _
from viz.components.step_by_step.step_by_step import MOST

NAMES = {"X": "x", "Q": "w_q", "K": "w_k", "V": "w_v", "O": "w_o"}
EDIT = re.compile(r"([XQKVOSP])([0-7])([0-7])_(-?\d{1,6}(?:\.\d{1,15})?(?:e-?\d{1,3})?)", re.ASCII)

Change = tuple[str, int, int, float]


def changes_of(written: str) -> tuple[list[Change], list[str]]:
    """What an address says was changed, and the parts of it that are no number in a place."""
    found: list[Change] = []
    wrong: list[str] = []
    for part in filter(None, written.split("~")):
        read = EDIT.fullmatch(part)
        value = float(read[4]) if read is not None else math.inf
        if read is None or not abs(value) <= MOST:
            wrong.append(part)
        else:
            found.append((read[1], int(read[2]), int(read[3]), value))
    return found, wrong


def changed() -> str:
    """The changes of the address as far as they can be read; what cannot is said and dropped."""
    written = state().numbers
    wrong = changes_of(written)[1]
    if not wrong:
        return written
    kept = "~".join(part for part in written.split("~") if part and part not in wrong)
    change(StepsState, numbers=kept)
    words = _("“{value}” is no change of a number here; it was left out.")
    tell(StepsState, words.format(value=short("~".join(wrong))))
    return kept


def numbers_of(n_tokens: int, d_model: int, written: str) -> ExampleNumbers:
    """The usual numbers of these sizes with these changes; those of places that there are not now are passed over."""
    numbers = usual_numbers(n_tokens, d_model)
    for letter, row, column, value in changes_of(written)[0]:
        if letter not in NAMES:
            continue
        table = getattr(numbers, NAMES[letter])
        if row < table.shape[0] and column < table.shape[1]:
            table[row, column] = value
    return numbers


def row_of(letter: Literal["S", "P"], usual: Any, written: str) -> Any:
    """The one row of a view, a tensor, with these changes."""
    row = usual.clone()
    for name, line, column, value in changes_of(written)[0]:
        if name == letter and line == 0 and column < len(row):
            row[column] = value
    return row
