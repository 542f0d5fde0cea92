"""Why the open head is open, and what it does on this text: a line below its name."""

from __future__ import annotations

from html import escape

from analysis.head_habit import FEWEST, Habit, Habits, head_habits
from analysis.opening import opening_query
from analysis.sentences import joined
from analysis.stories import why_first
from model_runner.capture import COMPRESSED
from ui.shared import cached
from ui.shell.page import PageContext
from ui.wording.i18n import _
from ui.wording.sentences import number
from viz.token_text import lone_spaces

N_ = str  # marks a text for Babel without translating it here

NEAR = {
    0: N_("the token itself"),
    -1: N_("the token before"),
    -2: N_("two tokens back"),
    1: N_("the token after"),
    2: N_("two tokens ahead"),
}
HABIT = N_("Habit on this text, not on every text: {rule}, in {share} of the rows ({hits} of {rows}).")
NO_HABIT = N_("No clear habit on this text; most often {rule}, in {share} of the rows ({hits} of {rows}).")
REPEATS = {
    "copy": N_("{hits} of the {rows} rows with an earlier copy of their token look most at that copy."),
    "after_copy": N_(
        "{hits} of the {rows} rows with an earlier copy of their token look most at what followed that copy."
    ),
}
WHY = {
    "story": N_("Why this head: the example is about it."),
    "varied": N_("Why this head: the text changes one word of an example that opens on this head."),
    "far": N_(
        "Why this head: of all heads, {query} gives one token the most attention here, not counting itself, its "
        "neighbours and special tokens."
    ),
    "any": N_("Why this head: of all heads, {query} gives one token the most attention here."),
    "in_turn": N_(
        "Why this head: of all heads, this one comes closest to attending strongly to every token of the text in turn."
    ),
    "blocks": N_(
        "Why this head: of all heads, this one comes closest to attending strongly to every key of "
        "several tokens in turn."
    ),
}


def habit_line(opened: PageContext) -> str:
    """The line, HTML; empty for a very short text and for a head that the reader chose."""
    words = joined(_habit(opened), _why(opened))
    return f"<p class='atlas-caption atlas-habit'>{words}</p>" if words else ""


def habits_of(opened: PageContext) -> Habits:
    """The head's habits, cached."""
    key = ("habits", repr(opened.capture.request), opened.layer, opened.head)
    return cached.made(key, lambda: head_habits(opened.capture, opened.layer, opened.head))


def _habit(opened: PageContext) -> str:
    found = habits_of(opened)
    most, repeats = found.most, found.repeats
    if most is None or found.rows < FEWEST:
        return ""
    words = _(HABIT if most.holds else NO_HABIT).format(
        rule=f"<b>{_rule(opened, most)}</b>",
        share=escape(number(most.share, "share")),
        hits=most.hits,
        rows=most.rows,
    )
    more = "" if repeats is None else escape(_(REPEATS[repeats.kind]).format(hits=repeats.hits, rows=repeats.rows))
    return joined(words, more)


def _rule(opened: PageContext, habit: Habit) -> str:
    """Where the rule says that a row attends; HTML."""
    match habit.kind:
        case "offset" if habit.at in NEAR:
            return escape(_(NEAR[habit.at]))
        case "offset":
            words = _("{count} tokens back") if habit.at < 0 else _("{count} tokens ahead")
            return escape(words.format(count=abs(habit.at)))
        case "first" if opened.capture.request.attention == COMPRESSED:
            return _("the key {key}").format(key=_token(opened, 0))
        case "first":
            return _("the first token, {token}").format(token=_token(opened, 0))
        case "token" if opened.capture.request.attention == COMPRESSED:
            return _("the key {key}").format(key=_token(opened, habit.at))
        case "token":
            return _("the token {token}").format(token=_token(opened, habit.at))
        case _:
            return escape(_("punctuation"))


def _token(opened: PageContext, position: int) -> str:
    return f"<bdi>{escape(lone_spaces(opened.capture.tokens[position].text))}</bdi> ({position})"


def _why(opened: PageContext) -> str:
    """Why a page opens this head; empty for any other head, and with an edited model, for which the unedited one's head
    opens.
    """
    capture = opened.capture
    if capture.request.edits:
        return ""
    place, rule = cached.made(("first_head", repr(capture.request)), lambda: why_first(capture))
    if place != (opened.layer, opened.head):
        return ""
    query = f"<span class='atlas-q'>{_token(opened, opening_query(capture))}</span>"
    return _(WHY[rule]).format(query=query)
