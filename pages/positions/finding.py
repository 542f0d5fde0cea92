"""The findings of the page Positions: what each view shows of the open head, with its numbers."""

from __future__ import annotations

import math
from html import escape

import numpy as np

from analysis.distance_curves import DistanceCurves
from analysis.number_text import significant
from analysis.score_by_frequency import FrequencyMap
from model_runner.substitution import NoSoftmax
from ui.shared.finding import key_name, query_name, show_finding
from ui.shell.page import PageContext
from ui.wording.i18n import _


def show_turned(opened: PageContext, theta: np.ndarray, token: int, position: int) -> None:
    """What this position turns and why, then how many turns it makes. ``theta`` [pairs] is in radians per position."""
    words = _("Position {position} turns the query and key of {token}, so that scores depend on distance")
    if position == 0:
        words = _("Position 0 leaves the query and key of {token} as they are; later ones turn them")
    said = words.format(position=f"{position:,}", token=query_name(opened.capture, token))
    fast, slow = (significant(position * one / (2 * math.pi), 3) for one in (theta.max(), theta.min()))
    beside = _("the fastest pair of dimensions makes {fast} turns, the slowest {slow}")
    _show(opened, said, beside.format(fast=fast, slow=slow))


def show_score(opened: PageContext, query: int, key: int) -> None:
    """The score of the two tokens at this distance; nothing if there is none or it is not finite."""
    try:
        score = float(opened.capture.scores(opened.layer, opened.head)[query, key])
    except NoSoftmax:
        return
    if not math.isfinite(score):
        return
    words = _("{query} scores {score} with {key} whenever they are {count} apart")
    said = words.format(score=_score(score), count=abs(query - key), **_names(opened, query, key))
    _show(opened, said, _("move both: nothing changes"))


def show_largest_pair(opened: PageContext, found: FrequencyMap, key: int) -> None:
    """Which pair of dimensions adds most to the score before the soft-cap; nothing for a masked key."""
    if not found.keep[key]:
        return
    parts = found.contributions[:, key]
    pair = int(np.argmax(parts))
    words = _("Pair {pair} adds {part} of the {score} that {query} scores with {key}")
    said = words.format(
        pair=pair, part=_score(parts[pair]), score=_score(found.scaled[key]), **_names(opened, found.query, key)
    )
    turn = found.theta[pair]
    beside = _("one turn in {count} tokens").format(count=f"{2 * math.pi / turn:,.0f}") if turn > 0 else ""
    _show(opened, said, beside)


def show_peak(opened: PageContext, curves: DistanceCurves) -> None:
    """The distance, of those drawn, at which the open head's score is largest."""
    scores, distances = curves.scores[opened.head], curves.distances
    peak = int(scores.argmax())
    words = _("{head} scores highest at distance {peak}: {score}; at {far} it is {end}")
    said = words.format(
        head=_head(opened),
        peak=f"{distances[peak]:,}",
        score=_score(scores[peak]),
        far=f"{distances[-1]:,}",
        end=_score(scores[-1]),
    )
    show_finding(escape(said), escape(_("the same vectors at other distances")))


def _show(opened: PageContext, said: str, beside: str) -> None:
    show_finding(said, " · ".join(filter(None, [_head(opened), escape(beside)])))


def _head(opened: PageContext) -> str:
    return f"L{opened.layer}H{opened.head}"


def _names(opened: PageContext, query: int, key: int) -> dict[str, str]:
    return {"query": query_name(opened.capture, query), "key": key_name(opened.capture, key)}


def _score(score: float) -> str:
    return f"{score:.2f}".replace("-", "−")
