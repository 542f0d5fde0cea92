"""The results of the sweep that hold for every model of a family: model_runner/local/loading/known_families.json."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from model_runner.local.loading.class_of_family import NO_TEXT
from model_runner.local.recording.mismatch_reason import CHANGES
from model_runner.local.recording.model_inspection import MORE_KEYS
from scripts.families.own_sizes import FORMS, OTHERWISE
from scripts.families.trying import OUTCOMES, Tried, tried_with

UNSURE = {"encoder-decoder"}  # depends on the parts, which may be any two models
OF_SIZES = (CHANGES, MORE_KEYS)  # reasons that may not apply to other sizes or kinds of layers


def to_be_asked(found: Sequence[Tried]) -> list[tuple[str, str, str]]:
    """(mapping, family, reason) of what may be refused for any sizes: those without a reason of OF_SIZES."""
    refused = [one for one in found if one.outcome == "refused"]
    return [
        (one.mapping, one.family, one.said)
        for one in refused
        if one.said not in OF_SIZES and one.family not in UNSURE and one.family not in NO_TEXT
    ]


def refused_otherwise(mapping: str, family: str) -> bool:
    """Whether it is also refused with other settings, those of OTHERWISE."""
    return family not in OTHERWISE or tried_with(mapping, family, OTHERWISE[family]).outcome not in OUTCOMES[:2]


def known(found: Sequence[Tried], forms: Sequence[Tried], always: Sequence[tuple[str, str, str]]) -> str:
    """The table as JSON; ``always`` are those of :func:`to_be_asked` that stay refused."""
    said = {one.family: one for one in forms}
    free = {form.family for form in FORMS if form.name in said and said[form.name].outcome in OUTCOMES[:2]}
    refused: dict[str, dict[str, Any]] = {
        family: {"reason": reason, "where": {}} for _, family, reason in always if family not in free
    }
    for form in FORMS:
        if form.where and form.name in said and said[form.name].outcome == "refused":
            refused[form.family] = {"reason": said[form.name].said, "where": form.where}
    captured = sorted(one.family for one in found if one.outcome in OUTCOMES[:2] and one.family not in UNSURE)
    text = json.dumps({"captured": captured, "refused": dict(sorted(refused.items()))}, indent=1, ensure_ascii=False)
    return text + "\n"
