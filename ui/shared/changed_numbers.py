"""Numbers of small matrices that a reader changed, as the address has them: ``X01_1.5~Q00_-2``.

A letter for the matrix (viz/components/step_by_step/edits.js has the same), its row and column, the number.
"""

from __future__ import annotations

import math
import re

from viz.components.step_by_step.step_by_step import MOST

LETTERS = "XQKVOSPGFBDE"
EDIT = re.compile(rf"([{LETTERS}])([0-7])([0-7])_(-?\d{{1,6}}(?:\.\d{{1,15}})?(?:e-?\d{{1,3}})?)", re.ASCII)

Change = tuple[str, int, int, float]


def changes_of(written: str, letters: str) -> tuple[list[Change], list[str]]:
    """What an address says was changed of these matrices, and the parts of it that are no number in a place."""
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
