"""The open head in words and as lines, beside its map."""

from __future__ import annotations

from html import escape

import streamlit as st

from analysis.head_grid import HeadGrid
from analysis.head_lines import HeadLines, head_lines
from analysis.joined import first_query
from analysis.layer_names import layer_sentences
from analysis.mask_effect import looks_ahead
from analysis.number_text import figure_number
from analysis.read_head import WEIGHTS
from analysis.sentences import joined
from analysis.stories import BY_HEART, OFTEN, TWO_ANSWERS, WHY, WHY_ANOTHER, Seen, said_in, seen_in
from attention.metrics import Metric
from model_runner import Capture
from model_runner.capture import COMPRESSED
from pages.heads.state import BY_NAME, Other
from pages.heads.varied import varied_words
from ui.shared import cached
from ui.shared.finding import key_name, query_name
from ui.shared.head_views import DrawnHead, sink_note, strongest
from ui.shell.components import mount
from ui.shell.page import PageContext, translated
from ui.state import session
from ui.wording.i18n import _
from ui.wording.sentences import number, with_unit
from viz.components.token_lines import token_lines
from viz.distribution import percent
from viz.token_text import lone_spaces

N_ = str  # marks a text for Babel without translating it here


def finding(drawn: DrawnHead, facts: str) -> tuple[str, str]:
    """What the map shows for the pinned query, and of which head, followed by its ``facts``; HTML."""
    opened, name = drawn.opened, f"L{drawn.opened.layer}H{drawn.opened.head}"
    found = _found(drawn)
    if found is None:
        return name, facts
    query, key, weight = found
    tokens = {"query": query_name(opened.capture, query), "key": key_name(opened.capture, key)}
    said = _("{query} puts {value} on {key}").format(value=escape(number(weight, "share")), **tokens)
    seen = _story(drawn, query, key)
    about = escape(_(seen.story.about)) if seen is not None and seen.story.about else ""
    return said, " · ".join(part for part in (name, about, facts) if part)


def facts_of(opened: PageContext, grid: HeadGrid, metric: Metric) -> str:
    """The open head's metrics; HTML."""
    shown = [metric] if metric.name == "entropy" else [metric, BY_NAME["entropy"]]
    here = [float(grid.metrics[item.name][opened.layer, opened.head]) for item in shown]
    values = [(_(item.label), _as_below_the_grid(value, item.unit)) for item, value in zip(shown, here, strict=True)]
    return " · ".join(escape(f"{label} {value}") for label, value in values)


def _found(drawn: DrawnHead) -> tuple[int, int, float] | None:
    """The pinned query, its pinned or largest key, and the weight; None if the map does not show weights."""
    if drawn.opened.query is None or drawn.read.reading.what == "difference" or drawn.read.other is not None:
        return None
    return strongest(drawn.opened, drawn.read.reading)


def _as_below_the_grid(value: float, unit: str) -> str:
    """Format as the line below the grid: 0.037 bits must not appear as 0.0 beside it."""
    if unit == "share" or value != value:
        return number(value, unit)
    return with_unit(unit).format(number=figure_number(value))


def definition(metric: Metric) -> str:
    """The metric's definition in a line, and its source; HTML."""
    return f"<p class='atlas-caption'>{escape(_(metric.definition))} ({escape(metric.source)})</p>"


