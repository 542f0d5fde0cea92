"""The columns of charts at the reveal: the same answers in the same order, one chart per vote and one for the model."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import mean, median

from classroom.number_groups import NumberGroups, number_groups
from classroom.poll import Bar, Poll
from ui.wording.i18n import _
from ui.wording.sentences import number
from viz.distribution import percent
from viz.share_text import share_digits as hundredths

CLASS, MODEL = 0, 1  # colours among the theme's series
FEW = 3  # up to this many wrong answers are listed with their distances


@dataclass(frozen=True)
class Column:
    """A named chart of bars with its caption; ``colors`` has one entry per bar. ``share``: values are shares."""

    name: str
    about: str
    labels: list[str]
    values: list[float]
    words: list[str]
    colors: list[int]
    share: bool = True


def columns_of(poll: Poll) -> list[Column]:
    """Return a column for each vote, then the model's."""
    names = [_("The class")] if len(poll.votes) == 1 else [_("First vote"), _("Second vote")]
    if poll.question.kind == "number":
        return _of_numbers(poll, names)
    bars = poll.bars()
    labels = [bar.label for bar in bars]
    found = [
        _counted(name, _of_class(poll, vote), labels, [bar.counts[vote] for bar in bars], [], len(poll.votes[vote]))
        for vote, name in enumerate(names)
    ]
    values = [bar.probability if math.isnan(bar.measured) else bar.measured for bar in bars]
    values = [0.0 if math.isnan(value) else value for value in values]
    words = [_of_model(poll, bar) for bar in bars]
    share = poll.question.probability is not None or poll.question.unit == "share"
    return [*found, Column(_("The model"), poll.question.told, labels, values, words, [MODEL] * len(bars), share)]


def _of_numbers(poll: Poll, names: list[str]) -> list[Column]:
    """Chart the typed numbers in order of size, the true one in the model's colour, with their distances from it."""
    true = float(poll.question.likeliest[0])
    groups = number_groups(poll.bars(), true)
    labels = [_signed(row.label) for row in groups.rows]
    true_ones = [place for place, row in enumerate(groups.rows) if row.true]
    found = [
        _counted(
            name, _of_typed(poll, vote, groups), labels, [row.counts[vote] for row in groups.rows], true_ones,
            len(poll.votes[vote]),
        )
        for vote, name in enumerate(names)
    ]  # fmt: skip  # one call an item
    words = [
        _("so it is") if row.true else _("off by {distance}").format(distance=_short(row.off)) for row in groups.rows
    ]
    off = [0.0 if row.true else row.off for row in groups.rows]
    about = _("{number}; beside it, how far each answer is from it").format(number=_signed(f"{true:.6g}"))
    colors = [MODEL if row.true else CLASS for row in groups.rows]
    return [*found, Column(_("The true number"), about, labels, off, words, colors, share=False)]


def _counted(
    name: str, about: str, labels: list[str], counts: Sequence[int], marked: Sequence[int], whole: int
) -> Column:
    """Chart answers by their counts. Shares are of all answers; the caption counts those that are not drawn."""
    if hidden := whole - sum(counts):
        about += " · " + _("not drawn: {count}").format(count=hidden)
    whole = max(1, whole)
    colors = [MODEL if place in marked else CLASS for place in range(len(counts))]
    words = [f"{count} · {_('{number} %').format(number=hundredths(count / whole))}" for count in counts]
    return Column(name, about, labels, [count / whole for count in counts], words, colors)


def _of_model(poll: Poll, bar: Bar) -> str:
    if poll.question.kind == "ablate":
        return _("so it is") if bar.probability else ""
    if poll.question.kind == "head":
        # other heads may have the same rounded value, so the largest is marked
        found = number(bar.measured, poll.question.unit)
        return f"{found} · {_('so it is')}" if bar.value == poll.question.likeliest[0] else found
    bits = "∞" if math.isinf(bar.bits) else f"{bar.bits:.1f}"
    return _("{share} · {bits} bits").format(share=percent(bar.probability, _("{number} %")), bits=bits)


def _of_class(poll: Poll, vote: int) -> str:
    """Summarize the class: mean surprisal or metric of its answers, or how many were right."""
    given = poll.given(vote)
    surprise = poll.surprise(vote)
    if surprise is None:
        return _("no answers")
    if poll.question.kind == "ablate":
        right = sum(bar.probability > 0 for bar in given)
        return _("{right} of {count} right").format(right=right, count=len(given))
    if poll.question.kind == "head":
        value = number(mean(bar.measured for bar in given), poll.question.unit)
        return _("answers: {count} · on average the chosen heads have {value}").format(count=len(given), value=value)
    bits = "∞" if math.isinf(surprise) else f"{surprise:.2f}"
    return _("answers: {count} · surprise: {bits} bits").format(count=len(given), bits=bits)


def _of_typed(poll: Poll, vote: int, groups: NumberGroups) -> str:
    """Say how many were right, and how far off the others are: each of a few, otherwise the median."""
    given = poll.given(vote)
    if not given:
        return _("no answers")
    off = sorted(0.0 if bar.right else bar.off for bar in given)
    words = [_("answers: {count} · right: {right}").format(count=len(off), right=off.count(0.0))]
    if len(off) <= FEW:
        words += [_("off by {distance}").format(distance=_short(one)) for one in off if one]
    elif median(off):
        words += [_("half of them are off by at most {distance}").format(distance=_short(median(off)))]
    if groups.step:
        words += [_("drawn rounded to {step}").format(step=f"{groups.step:g}")]
    return " · ".join(words)


def _short(value: float) -> str:
    return _signed(f"{value:,.0f}" if 1000 <= value < 1e6 else f"{value:.3g}")


def _signed(digits: str) -> str:
    """Replace hyphens by minus signs, those of exponents included."""
    return digits.replace("-", "−")
