"""A question to a class as bytes: with what the model answers, so that it can be revealed without the model."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable
from dataclasses import fields
from typing import Any

from classroom.answers import AnswerKind, Heads, Options, TypedNumbers
from classroom.poll import ClassQuestion
from classroom.vocabulary import Vocabulary

OF_MODEL = ("probability", "measured")  # fields that are functions of an answer's value
ANSWERS: dict[str, type[Options] | type[Heads] | type[Vocabulary]] = {
    "options": Options,
    "heads": Heads,
    "vocabulary": Vocabulary,
}


def packed(question: ClassQuestion) -> bytes:
    """All of it; what the model has for an answer as a list, in the order of all answers that there are."""
    answers = question.answers
    told = {one.name: getattr(question, one.name) for one in fields(question) if one.name not in ("answers", *OF_MODEL)}
    told |= {name: _table(getattr(question, name), answers) for name in OF_MODEL}
    told["likeliest"] = list(question.likeliest)
    told["answers"] = answers.kept()
    return zlib.compress(json.dumps(told).encode("ascii"), 1)


def unpacked(data: bytes) -> ClassQuestion:
    """The question that was packed. Raises ValueError, KeyError, TypeError or zlib.error for anything else."""
    told: dict[str, Any] = json.loads(zlib.decompress(data))
    kind, kept = told["answers"]
    answers = TypedNumbers() if kind == "typed" else ANSWERS[kind](kept)
    of_model = {name: _function(told[name], answers) for name in OF_MODEL}
    parts: dict[str, Any] = {**told, "answers": answers, **of_model}
    return ClassQuestion(**parts)


def _table(of: Callable[[str], float] | None, answers: AnswerKind) -> list[float] | None:
    return None if of is None else [of(value) for value in answers.values() or ["0"]]


def _function(table: list[float] | None, answers: AnswerKind) -> Callable[[str], float] | None:
    """Of a typed number it is the true one, whatever was typed."""
    if table is None:
        return None
    held = dict(zip(answers.values(), table, strict=False))
    return held.__getitem__ if held else lambda _typed: table[0]
