"""What if the cache of the page KV cache dropped or rounded what it holds: on the real model, for every window."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any
from weakref import ref

import pandas as pd
import streamlit as st

from analysis.kv_bytes import bytes_read
from analysis.kv_drop import MOST_WINDOWS, Moved, Trial, first_difference, kl_nats, trials, windows
from model_runner import CaptureRequest, GenerateRequest, Token
from model_runner.edits import Edit, KeepLast
from model_runner.errors import EditInvalid
from model_runner.memory import readable
from model_runner.worker import Job
from ui import session
from ui.i18n import _
from ui.inputs import choose, holding, pick
from ui.kv_pull import TICK, Pull
from ui.kv_sizes import Sizes
from ui.page import Opened, edited, guarded
from ui.what_if import offer_everywhere, show_change
from ui.wording import equal_up_to, error_size, plain, sentence
from viz.continuations import Way, continuations
from viz.curves import CONFIG, Line, lines

CONTINUED = 20  # tokens of the greedy continuations


@dataclass(frozen=True)
class Question:
    """A cache that keeps the last ``window`` tokens and the ``sinks`` first ones, or (None) rounds all to int8."""

    window: int | None
    sinks: int

    @property
    def trial(self) -> Trial:
        return Trial(self.window, self.sinks)


class Curve(Pull[Moved]):
    """The next token's move for every window, one forward each; those of a text are kept while it is looked at."""

    def __init__(self, opened: Opened, sinks: int, name: str) -> None:
        self.longest = len(opened.capture.tokens)
        self.trials = trials(self.longest, sinks)
        self.sinks = sinks
        request, before = opened.capture.request, opened.capture.logits(-1)

        def submit(index: int) -> Job[Any] | None:
            if index >= len(self.trials):
                return None
            return opened.runner.kv.submit_logits(replace(request, edits=self.trials[index].edits), session=name)

        super().__init__(submit, lambda index, after: Moved(self.trials[index], kl_nats(before, after)), running=True)

    def of(self, trial: Trial) -> float | None:
        """The KL of this trial, if it was tried."""
        return next((one.kl for one in self.items if one.trial == trial), None)