def caption(drawn: DrawnHead) -> str:
    """How to read the map, and what it says about the pinned query; HTML."""
    how = _(
        "Each row is a token looking {where}; the stronger the colour, the larger the share of the "
        "token in that column. A share is computed: nobody sees or understands."
    )
    own = drawn.opened.capture.record(drawn.opened.layer).unrolled
    if own is not None and own.signed:
        how = _(
            "Each row is a token looking {where}, as the layer’s recurrence does: indigo cells add the input of their "
            "column, orange cells subtract it."
        )
    if drawn.read.reading.what == "scores":
        how = _("Each row is a token looking {where}; indigo cells score high, orange ones low, before the softmax.")
    if drawn.read.reading.what == "value":
        how = _("Each row is a token looking {where}; the stronger the colour, the more of its value arrives.")
    if drawn.read.reading.what == "difference":
        how = _(
            "Each row is a token looking {where} with both maps of the pair: indigo cells add the value of their "
            "column, orange cells subtract it."
        )
    if drawn.read.other is not None:
        how = _("Each row is a token looking {where}; the colour is the difference of the two heads.")
    how = how.format(where=_where(drawn.opened.capture))
    opened = drawn.opened
    pinned = "" if drawn.read.reading.what == "difference" else _pinned_sentence(drawn)  # of the head's own weights
    origin = [escape(words) for words in layer_sentences(opened.capture, opened.layer, opened.head, _)]
    return f"<p class='atlas-caption atlas-how'>{joined(escape(how), pinned, *origin)}</p>"


def _where(capture: Capture) -> str:
    if first_query(capture) and capture.request.sound is not None:
        return _("at the sound that was heard, to write the next token")
    if capture.request.attention == COMPRESSED:
        return _("back at keys that each stand for several tokens, numbered before the tokens")
    if first_query(capture):
        return _("at the text that was read, to write the next token")
    return _("both ways") if looks_ahead(capture) else _("back")


def _pinned_sentence(drawn: DrawnHead) -> str:
    if drawn.opened.query is None:
        return escape(_("Click a cell or a token to pin it."))
    found = strongest(drawn.opened, drawn.read.reading)
    if found is None:
        return ""
    query, key, weight = found
    named = f"<span class='atlas-q'><bdi>{escape(lone_spaces(drawn.opened.capture.tokens[query].text))}</bdi></span>"
    looks = ""
    if _found(drawn) is None:  # no title says it
        looks = _("{query} puts {value} on {key}.").format(
            query=f"{named} ({query})",
            value=f"<b>{escape(number(weight, 'share'))}</b>",
            key=_looked_at(drawn.opened, key),
        )
    seen = _story(drawn, query, key)
    told = _evidence(drawn.opened, seen) if seen is not None else varied_words(drawn, query)
    return joined(looks, told, _by_heart(drawn.opened, query, named))


def _looked_at(opened: PageContext, key: int) -> str:
    return f"<span class='atlas-k'><bdi>{escape(lone_spaces(opened.capture.tokens[key].text))}</bdi> ({key})</span>"


def _evidence(opened: PageContext, seen: Seen) -> str:
    """What was measured for a story: that the answer depends on the heads it names, or that their attention does not
    cause it.
    """
    evidence = seen.evidence
    if evidence is None or evidence.told == "where":
        return ""
    changed = (evidence.probability, evidence.without, evidence.without_control)
    alike = len({percent(share) for share in changed}) < len({f"{share:.3f}" for share in changed})

    def told(share: float) -> str:
        """Format as the bar does, or with more digits if two different shares would look equal."""
        return f"<b>{escape(_('{number} %').format(number=f'{100 * share:.1f}'))}</b>" if alike else _share(share)

    values = {
        "next": f"<b><bdi>{escape(seen.story.goes_on or evidence.next)}</bdi></b>",
        "before": told(evidence.probability),
        "after": told(evidence.without),
    }
    if evidence.told == "two" and evidence.other is not None:
        return _(TWO_ANSWERS).format(
            head=_heads((evidence.heads[0],)),
            other=_heads((evidence.other,)),
            other_value=f"<b>{escape(number(evidence.other_weight, 'share'))}</b>",
            other_key=_looked_at(opened, evidence.other_key),
            **values,
        )
    return _(WHY_ANOTHER if evidence.instead else WHY).format(
        heads=_heads(evidence.heads),
        control=_heads(evidence.control),
        beside=told(evidence.without_control),
        instead=f"<bdi>{escape(evidence.instead)}</bdi>",
        **values,
    )


def _heads(places: tuple[tuple[int, int], ...]) -> str:
    return " + ".join(f"L{layer}H{head}" for layer, head in places)


