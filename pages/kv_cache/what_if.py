"""The what-if view of the page KV cache: evicting or quantizing on the real model, for every window."""

from __future__ import annotations

from dataclasses import replace
from html import escape
from weakref import ref

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from analysis.kv_bytes import bytes_read
from analysis.kv_drop import MOST_WINDOWS, CacheTrial, edits_of, first_difference, windows
from analysis.number_text import error_size, significant
from jobs.kv_curve import DropCurve
from model_runner import GenerateRequest
from model_runner.edit_words import described
from model_runner.memory import readable
from model_runner.python_lines import imports_of
from pages.kv_cache.sizes import Sizes
from pages.kv_cache.state import Drop, KvCacheState, state
from ui.shared.continuations import Continuations
from ui.shared.export_bundle import ExportBundle
from ui.shared.finding import show_finding
from ui.shared.what_if import show_change
from ui.shell.components import show_heading, show_html
from ui.shell.page import PageContext, edited, show_errors
from ui.shell.progressive import progressive, show_chart, show_progress
from ui.state import session
from ui.state.controls import choose, pick, slider
from ui.state.edit_list import show_everywhere
from ui.wording.equal_words import equal_up_to
from ui.wording.i18n import _
from ui.wording.sentences import number
from viz.chart import Line, Lines
from viz.chart_svg import charts_svg
from viz.continuations import TextEnding, continuations
from viz.curves import standalone

CONTINUED = 12  # tokens of the greedy continuations


def ask(opened: PageContext) -> CacheTrial:
    """Show the controls in a row; those without effect are left out."""
    last, held = len(opened.capture.tokens), state()
    kinds: dict[Drop, str] = {"sinks": _("first S + last W"), "last": _("the last W"), "int8": _("all, in int8")}
    choose(KvCacheState, "drop", held.drop, kinds)
    if held.drop == "int8":
        words = _("Every token is kept: W and S change nothing.")
        st.html(f"<p class='atlas-caption'>{words}</p>", width="content")
    elif last > 1:
        slider(KvCacheState, "keep", held.window(last), (1, last), _("W, tokens"), width=260)
    if held.drop == "sinks":
        counts = {count: _("S = {count}").format(count=count) for count in ("1", "2", "4", "8")}
        pick(KvCacheState, "sinks", held.sinks, counts, width=100)
    return held.trial(last)


def show_what_if(opened: PageContext, held: Sizes, trial: CacheTrial) -> ExportBundle:
    """Show the curve with the trial marked, the next token beside it, and the continuation below."""
    sinks = int(state().sinks)
    key = (ref(opened.runner), opened.capture.request, sinks)
    curve = session.jobs().get("curve", key, lambda name: DropCurve(opened.runner, opened.capture, sinks, name))
    top = st.container()
    left, right = st.columns([0.58, 0.42], gap="medium")
    for _moment in range(2):  # two rounds suffice for a short text, so that nothing is drawn twice
        curve.pull()
    with left:
        progressive(curve, lambda: _show_curve(curve, trial))
    with right:
        show_errors(lambda: _show_answer(opened, held, trial, top))
    show_errors(lambda: _show_texts(opened, trial))
    return ExportBundle(
        name="kv-what-if",
        title=_("What if it forgets"),
        what=f"KL(next token with the full cache ‖ with {described(edits_of(opened.capture, trial))}), bits",
        tables=lambda: what_if_tables(opened, curve),
        page=lambda title, words, lang: standalone([curve_chart(curve, trial)], title=title, caption=words, lang=lang),
        picture=lambda title, words: charts_svg([curve_chart(curve, trial)], title=title, caption=words),
        code=what_if_code(opened, trial),
    )


def what_if_code(opened: PageContext, trial: CacheTrial) -> str:
    """Code for the trial's KL divergence and the continuation."""
    edits = edits_of(opened.capture, trial)
    written = ', target="", continuation=tuple(token.id for token in capture.tokens[1:])'
    return (
        "\nfrom dataclasses import replace\n\nfrom attention_atlas.attention import distributions\n"
        f"{imports_of(edits)}\n"
        f"edits = {edits!r}\n"
        f"changed = runner.capture(replace(capture.request, edits=edits{written * bool(opened.capture.attentions)}))\n"
        "before, after = (one.logits(-1).double().log_softmax(-1) for one in (capture, changed))\n"
        "kl = distributions.kl(before, after)  # bits\n"
        f"request = capture.request.going_on(max_new_tokens={CONTINUED}, edits=edits, attention=None)\n"
        "continuation = [step.token.text for step in runner.generate(request)]"
    )


