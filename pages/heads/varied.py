"""An example with one word changed: the head's attention and the prediction, compared with the original."""

from __future__ import annotations

from html import escape

from analysis.joined import first_query
from analysis.read_head import WEIGHTS
from analysis.sentences import joined
from analysis.stories import (
    BEGINS,
    CLEAR,
    ELSEWHERE,
    FURTHER_DOWN,
    LESS_THERE,
    LISTED,
    NOT_LISTED,
    NOW_AFTER,
    NOW_NEXT,
    OTHER_HEAD,
    STILL_AFTER,
    STILL_NEXT,
    STILL_THERE,
    VARIED,
    Look,
    Varied,
    evidence_of,
    varied_in,
)
from ui.shared import cached
from ui.shared.finding import key_name, query_name
from ui.shared.head_views import DrawnHead
from ui.shell.page import PageContext
from ui.wording.i18n import _
from ui.wording.sentences import number
from viz.distribution import percent
from viz.token_text import lone_spaces


def varied_words(drawn: DrawnHead, query: int) -> str:
    """What to say about the token that the example is about, if the example's own head is open; HTML."""
    opened = drawn.opened
    found = cached.made(
        ("varied", repr(opened.capture.request)), lambda: varied_in(opened.capture, opened.runner.token_text)
    )
    if found is None or (drawn.read.reading, drawn.read.other) != (WEIGHTS, None):
        return ""
    if (opened.layer, opened.head) != found.variation.head or query != found.query:
        return ""
    said = _(VARIED).format(
        old=_plain(found.variation.old),
        new=_plain(found.variation.new),
        at="" if found.at is None else f"\u00a0({found.at})",
    )
    return joined(said, _look(opened, found), _next(opened, found), _other(opened, found))


def _look(opened: PageContext, found: Varied) -> str:
    if found.looks is None or found.looks_before is None:
        return ""
    words = ELSEWHERE
    if found.there:
        words = STILL_THERE if found.looks.weight >= CLEAR else LESS_THERE
    return _(words).format(**_both(opened, found.looks, found.looks_before, found))


def _both(opened: PageContext, looks: Look, before: Look, found: Varied) -> dict[str, str]:
    """What the head attends to here and in the original."""
    return {
        "value": f"<b>{escape(number(looks.weight, 'share'))}</b>",
        "key": key_name(opened.capture, looks.key),
        "before": f"<b>{escape(number(before.weight, 'share'))}</b>",
        "key_before": _name_before(before, found),
    }


def _name_before(look: Look, found: Varied) -> str:
    """A token of the original, formatted like :func:`key_name`."""
    word = look.token.strip("·")
    place = f"\u00a0({look.key})" if found.variation.times(word) > 1 else ""
    return f"<span class='atlas-k'>{_('“{token}”').format(token=_plain(word))}{place}</span>"


def _next(opened: PageContext, found: Varied) -> str:
    """The prediction here and in the original; if the head copied its token there, say that it does not here."""
    here, before, whole = found.next, found.next_before, found.variation.example.goes_on.strip()
    values = {"next": _token(here.token), "value": _share(here.probability), "before": _share(before.probability)}
    between = first_query(opened.capture) > 0  # the page's list predicts the token after the end
    if between:
        values["query"] = query_name(opened.capture, found.query)
    if here.token == before.token:
        return _(STILL_AFTER if between else STILL_NEXT).format(**values)
    was = _token(before.token)
    if whole and whole != before.token.strip("·"):
        was = _(BEGINS).format(next=was, whole=escape(whole))
    said = _(NOW_AFTER if between else NOW_NEXT).format(**values, next_before=was)
    if not found.copies or found.looks is None or found.looks.token.strip("·") == here.token.strip("·"):
        return said
    looked = key_name(opened.capture, found.looks.key)
    if found.listed is None:
        return joined(said, _(NOT_LISTED).format(key=looked, count=LISTED))
    return joined(said, _(FURTHER_DOWN).format(key=looked, value=_share(found.listed)))


def _other(opened: PageContext, found: Varied) -> str:
    """The other of two answers, and that neither head's attention caused the original's, if that was measured."""
    evidence = evidence_of(opened.capture.request.model or "", found.variation.example.text)
    if found.other is None or evidence is None or evidence.other is None:
        return ""
    shares = evidence.without, evidence.probability
    alike = _share(shares[0]) == _share(shares[1])
    after, before = (
        f"<b>{_('{number} %').format(number=f'{100 * one:.1f}')}</b>" if alike else _share(one) for one in shares
    )
    return _(OTHER_HEAD).format(
        other=f"L{evidence.other[0]}H{evidence.other[1]}",
        head=f"L{evidence.heads[0][0]}H{evidence.heads[0][1]}",
        next=_token(evidence.next),
        after=after,
        probability=before,
        **_both(opened, *found.other, found),
    )


def _token(token: str) -> str:
    return f"<b>{_plain(lone_spaces(token))}</b>"


def _plain(word: str) -> str:
    return f"<bdi>{escape(word)}</bdi>"


def _share(probability: float) -> str:
    """Formatted as its bar."""
    return f"<b>{escape(percent(probability, _('{number} %')))}</b>"