def _share(probability: float) -> str:
    return f"<b>{escape(percent(probability, _('{number} %')))}</b>"


def _by_heart(opened: PageContext, query: int, named: str) -> str:
    """The prediction after the last token, for a text chosen because the model knows its continuation."""
    capture = opened.capture
    said = cached.made(("said", repr(capture.request)), lambda: said_in(capture, opened.runner.token_text))
    if said is None or query != len(capture.tokens) - 1:
        return ""
    token, value = escape(said.token), escape(percent(said.probability, _("{number} %")))  # formatted as its bar
    found = {"next": f"<b><bdi>{token}</bdi></b>", "value": f"<b>{value}</b>", "whole": escape(said.whole)}
    return _(OFTEN if said.whole == token.strip("·") else BY_HEART).format(query=named, **found)


def _story(drawn: DrawnHead, query: int, key: int) -> Seen | None:
    """The story that the text was chosen for, if this head's attention shows it."""
    capture = drawn.opened.capture
    seen = cached.made(("story", repr(capture.request)), lambda: seen_in(capture))
    place = (drawn.opened.layer, drawn.opened.head, query, key)
    if seen is None or (seen.layer, seen.head, seen.query, seen.key) != place:
        return None
    return seen if (drawn.read.reading, drawn.read.other) == (WEIGHTS, None) else None


def show_lines(drawn: DrawnHead, other: Other) -> None:
    """Show the same weights as lines; for a long text, those of the tokens around the pinned one."""
    opened = drawn.opened
    heads = [(opened.layer, opened.head), *([other] if other is not None else [])]
    view = head_lines(opened.capture, heads, opened.query, hide_first=drawn.read.reading.hides_first)
    payload = token_lines.TokenLinesPicture(
        queries=list(map(lone_spaces, view.labels)),
        keys=list(map(lone_spaces, view.key_labels)),
        query_offset=view.start,
        key_offset=view.key_start,
        weights=view.weights,
        head_labels=[f"L{layer}H{head}" for layer, head in heads],
        selected=opened.query if view.holds(opened.query) else None,
        looked_at=opened.key if view.holds_key(opened.key) else None,
        texts=translated(token_lines.TEXTS),
        max_height=520,
    ).packed()

    def pin(cell: list[int | None]) -> None:
        query, key = cell
        if query is None:
            query = session.selection().query  # in a long text the pinned query may be outside
        if query is None and key is not None:
            query = view.looks_most_at(key)
        session.move(query=None if query is None else query % len(opened.capture.tokens), key=key)

    on = {"query": lambda q: session.move(query=q, key=None), "cell": pin}
    mount(token_lines.SOURCE, payload, key="token_lines", on=on)
    alone = ""
    if drawn.read.reading.what == "difference":
        alone = _("Lines: only the attention of {head}, not the difference that the map shows.")
        alone = escape(alone.format(head=f"L{opened.layer}H{opened.head}"))
    if words := joined(alone, _listed(opened.capture, view), escape(sink_note(opened))):
        st.html(f"<p class='atlas-caption'>{words}</p>")


def _listed(capture: Capture, view: HeadLines) -> str:
    """Say that not all tokens of a long text are listed, and which share of the query's attention they get; HTML."""
    listed = {*range(view.start, view.start + len(view.labels))}
    listed |= {*range(view.key_start, view.key_start + len(view.key_labels))}
    if len(listed) == len(capture.tokens):
        return ""
    words = escape(_("Showing {count} neighbouring tokens.").format(count=len(view.labels)))
    if view.elsewhere < token_lines.THRESHOLD:
        return words
    query, key = (f"<bdi>{escape(capture.tokens[at].text)}</bdi> ({at})" for at in (view.centre, view.elsewhere_most))
    share = escape(number(view.elsewhere, "share"))
    return joined(
        words, _("{query} puts {share} on others, most of all on {key}.").format(query=query, share=share, key=key)
    )
