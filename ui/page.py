"""What every page shares: from the session's text to a checked capture, with every failure as one sentence."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

import numpy as np
import streamlit as st

from analysis.opening import opening_head
from analysis.token_metric import token_metric
from attention.metrics import Metric
from model_runner import Capture, Check, Runner, RunnerError
from model_runner.edits import Edit, check_cells
from model_runner.errors import Cancelled, NoSuchPlace
from ui import cached, edit_address, session
from ui.components import mount
from ui.i18n import _
from ui.wording import error_size, joined, number, plain, sentence
from viz.components.token_strip import token_strip

N_ = str  # marks a text for Babel without translating it here

STAGES = {
    "waiting": N_("Waiting for another model to load …"),
    "asking": N_("Asking the hub what the model consists of …"),
    "downloading": N_("Downloading the model …"),
    "loading": N_("Loading the weights …"),
    "preparing": N_("Preparing the model …"),
    "reading": N_("Reading the text …"),
}
ADDRESS_PARTS = {
    "layer": N_("layer"),
    "head": N_("head"),
    "query": N_("query"),
    "key": N_("key"),
    "window": N_("window"),
    "continuation": N_("generated tokens"),
    "forced": N_("forced tokens"),
}


@dataclass(frozen=True, eq=False)
class Opened:
    """A page's material. ``layer`` is one with softmax attention; ``query`` and ``key`` are token positions or None."""

    runner: Runner
    capture: Capture
    layer: int
    head: int
    query: int | None
    key: int | None


def open_page(*, plain_model: bool = False) -> Opened:
    """The session's text through its model, or, with the edits that it carries over every page, the changed one.

    ``plain_model``: the page compares by itself and begins with the model as it is. On a failure its sentence is shown
    and the page ends here.
    """
    try:
        runner = session.runner(session.model(), _say)
        capture = session.capture(runner, _say, () if plain_model else edit_address.read(session.carried()))
    except Cancelled:
        st.stop()
    except RunnerError as error:
        session.slots()["status"].empty()
        session.write_address()
        st.warning(plain(sentence(error)))
        st.stop()
    session.slots()["status"].empty()
    if plain_model and session.carried():
        words = _("This page begins with the model as it is, without the edits that other pages show.")
        st.html(f"<p class='atlas-caption'>{words}</p>")
    opened = _resolve(runner, capture)
    session.write_address()
    return opened


def edited(opened: Opened, edits: tuple[Edit, ...]) -> Capture:
    """The same text through the model changed by these edits too. Raises RunnerError."""
    try:
        return session.capture(opened.runner, _say, (*opened.capture.request.edits, *edits))
    finally:
        session.slots()["status"].empty()


def prompt_of(opened: Opened) -> Capture:
    """The text alone, without the generated tokens that the session looks at with it. Raises RunnerError."""
    if not opened.capture.request.continuation:
        return opened.capture
    try:
        return session.capture(opened.runner, _say, opened.capture.request.edits, continued=False)
    finally:
        session.slots()["status"].empty()


def _say(stage: str, done: int, total: int) -> None:
    size = f" {done / 1e6:,.0f} / {total / 1e6:,.0f} MB" if total else ""
    session.slots()["status"].progress(done / total if total else 0.0, text=_(STAGES[stage]) + size)


def _resolve(runner: Runner, capture: Capture) -> Opened:
    """The place of the address as far as it exists; what does not is said and replaced."""
    told = session.take_problems()
    problems = [
        _("“{value}” is not a number for {what}.").format(value=value, what=_(ADDRESS_PARTS[name]))
        for name, value in told
    ]
    no_head = any(name in ("layer", "head") for name, _value in told)
    place = session.place()
    layer, head = place.layer, place.head
    try:
        if layer is not None:
            record = capture.record(layer)
            layer %= capture.n_layers
            head = _index(_("head"), head or 0, record.q.shape[0])
    except RunnerError as error:
        problems.append(sentence(error))
        layer, no_head = None, True
    if layer is None or head is None:
        layer, head = opening_head(capture)
    positions: dict[str, int | None] = {}
    for name in ("query", "key"):
        positions[name] = None
        try:
            value = getattr(place, name)
            positions[name] = None if value is None else _index(_("position"), value, len(capture.tokens))
        except NoSuchPlace as error:
            problems.append(sentence(error))
            session.move(**{name: -1 if name == "query" else None})
            positions[name] = len(capture.tokens) - 1 if name == "query" else None
    try:
        check_cells(capture.request.edits, len(capture.tokens))
    except NoSuchPlace as error:  # of edits that are carried from another text
        problems.append(sentence(error))
    if no_head:
        problems.append(_("Showing L{layer}H{head} instead.").format(layer=layer, head=head))
        session.move(layer=layer, head=head)
    if problems:
        st.info(plain(joined(*problems)))
    return Opened(runner, capture, layer, head, positions["query"], positions["key"])


