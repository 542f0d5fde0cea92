"""The three questions to a class, each with what the model answers on this text."""

from __future__ import annotations

from analysis.comparison import output_position
from analysis.predictions import Distribution, of_ablation, of_looks, of_next_token
from classroom.poll import Question
from classroom.room import Room
from classroom.vocabulary import Vocabulary
from model_runner import RunnerError
from model_runner.edits import ScaledHead
from pages.classroom.sidebar import PROBLEM
from ui import cached, session
from ui.i18n import _
from ui.page import PageContext, edited, open_page, settle
from ui.wording import sentence

N_ = str  # marks a text for Babel without translating it here

SHOWN = 8  # of the model's likeliest answers
MOST_KEYS = 200  # that a phone can show to be tapped on
NO_NEXT = N_("This model does not predict a next token.")
TOO_LONG = N_("This text has too many tokens to tap on one of them: choose a shorter one.")


class NotHere(Exception):
    """Why this cannot be asked about this text, in one sentence."""


def ask(room: Room, kind: str) -> None:
    """Ask about what the page looks at; where that cannot be asked, the page says why."""
    opened = open_page()
    try:
        room.ask({"next": _next, "where": _where, "ablate": _ablate}[kind](opened))
    except NotHere as error:
        session.slots()[PROBLEM] = str(error)
    except RunnerError as error:
        session.slots()[PROBLEM] = sentence(error)


def _next(opened: PageContext) -> Question:
    found = _of_next(opened)
    runner = opened.runner
    key = ("vocabulary", runner.info.name, runner.info.revision, len(found.probabilities))
    labels = cached.made(key, lambda: Vocabulary([runner.token_text(id) for id in range(len(found.probabilities))]))
    return Question(
        "next",
        _("Which token comes next?"),
        session.text(),
        (),
        lambda value: float(found.probabilities[int(value)]),
        [str(token) for token in found.likeliest(SHOWN)],
        _entropy(found),
        labels,
    )


def _where(opened: PageContext) -> Question:
    opened, query, _key = settle(opened)
    found, tokens = of_looks(opened.capture, opened.layer, opened.head, query), opened.capture.tokens
    if len(found.probabilities) > MOST_KEYS:
        raise NotHere(TOO_LONG)
    words = _("Where does “{token}” (position {position}) look, in head {head}?")
    head = f"L{opened.layer}H{opened.head}"
    return Question(
        "where",
        words.format(token=tokens[query].text, position=query, head=head),
        session.text(),
        [(str(place), f"{place} {tokens[place].text}") for place in range(len(found.probabilities))],
        lambda value: float(found.probabilities[int(value)]),
        [str(place) for place in found.likeliest(SHOWN)],
        _entropy(found),
    )


def _ablate(opened: PageContext) -> Question:
    before = _of_next(opened)
    token = opened.runner.token_text(before.likeliest(1)[0])
    found = of_ablation(opened.capture, edited(opened, (ScaledHead(opened.layer, opened.head, 0.0),)))
    words = _("Without head {head}: is “{token}” likelier as the next token, or less likely?")
    told = _("{token}: {before} before, {after} without the head; surprise {first} bits, then {second}")
    right = "likelier" if found.likelier else "less"
    first, second = found.bits
    return Question(
        "ablate",
        words.format(head=f"L{opened.layer}H{opened.head}", token=token),
        session.text(),
        [("likelier", _("likelier")), ("less", _("less likely"))],
        lambda value: float(value == right),
        ["likelier", "less"],
        told.format(
            token=token,
            before=f"{found.before:.2%}",
            after=f"{found.after:.2%}",
            first=f"{first:.3f}",
            second=f"{second:.3f}",
        ),
    )


def _of_next(opened: PageContext) -> Distribution:
    if output_position(opened.capture, opened.query) is not None:
        raise NotHere(NO_NEXT)
    return of_next_token(opened.capture)


def _entropy(found: Distribution) -> str:
    return _("unsure by {bits} bits (entropy)").format(bits=f"{found.entropy:.2f}")
