"""A question to a class as bytes, including the model's answers, so that it can be revealed without the model."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable
from dataclasses import fields
from typing import Any

from classroom.answers import AnswerKind, Heads, Options, TypedNumbers
from classroom.poll import ClassQuestion
from classroom.vocabulary import Vocabulary

OF_MODEL = ("probability", "measured")  # fields that are functions of an answer
ANSWERS: dict[str, type[Options] | type[Heads] | type[Vocabulary]] = {
    "options": Options,
    "heads": Heads,
    "vocabulary": Vocabulary,
}


def packed(question: ClassQuestion) -> bytes:
    """Serialize the question; functions of the answer become a list over all possible answers."""
    answers = question.answers
    told = {one.name: getattr(question, one.name) for one in fields(question) if one.name not in ("answers", *OF_MODEL)}
    told |= {name: _table(getattr(question, name), answers) for name in OF_MODEL}
    told["likeliest"] = list(question.likeliest)
    told["answers"] = answers.kept()
    return zlib.compress(json.dumps(told).encode("ascii"), 1)


def unpacked(data: bytes) -> ClassQuestion:
    """Restore a serialized question. Raises ValueError, KeyError, TypeError or zlib.error if it is invalid."""
    told: dict[str, Any] = json.loads(zlib.decompress(data))
    kind, kept = told["answers"]
    answers = TypedNumbers() if kind == "typed" else ANSWERS[kind](kept)
    of_model = {name: _function(told[name], answers) for name in OF_MODEL}
    parts: dict[str, Any] = {**told, "answers": answers, **of_model}
    return ClassQuestion(**parts)


def _table(of: Callable[[str], float] | None, answers: AnswerKind) -> list[float] | None:
    return None if of is None else [of(value) for value in answers.values() or ["0"]]


def _function(table: list[float] | None, answers: AnswerKind) -> Callable[[str], float] | None:
    """Restore a function of the answer; for typed numbers it is constant: the true number."""
    if table is None:
        return None
    held = dict(zip(answers.values(), table, strict=False))
    return held.__getitem__ if held else lambda _typed: table[0]