def _index(what: str, value: int, count: int) -> int:
    if not -count <= value < count:
        raise NoSuchPlace(what=what, value=value, count=count)
    return value % count


def show_strip(opened: Opened, metric: Metric | None = None) -> None:
    """The text as chips, coloured by the open head's metric; a click sets the query."""
    units = cached.chips(opened.capture)
    values = np.full(len(opened.capture.tokens), np.nan)
    if metric is not None:
        values = token_metric(opened.capture, opened.layer, opened.head, metric)
    of_unit = [_largest(values[unit.tokens]) for unit in units]
    full = 1.0 if metric is not None and metric.unit == "share" else max(_largest(values), 1e-9)
    payload = token_strip.payload(
        labels=[unit.label for unit in units],
        positions=[unit.start for unit in units],
        counts=[unit.stop - unit.start for unit in units],
        parts=[unit.parts for unit in units],
        special=[unit.special for unit in units],
        metric=(np.array(of_unit) / full).astype(np.float32),
        values=[
            "" if metric is None or np.isnan(v) else f"{_(metric.label)} {number(v, metric.unit)}" for v in of_unit
        ],
        selected=opened.query,
        looked_at=opened.key,
        texts=translated(token_strip.TEXTS),
    )
    mount(
        token_strip.SOURCE, payload, key="token_strip", on={"token": lambda token: session.move(query=token, key=None)}
    )


def _largest(values: np.ndarray) -> float:
    if len(values) == 1:
        return float(values[0])
    return float(np.nanmax(values)) if np.isfinite(values).any() else float("nan")


def show_badge(opened: Opened) -> Check:
    """The verified badge of the layer in view. If the check fails, the page says so and ends: nothing is drawn."""
    check = cached.check(opened.capture, opened.layer)
    words = _("verified · max diff {error} · {dtype}") if check.ok else _("not verified · difference {error} · {dtype}")
    text = words.format(error=error_size(check.max_abs_error), dtype=opened.runner.info.dtype)
    meaning = _(
        "Weights × values, recomputed here for every query of layer {layer}, against what the model's own attention "
        "returned in the same forward. Tolerance {tolerance}: rounding alone can reach it."
    ).format(layer=opened.layer, tolerance=error_size(check.tolerance))
    kind = "ok" if check.ok else "bad"
    session.slots()["badge"].html(f"<span class='atlas-badge {kind}' title=\"{meaning}\">{text}</span>")
    if not check.ok:
        reason = _(
            "Layer {layer} is not drawn: what was recomputed differs from the model's own output by {error}, more than "
            "rounding can explain ({tolerance})."
        )
        values = {"error": error_size(check.max_abs_error), "tolerance": error_size(check.tolerance)}
        st.error(plain(reason.format(layer=opened.layer, **values)))
        st.stop()
    return check


def show_reading(sentences: list[str], *, formula: str, source: str, attempt: str) -> None:
    """The explanation of the page, closed by default, and sent only once it is open."""
    menu = session.slots()["read"].popover(_("Read this picture"), type="tertiary", on_change="rerun", key="read")
    if not menu.open:
        return
    with menu:
        st.markdown("\n\n".join(map(plain, sentences)))
        st.code(formula, language=None)
        st.caption(plain(_("Source: {source}").format(source=source)))
        invitation = _("Try this")
        st.markdown(f"**{invitation}** {plain(attempt)}")


def guarded(draw: Callable[[], None]) -> None:
    """Draw a part of a page; a failure the user can mend is its sentence, and the other parts stay."""
    with suppress(Cancelled):
        try:
            draw()
        except RunnerError as error:
            st.warning(plain(sentence(error)))


def translated(texts: dict[str, str]) -> dict[str, str]:
    """A component's words in the user's language."""
    return {name: _(text) for name, text in texts.items()}
