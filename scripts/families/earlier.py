"""Results of an earlier sweep, for the families that this one does not try."""

from __future__ import annotations

import json
from collections.abc import Container, Sequence
from pathlib import Path

from scripts.families.own_sizes import FORMS
from scripts.families.trying import Tried

FORM_OF = {form.name: form.family for form in FORMS}


def earlier(written: Path, only: Container[str]) -> tuple[list[Tried], list[Tried]]:
    """The rows of families that are not in ``only``, and those of forms, parsed from a table of this script."""
    found: list[Tried] = []
    forms: list[Tried] = []
    for line in written.read_text("utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split(" | ")] if line.startswith("| ") else []
        if len(cells) != 4 or cells[0] in ("family", "form", "---"):
            continue
        one = Tried(cells[1], cells[0], cells[2], cells[3])
        (forms if one.family in FORM_OF else found).append(one)
    return (
        [one for one in found if one.family not in only],
        [one for one in forms if FORM_OF[one.family] not in only],
    )


def in_order(forms: Sequence[Tried]) -> list[Tried]:
    """In the order of FORMS."""
    names = list(FORM_OF)
    return sorted(forms, key=lambda one: names.index(one.family))


def still_refused(table: Path, found: Sequence[Tried]) -> list[tuple[str, str, str]]:
    """(mapping, family, reason) of those of ``found`` that the earlier sweep refused for any sizes."""
    refused = json.loads(table.read_text("utf-8"))["refused"]
    return [(one.mapping, one.family, one.said) for one in found if one.outcome == "refused" and one.family in refused]