class Continuations:
    """Greedy continuations of the session's text, by request; a later look finds them."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._known: dict[GenerateRequest, tuple[Token, ...]] = {}

    def get(self, opened: Opened, request: GenerateRequest, say: Callable[[], object]) -> tuple[Token, ...]:
        """The tokens, made one by one. Raises RunnerError; ``say`` may raise to leave."""
        if request not in self._known:
            made: list[Token] = []
            for step in opened.runner.generate(request, session=self._name):
                made.append(step.token)
                say()
            self._known[request] = tuple(made)
        return self._known[request]

    def close(self) -> None:
        """Nothing is under way between two looks."""


def ask(opened: Opened) -> Question:
    """The controls of the view, in a row."""
    last = len(opened.capture.tokens)
    kinds = {"sinks": _("first S + last W"), "last": _("the last W"), "int8": _("all, in int8")}
    kind = choose(_("The cache keeps"), "drop", kinds)
    window = _window(last)
    if last > 1:
        key = holding("kv_keep", window)
        st.slider(
            _("W, tokens"), 1, last, window, key=key, width=260, disabled=kind == "int8",
            on_change=lambda: session.choose("keep", str(st.session_state[key]), ""),
        )  # fmt: skip
    counts = {count: _("S = {count}").format(count=count) for count in ("1", "2", "4", "8")}
    sinks = int(pick(_("Sinks"), "sinks", counts, width=100))
    return Question(None, 0) if kind == "int8" else Question(window, sinks if kind == "sinks" else 0)


def chosen_sinks() -> int:
    """The number of first tokens, whatever is asked."""
    return int(session.choice("sinks", ("1", "2", "4", "8")))


def _window(last: int) -> int:
    """The address's, if it is one; half of the text otherwise, and one sentence why."""
    written, usual = session.written("keep"), max(1, last // 2)
    if written is None:
        return usual
    try:
        window = KeepLast(int(written)).window
    except EditInvalid as error:
        st.info(plain(sentence(error)))
        return usual
    except ValueError:
        st.info(plain(_("“{value}” is not a number for {what}.").format(value=written, what=_("window"))))
        return usual
    return min(window, last)


def show_what_if(opened: Opened, held: Sizes, question: Question) -> Curve:
    """The curve with the question's place on it; beside it the next token, below it the text that follows."""
    sinks = chosen_sinks()
    key = (ref(opened.runner), opened.capture.request, sinks)
    curve = session.works().get("curve", key, lambda name: Curve(opened, sinks, name))
    left, right = st.columns([0.58, 0.42], gap="medium")
    with left:
        draw = st.fragment(_show_curve, run_every=TICK) if curve.running else _show_curve
        draw(curve, question, within=iter([True]))
    with right:
        guarded(lambda: _show_answer(opened, held, question))
    guarded(lambda: _show_texts(opened, question))
    return curve


def _show_curve(curve: Curve, question: Question, *, within: Iterator[bool]) -> None:
    """The curve so far; when the work ends, the whole page runs again, so that it no longer ticks.

    But never ``within`` the page's own run: Streamlit (1.67) drops what that run has not sent yet.
    """
    ticked = not next(within, False)
    if ticked and not curve.running:
        st.rerun()
    if curve.error is not None:
        st.warning(plain(sentence(curve.error)))
    name = _("How far the next token moves")
    note = _("KL from the full cache, in nats")
    tried = (len(curve.trials) - 1) // 2
    if tried < curve.longest:
        note += " · " + _("{count} of {total} windows").format(count=tried, total=curve.longest)
    st.html(f"<div class='atlas-head'><b>{name}</b><span>{note}</span></div>")
    st.plotly_chart(curve_figure(curve, question), key="kv_curve", config=CONFIG, alt=name)
    if curve.running:
        with st.container(key="kv_progress", horizontal=True, vertical_alignment="center", gap="small"):
            done = _("{done} of {count} forwards").format(done=len(curve.items), count=len(curve.trials))
            st.progress(len(curve.items) / len(curve.trials), text=done)
            st.button(_("Stop"), key="curve_stop", on_click=curve.stop)
    elif len(curve.items) < len(curve.trials):
        st.button(_("Go on"), key="curve_on", on_click=curve.start)
    if curve.running:
        curve.pull()  # last: what is drawn does not look stale while it waits
        if ticked and not curve.running:
            st.rerun()


def curve_figure(curve: Curve, question: Question) -> object:
    """KL against W without sinks and with them; the place asked for is marked, and the level of int8."""
    every = sorted({trial.window for trial in curve.trials if trial.window is not None})
    names = (_("the last W"), _("first {count} + last W").format(count=curve.sinks))
    series: list[Line] = []
    for name, sinks in zip(names, (0, curve.sinks), strict=True):
        found = [one for one in curve.items if one.trial.sinks == sinks and one.trial.window is not None]
        places = [one.trial.window or 0 for one in found]
        series.append(Line(name, places, [one.kl for one in found], points=len(every) <= MOST_WINDOWS))
    rounded = curve.of(Trial(None, 0))
    marker = None if question.window is None else (float(question.window), f"W = {question.window}")
    return lines(
        series,
        x_title=_("W, the newest token included"),
        y_title=_("KL, nats"),
        x_range=(0.9, 1.1 * every[-1]),
        log_x=every[-1] > MOST_WINDOWS,
        marker=marker,
        level=None if rounded is None else (rounded, _("int8: {kl}").format(kl=error_size(rounded))),
        height=380,
    )


def _show_answer(opened: Opened, held: Sizes, question: Question) -> None:
    after = edited(opened, question.trial.edits)
    show_change(opened, after)
    full = bytes_read(opened.capture, held.layers)
    left = bytes_read(
        opened.capture, held.layers, window=question.window, sinks=question.sinks, int8=question.window is None
    )
    words = _("The cache: {before} → {after}, {share} %.").format(
        before=readable(full), after=readable(left), share=f"{100 * left / full:.0f}"
    )
    scale = _("With a scale of 4 bytes for each row of a head.") if question.window is None else ""
    kept = _("Tokens keep their positions; StreamingLLM numbers them anew within the cache.")
    st.html(f"<p class='atlas-caption'>{words} {scale or kept}</p>")
    offer_everywhere(after)


def _show_texts(opened: Opened, question: Question) -> None:
    request = opened.capture.request
    texts: Continuations = session.works().get("continuations", (request.text, request.continuation), Continuations)
    status = st.empty()
    found = [
        texts.get(opened, to_generate(request, edits), lambda: status.caption(_("Generating …")))
        for edits in ((), question.trial.edits)
    ]
    status.empty()
    ids = [[token.id for token in tokens] for tokens in found]
    differs = first_difference(ids[0], ids[1])
    words = equal_up_to(differs, len(ids[0]))
    ways = [
        Way(_("full cache"), "", [token.text for token in found[0]]),
        Way(_("changed cache"), name_of(question), [token.text for token in found[1]]),
    ]
    st.html(continuations(ways, differs_at=differs, heading=_("How the text goes on, greedily"), beside=words))


def name_of(question: Question) -> str:
    """In the reader's words."""
    if question.window is None:
        return _("all, in int8")
    if question.sinks == 0:
        return _("the last {window}").format(window=question.window)
    return _("the first {sinks} and the last {window}").format(sinks=question.sinks, window=question.window)


def to_generate(request: CaptureRequest, edits: tuple[Edit, ...]) -> GenerateRequest:
    """The greedy continuation of the same text, with these edits."""
    return GenerateRequest(
        request.text,
        max_new_tokens=CONTINUED,
        chat=request.chat,
        continuation=request.continuation,
        edits=edits,
    )


def what_if_tables(opened: Opened, curve: Curve) -> dict[str, pd.DataFrame]:
    """The curve's numbers; empty where a forward is still to come."""
    every = windows(len(opened.capture.tokens))
    columns = {
        _("the last W"): [curve.of(Trial(window, 0)) for window in every],
        _("first {count} + last W").format(count=curve.sinks): [
            curve.of(Trial(window, curve.sinks)) for window in every
        ],
    }
    name = _("KL in nats; int8: {kl}").format(kl=f"{curve.of(Trial(None, 0)) or 0:.3g}")
    return {name: pd.DataFrame(columns, index=[f"W = {window}" for window in every], dtype=float)}
