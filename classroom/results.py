"""The answers of a class as a CSV file: a row for each answer of a question, or, with names, for each student."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

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
    "name": N_("name"),
    "vote": N_("vote"),
}
OF_MODEL = ("model", "bits", "measured", "off")


def results_csv(polls: Sequence[Poll], words: Mapping[str, str]) -> bytes:
    """UTF-8 with its mark; ``words`` are the headings translated. Names stand in it only where they were asked for."""
    first = ("number", "question", "text", "answer", "first", "second", *OF_MODEL)
    rows = [[words[name] for name in first]]
    for number, poll in enumerate(polls, 1):
        about = [str(number), poll.question.words, poll.question.text]
        rows += [[*about, bar.label, *_counts(bar), *_of_model(bar)] for bar in poll.every_bar()]
    if any(poll.named for poll in polls):
        rows += [[], [words[name] for name in ("number", "question", "name", "vote", "answer", *OF_MODEL)]]
        for number, poll in enumerate(polls, 1):
            rows += [[str(number), poll.question.words, *row] for row in _by_name(poll)]
    lines = [",".join(map(csv_cell, row)) for row in rows]
    return "\r\n".join([*lines, ""]).encode("utf-8-sig")


def _counts(bar: Bar) -> list[str]:
    first, *rest = bar.counts
    return [str(first), str(rest[-1]) if rest else ""]


def _of_model(bar: Bar) -> list[str]:
    return [_number(value) for value in (bar.probability, bar.bits, bar.measured, bar.off)]


def _by_name(poll: Poll) -> list[list[str]]:
    if not poll.named:
        return []
    found: list[list[str]] = []
    for vote, kept in enumerate(poll.votes, 1):
        for answer, name in sorted(kept.values(), key=lambda given: given[1].casefold()):
            bar = poll.bar(answer)
            found.append([name, str(vote), bar.label, *_of_model(bar)])
    return found


def _number(value: float) -> str:
    return "" if math.isnan(value) else f"{value:.6g}"