def _show_curve(curve: DropCurve, trial: CacheTrial) -> None:
    chart, note = curve_chart(curve, trial), _("KL from the full cache, in bits")
    tried = (len(curve.trials) - 1) // 2
    if tried < curve.longest:
        note += " · " + _("{count} of {total} windows").format(count=tried, total=curve.longest)
    show_heading(chart.heading, note)
    show_chart(chart, key="kv_curve", alt=chart.heading, still=not curve.running)
    if curve.running or len(curve.items) < len(curve.trials):
        show_progress(curve, len(curve.trials), _("{done} of {total} forwards"), key="curve")


def curve_chart(curve: DropCurve, trial: CacheTrial) -> Lines:
    """KL divergence against W with and without sinks, with the trial marked, and the level of int8."""
    every = sorted({trial.window for trial in curve.trials if trial.window is not None})
    names = (_("the last W"), _("first {count} + last W").format(count=curve.sinks))
    series: list[Line] = []
    for name, sinks in zip(names, (0, curve.sinks), strict=True):
        found = [one for one in curve.items if one.trial.sinks == sinks and one.trial.window is not None]
        places = [one.trial.window or 0 for one in found]
        series.append(Line(name, places, [one.kl for one in found], points=len(every) <= MOST_WINDOWS))
    rounded = curve.of(CacheTrial(None, 0))
    marker = None if trial.window is None else (float(trial.window), f"W = {trial.window}")
    return Lines(
        series=series,
        x_title=_("W, the newest token included"),
        y_title=_("KL, bits"),
        x_range=(0.9, float(every[-1])),
        log_x=every[-1] > MOST_WINDOWS,
        marker=marker,
        level=None if rounded is None else (rounded, _("int8: {kl}").format(kl=error_size(rounded))),
        height=380,
        heading=_("How far the prediction shifts"),
        note=_("KL from the full cache, in bits"),
    )


def _show_answer(opened: PageContext, held: Sizes, trial: CacheTrial, top: DeltaGenerator) -> None:
    after = edited(opened, edits_of(opened.capture, trial))
    change = show_change(opened, after)
    rounded = trial.window is None
    full = bytes_read(opened.capture, held.layers)
    left = bytes_read(opened.capture, held.layers, window=trial.window, sinks=trial.sinks, int8=rounded)
    with top:
        said = _("With {share} of the cache, the prediction shifts by {kl} bits")
        said = said.format(share=number(left / full, "share"), kl=significant(change.kl, 3))
        show_finding(
            escape(said), escape(f"{cache_trial_name(trial)} · {readable(full)} → {readable(left)}"), of_several=True
        )
    scale = _("With a scale of 4 bytes for each row of a head.") if rounded else ""
    kept = _("Tokens keep their positions; StreamingLLM renumbers them within the cache.")
    st.html(f"<p class='atlas-caption'>{scale or kept}</p>")
    show_everywhere(after.request.edits)


def _show_texts(opened: PageContext, trial: CacheTrial) -> None:
    key = (ref(opened.runner), opened.capture.request)  # another model has another continuation
    texts = session.jobs().get("continuations", key, Continuations)
    status = st.empty()
    changed = to_generate(opened, trial)
    found = [
        texts.get(opened.runner, request, lambda: status.caption(_("Generating …")))
        for request in (replace(changed, edits=()), changed)
    ]
    status.empty()
    ids = [[token.id for token in tokens] for tokens in found]
    differs = first_difference(ids[0], ids[1])
    words = equal_up_to(differs, len(ids[0]), _)
    ways = [
        TextEnding(_("full cache"), "", [token.text for token in found[0]]),
        TextEnding(_("changed cache"), cache_trial_name(trial), [token.text for token in found[1]]),
    ]
    heading = _("Greedy continuation")
    show_html(continuations(ways, differs_at=differs, heading=heading, beside=words), key="kv_texts")


def cache_trial_name(trial: CacheTrial) -> str:
    """The trial's name for the reader."""
    if trial.window is None:
        return _("all, in int8")
    if trial.sinks == 0:
        return _("the last {window}").format(window=trial.window)
    return _("the first {sinks} and the last {window}").format(sinks=trial.sinks, window=trial.window)


def to_generate(opened: PageContext, trial: CacheTrial) -> GenerateRequest:
    """A request for the greedy continuation with this cache."""
    edits = edits_of(opened.capture, trial)
    return opened.capture.request.going_on(max_new_tokens=CONTINUED, edits=edits, attention=None)


def what_if_tables(opened: PageContext, curve: DropCurve) -> dict[str, pd.DataFrame]:
    """The curve's numbers; empty where a forward is still pending."""
    every = windows(len(opened.capture.tokens))
    columns = {
        _("the last W"): [curve.of(CacheTrial(window, 0)) for window in every],
        _("first {count} + last W").format(count=curve.sinks): [
            curve.of(CacheTrial(window, curve.sinks)) for window in every
        ],
    }
    name = _("KL in bits; int8: {kl}").format(kl=significant(curve.of(CacheTrial(None, 0)) or 0, 3))
    return {name: pd.DataFrame(columns, index=[f"W = {window}" for window in every], dtype=float)}
