"""A class's answers as a CSV file: one row per answer of a question, or, with names, per student."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from classroom.poll import Bar, Poll
from viz.export import csv_cell

N_ = str  # marks a text for Babel without translating it here

HEADINGS = {
    "number": N_("question number"),
    "question": N_("question"),
    "text": N_("text"),
    "answer": N_("answer"),
    "first": N_("first vote"),
    "second": N_("second vote"),
    "model": N_("probability in the model"),
    "bits": N_("surprise in bits"),
    "measured": N_("measured in the model"),
    "off": N_("distance from the true number"),
    "before": N_("probability of the token with the head"),
    "after": N_("probability of the token without the head"),
    "asked_of": N_("model"),
    "changed": N_("changes of the model"),
    "layer": N_("layer"),
    "head": N_("head"),
    "asked": N_("time (UTC)"),
    "name": N_("name"),
    "vote": N_("vote"),
}
OF_MODEL = ("model", "bits", "measured", "off")
OF_QUESTION = ("before", "after", "asked_of", "changed", "layer", "head", "asked")

_NUMBER = re.compile(r"-?\d+(\.\d+)?(e[+-]?\d+)?", re.ASCII)  # matches numbers, which are not formulas


def results_csv(polls: Sequence[Poll], words: Mapping[str, str]) -> bytes:
    """CSV in UTF-8 with a byte order mark; ``words`` are the translated headings.

    Names are included only if asked for.
    """
    first = ("number", "question", "text", "answer", "first", "second", *OF_MODEL, *OF_QUESTION)
    rows = [[words[name] for name in first]]
    for number, poll in enumerate(polls, 1):
        about = [str(number), poll.question.words, poll.question.text]
        rows += [
            [*about, _answer(poll, bar), *_counts(bar), *_of_model(poll, bar), *_of_question(poll)]
            for bar in poll.every_bar()
        ]
    if any(poll.named for poll in polls):
        rows += [[], [words[name] for name in ("number", "question", "name", "vote", "answer", *OF_MODEL)]]
        for number, poll in enumerate(polls, 1):
            rows += [[str(number), poll.question.words, *row] for row in _by_name(poll)]
    lines = [",".join(map(_cell, row)) for row in rows]
    return "\r\n".join([*lines, ""]).encode("utf-8-sig")


def _counts(bar: Bar) -> list[str]:
    first, *rest = bar.counts
    return [str(first), str(rest[-1]) if rest else ""]


def _cell(text: str) -> str:
    """A number stays a number, so that a spreadsheet can sum it; other text is quoted and formulas are escaped."""
    return text if _NUMBER.fullmatch(text) else csv_cell(text)


def _answer(poll: Poll, bar: Bar) -> str:
    return bar.value if poll.question.kind == "number" else bar.label


def _of_model(poll: Poll, bar: Bar) -> list[str]:
    """The model's columns. Answers about an ablation are right or wrong: they have no probability and no surprisal."""
    given = (math.nan, math.nan) if poll.question.kind == "ablate" else (bar.probability, bar.bits)
    return [_number(value) for value in (*given, bar.measured, bar.off)]


def _of_question(poll: Poll) -> list[str]:
    asked = poll.question
    at = datetime.fromtimestamp(poll.asked, UTC).strftime("%Y-%m-%d %H:%M:%S")
    where = ["" if place is None else str(place) for place in (asked.layer, asked.head)]
    return [_number(asked.before), _number(asked.after), asked.model, asked.changed, *where, at]


def _by_name(poll: Poll) -> list[list[str]]:
    if not poll.named:
        return []
    found: list[list[str]] = []
    for vote, kept in enumerate(poll.votes, 1):
        for answer, name in sorted(kept.values(), key=lambda given: given[1].casefold()):
            bar = poll.bar(answer)
            found.append([name, str(vote), _answer(poll, bar), *_of_model(poll, bar)])
    return found


def _number(value: float) -> str:
    return "" if math.isnan(value) else f"{value:.6g}"
